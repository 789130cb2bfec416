package fsx

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"hark/modules/internal/hostfs"
)

// SELinux reports whether the kernel enforces or checks SELinux contexts.
func SELinux() bool {
	_, err := os.Stat("/sys/fs/selinux/enforce")
	return err == nil
}

// ContextOf returns the context of a path: user, role, type and, where the policy has levels, level. Nil if it has
// none.
func ContextOf(path string) []string {
	buf := make([]byte, 1024)
	n := 0
	err := hostfs.Held(path, false, func(held string) (err error) {
		n, err = unix.Lgetxattr(held, "security.selinux", buf)
		return err
	})
	if err != nil {
		return nil
	}
	return strings.SplitN(strings.TrimRight(string(buf[:n]), "\x00"), ":", 4)
}

// DefaultContext returns what the policy says a new file at path gets, nil if it says nothing.
func DefaultContext(path string) []string {
	if hostfs.Confined() {
		return nil // what is confined starts no programs
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // it only reads the policy
	defer cancel()
	out, err := exec.CommandContext(ctx, "matchpathcon", "-n", "--", path).Output()
	if err != nil {
		return nil
	}
	return strings.SplitN(strings.TrimSpace(string(out)), ":", 4)
}

func (w Attrs) applyContext(check bool, diff *Delta) (bool, error) {
	if !SELinux() {
		return false, nil
	}
	if w.absent(check) {
		return true, nil
	}
	now := ContextOf(w.Path)
	if now == nil {
		return false, nil
	}
	wanted, byPolicy := append([]string{}, now...), []string(nil)
	for i := range wanted {
		part := w.Context[i]
		if part == nil {
			continue
		}
		wanted[i] = *part
		if *part == "_default" {
			if byPolicy == nil {
				byPolicy = DefaultContext(w.Path)
			}
			wanted[i] = now[i]
			if i < len(byPolicy) {
				wanted[i] = byPolicy[i]
			}
		}
	}
	if strings.Join(now, ":") == strings.Join(wanted, ":") {
		return false, nil
	}
	diff.Note("secontext", texts(now), texts(wanted))
	if check {
		return true, nil
	}
	if err := setContext(w.Path, wanted); err != nil {
		fail := Fail(w.Path, "invalid selinux context: %s", err)
		fail.Data.Put("new_context", texts(wanted))
		fail.Data.Put("cur_context", texts(now))
		return false, fail
	}
	return true, nil
}

func setContext(path string, context []string) error {
	return hostfs.Held(path, false, func(held string) error {
		return unix.Lsetxattr(held, "security.selinux", []byte(strings.Join(context, ":")+"\x00"), 0)
	})
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
