package fsx

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"hark/modules/py/value"
)

// PermBits are the bits that a mode can set.
const PermBits = 0o7777

// Current is what symbolic modes are relative to.
type Current struct {
	Mode uint32 // permission bits
	Dir  bool
	// Umask is asked where a clause names no users; nil takes nothing away.
	Umask func() uint32
}

// ParseMode reads a mode argument: a number as it is, text as octal or symbolic. The error's text is the
// detail that Ansible shows.
func ParseMode(mode value.Value, now Current) (uint32, error) {
	if n, ok := absolute(mode); ok {
		return n, nil
	}
	if text, ok := value.Text(mode); ok {
		return symbolic(text, now)
	}
	return 0, fmt.Errorf("a mode cannot be of type %s", mode.Type())
}

// absolute returns a mode that does not depend on the one before: a number, or octal text.
func absolute(mode value.Value) (uint32, bool) {
	if m, ok := mode.(value.Int); ok {
		return uint32(m), true
	}
	text, ok := value.Text(mode)
	octal := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(text), "0o"), "0O")
	n, err := strconv.ParseUint(strings.ReplaceAll(octal, "_", ""), 8, 32)
	return uint32(n), ok && err == nil
}

// ModeText returns a mode as results show it: 0644, 01777.
func ModeText(mode uint32) string { return fmt.Sprintf("0%03o", mode&PermBits) }

func symbolic(text string, now Current) (uint32, error) {
	mode := now.Mode & PermBits
	for _, clause := range strings.Split(text, ",") {
		at := strings.IndexAny(clause, "+=-")
		if at < 0 {
			if clause != "a" && strings.Trim(clause, "ugo") != "" {
				return 0, badClause(clause)
			}
			continue // users without permissions: Ansible lets them pass
		}
		users, rest := clause[:at], clause[at:]
		umask := uint32(0)
		if users == "" && now.Umask != nil {
			umask = now.Umask()
		}
		if users == "" || users == "a" {
			users = "ugo"
		}
		if strings.Trim(users, "ugo") != "" {
			return 0, badClause(clause)
		}
		for rest != "" {
			op := rest[0]
			end := strings.IndexAny(rest[1:], "+=-") + 1
			if end == 0 {
				end = len(rest)
			}
			perms := rest[1:end]
			rest = rest[end:]
			if strings.Trim(perms, "rwxXstugo") != "" {
				return 0, badClause(clause)
			}
			for _, user := range users {
				mode = apply(mode, op, user, bits(user, perms, umask, now))
			}
		}
	}
	return mode, nil
}

func badClause(clause string) error {
	return fmt.Errorf("bad symbolic permission for mode: %s", clause)
}

func apply(mode uint32, op byte, user rune, set uint32) uint32 {
	switch op {
	case '+':
		return mode | set
	case '-':
		return mode &^ set
	}
	mask := map[rune]uint32{'u': 0o4700, 'g': 0o2070, 'o': 0o1007}[user]
	return mode&^mask | set
}

// bits returns the mode bits that the letters mean for one of u, g and o, without those of the umask.
func bits(user rune, perms string, umask uint32, now Current) uint32 {
	shift := map[rune]uint{'u': 6, 'g': 3, 'o': 0}[user]
	var out uint32
	for _, p := range perms {
		switch p {
		case 'r', 'w', 'x':
			out |= map[rune]uint32{'r': 4, 'w': 2, 'x': 1}[p] << shift &^ umask
		case 'X':
			if now.Dir || now.Mode&0o111 != 0 {
				out |= 1 << shift
			}
		case 's':
			out |= map[rune]uint32{'u': 0o4000, 'g': 0o2000}[user]
		case 't':
			if user == 'o' {
				out |= 0o1000
			}
		case 'u':
			out |= now.Mode >> 6 & 7 << shift
		case 'g':
			out |= now.Mode >> 3 & 7 << shift
		case 'o':
			out |= now.Mode & 7 << shift
		}
	}
	return out
}

// Umask returns the umask of this process, read without changing it.
func Umask() uint32 {
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		if _, rest, ok := strings.Cut(string(status), "\nUmask:"); ok {
			line, _, _ := strings.Cut(rest, "\n")
			if n, err := strconv.ParseUint(strings.TrimSpace(line), 8, 32); err == nil {
				return uint32(n)
			}
		}
	}
	return 0o022
}
