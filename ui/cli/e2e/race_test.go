//go:build race

package e2e

// The program is built as its tests are.
func init() { buildFlags = append(buildFlags, "-race") }
