package store

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"reclaim/engine/record"
)

// lockedError says who kept the file locked, as far as this machine can tell.
func lockedError(verb, path string, why error) error {
	who := "another process"
	if pid, ok := locker(path); ok {
		who = fmt.Sprintf("process %d (%s)", pid, commandOf(pid))
	}
	if why != nil {
		return fmt.Errorf("%s: %w: %s: %w (by %s); try again, or stop that process", verb, record.ErrLocked, path, why, who)
	}
	return fmt.Errorf("%s: %w: %s is kept by %s; try again, or stop that process", verb, record.ErrLocked, path, who)
}

// locker finds the process that holds the exclusive lock in /proc/locks, whose lines read
// "1: FLOCK  ADVISORY  WRITE 4711 fd:01:123456 0 EOF" (major and minor number in hexadecimal, inode in decimal).
func locker(path string) (pid int, ok bool) {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return 0, false
	}
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0, false
	}
	dev := uint64(st.Dev)
	file := fmt.Sprintf("%02x:%02x:%d", unix.Major(dev), unix.Minor(dev), st.Ino)
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) >= 6 && f[1] == "FLOCK" && f[3] == "WRITE" && f[5] == file {
			pid, err = strconv.Atoi(f[4])
			return pid, err == nil && pid > 0
		}
	}
	return 0, false
}

// commandOf returns the short name of a process. Its arguments are nobody's business: they can hold parameters.
func commandOf(pid int) string {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return "unknown"
	}
	return strconv.Quote(strings.TrimSpace(string(name)))
}
