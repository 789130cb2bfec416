// Package nss knows users, groups and hosts as the machine's name service switch does: those of its files, and those
// of directories, systemd and the network that programs learn of from libc. Nothing else in this project looks them
// up.
//
// Each answer is made again from what is there: /etc/passwd, /etc/group and /etc/hosts are read, systemd's userdb and
// resolved are asked over varlink where the switch names them, and for all else getent is run, which has libc's own
// answer. Only names of ids are remembered, until Forget.
package nss

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// User is an account. Numbers are int, as the system calls have them.
type User struct {
	Name               string
	UID, GID           int
	Gecos, Home, Shell string
}

// Group is a group of users. Members are those whose primary group is another.
type Group struct {
	Name    string
	GID     int
	Members []string
}

// ErrUnknown is that of a name or number that the machine does not know.
var ErrUnknown = errors.New("the host does not know it")

// patience is how long a directory may take for one answer.
const patience = 10 * time.Second

// silentError is a directory that did not answer.
type silentError struct{ what string }

func (e *silentError) Error() string {
	return fmt.Sprintf("cannot look up %s: the host's directory did not answer within %d seconds", e.what,
		int(patience/time.Second))
}

// Timeout marks the error as that of somebody who waited in vain.
func (*silentError) Timeout() bool { return true }

// Current returns the user of this process. A user of no database is an error.
func Current() (*User, error) { return UserOf(os.Geteuid()) }

// Home returns the directory that ~NAME stands for; "" is this process's user. It is "" for a user that is not known.
func Home(name string) string {
	var u *User
	var err error
	if name == "" {
		u, err = UserOf(os.Getuid())
	} else {
		u, err = UserNamed(name)
	}
	if err != nil {
		return ""
	}
	return u.Home
}

// UserNamedOrNumbered returns the user of a name, or of a number that is no name.
func UserNamedOrNumbered(text string) (*User, error) {
	u, err := UserNamed(text)
	if uid, numErr := strconv.Atoi(text); errors.Is(err, ErrUnknown) && numErr == nil {
		return UserOf(uid)
	}
	return u, err
}

// named reports whether a text can be a name: what getent would take for something else is none.
func named(text string) bool {
	return text != "" && text[0] != '-' && !strings.ContainsAny(text, ":\n\x00")
}

// number reads a number of a record.
func number(text string) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 32)
	return int(n), err == nil
}

// userOf reads a line of passwd.
func userOf(line string) (*User, bool) {
	f := strings.Split(line, ":")
	if len(f) < 7 || !named(f[0]) || f[0][0] == '+' {
		return nil, false
	}
	uid, ok1 := number(f[2])
	gid, ok2 := number(f[3])
	return &User{Name: f[0], UID: uid, GID: gid, Gecos: f[4], Home: f[5], Shell: f[6]}, ok1 && ok2
}

// groupOf reads a line of group.
func groupOf(line string) (*Group, bool) {
	f := strings.Split(line, ":")
	if len(f) < 4 || !named(f[0]) || f[0][0] == '+' {
		return nil, false
	}
	gid, ok := number(f[2])
	g := &Group{Name: f[0], GID: gid}
	if f[3] != "" {
		g.Members = strings.Split(f[3], ",")
	}
	return g, ok
}
