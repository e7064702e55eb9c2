package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"reclaim/engine/record"
	"reclaim/engine/resource"
)

// Owner describes this process, so that another can tell later whether it still runs.
func Owner() record.Owner {
	o := record.Owner{PID: os.Getpid(), BootID: bootID()}
	o.Host, _ = os.Hostname()
	if u, err := user.Current(); err == nil {
		o.User = u.Username
	}
	o.StartTick, _ = startTick(o.PID)
	return o
}

// Alive reports whether the process that o describes still runs. Yes and No are certain: the same boot of the same
// host, and the process of that number did or did not start at the same moment. All else is Perhaps.
func Alive(o record.Owner) resource.Tri {
	host, err := os.Hostname()
	boot := bootID()
	if err != nil || o.Host != host || o.BootID == "" || boot == "" || o.StartTick == "" {
		return resource.Perhaps
	}
	if o.BootID != boot {
		return resource.No // the machine was started again since
	}
	tick, err := startTick(o.PID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return resource.No
	case err != nil:
		return resource.Perhaps
	case tick != o.StartTick:
		return resource.No // another process has the number now
	default:
		return resource.Yes
	}
}

func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// startTick returns field 22 of /proc/<pid>/stat: when the process started, in clock ticks since boot. A process that
// has ended and waits for its parent counts as gone.
func startTick(pid int) (string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// Field 2 is the command in parentheses and can hold spaces and parentheses itself; field 3 follows the last.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 20 {
		return "", errors.New("read process: /proc has another form here")
	}
	if fields[0] == "Z" || fields[0] == "X" {
		return "", fs.ErrNotExist
	}
	return fields[19], nil
}

// MachineID returns a stable ID of this machine, 16 hexadecimal digits: a hash of the system's own machine ID, which
// is not to be shown; where there is none, a random one kept in the user's config folder; else a hash of the host's
// name.
func MachineID() string {
	if b, err := os.ReadFile("/etc/machine-id"); err == nil && len(bytes.TrimSpace(b)) >= 32 {
		return hashID("machine-id", string(bytes.TrimSpace(b)))
	}
	if config, err := os.UserConfigDir(); err == nil {
		if id, err := keptID(filepath.Join(config, "reclaim", "machine-id")); err == nil {
			return id
		}
	}
	host, _ := os.Hostname()
	return hashID("host", host)
}

// keptID returns the ID in a file, which it makes when it is missing.
func keptID(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	if _, err := place(path, func(tmp string) error { return writeSynced(tmp, []byte(randomID()+"\n")) }); err != nil {
		return "", err
	}
	b, err := os.ReadFile(path)
	if err != nil || len(bytes.TrimSpace(b)) == 0 {
		return "", errors.Join(err, errors.New("read machine ID: the file is empty"))
	}
	return hashID("kept", string(bytes.TrimSpace(b))), nil
}

func hashID(kind, text string) string {
	sum := sha256.Sum256([]byte("reclaim " + kind + "\x00" + text))
	return hex.EncodeToString(sum[:8])
}
