package builtin

import (
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/accounts"
	"hark/modules/internal/fsx"
)

func itoa(n int) string { return strconv.Itoa(n) }

// create makes the user with useradd or luseradd.
func (u *account) create() (*accounts.Ran, error) {
	a := u.args
	argv := append([]string{kin(u.local, "useradd")}, u.uidOptions()...)
	if a.SEUser != nil {
		argv = append(argv, "-Z", *a.SEUser)
	}
	primary, err := u.primaryOptions()
	if err != nil {
		return nil, err
	}
	argv = append(argv, primary...)
	groups, err := u.wantedGroups()
	if err != nil {
		return nil, err
	}
	if len(groups) > 0 && !u.local {
		argv = append(argv, "-G", strings.Join(groups, ","))
	}
	if a.Comment != nil {
		argv = append(argv, "-c", *a.Comment)
	}
	needsParents := false
	if a.Home != nil {
		needsParents = a.CreateHome && !fsx.IsDir(filepath.Dir(*a.Home))
		argv = append(argv, "-d", *a.Home)
	}
	if a.Shell != nil {
		argv = append(argv, "-s", *a.Shell)
	}
	if a.Expires != nil && !u.local {
		argv = append(argv, "-e", expiryDate(*a.Expires))
	}
	if a.Inactive != nil {
		argv = append(argv, "-f", itoa(*a.Inactive))
	}
	if a.Password != nil {
		argv = append(argv, "-p", u.passwordText())
	}
	argv = append(argv, u.homeOptions()...)
	if a.System {
		argv = append(argv, "-r")
	}
	argv = append(argv, idRange("UID", a.UIDMin, a.UIDMax)...)
	if needsParents && !u.Env.Check {
		if err := os.MkdirAll(filepath.Dir(*a.Home), 0o755); err != nil {
			return nil, err
		}
	}
	commands := [][]string{append(argv, a.Name)}
	if u.local {
		commands = append(commands, u.localExtras(groups, nil)...)
		if a.Expires != nil {
			commands = append(commands, []string{"lchage", "-E", localExpiry(*a.Expires), a.Name})
		}
	}
	return u.RunAll(commands)
}

func (u *account) uidOptions() []string {
	if u.args.UID == nil {
		return nil
	}
	options := []string{"-u", itoa(*u.args.UID)}
	if u.args.NonUnique {
		options = append(options, "-o")
	}
	return options
}

// primaryOptions name the primary group. A group of the user's own name is used without being asked for, since
// useradd would refuse to make it.
func (u *account) primaryOptions() ([]string, error) {
	if u.args.Group != nil {
		if err := u.mustExist(*u.args.Group); err != nil {
			return nil, err
		}
		return []string{"-g", *u.args.Group}, nil
	}
	g, err := u.Group(u.args.Name)
	if err != nil || g == nil {
		return nil, err
	}
	if u.local {
		return []string{"-n"}, nil
	}
	return []string{"-N"}, nil
}

func (u *account) homeOptions() []string {
	a := u.args
	if !a.CreateHome {
		return []string{"-M"}
	}
	var options []string
	if !u.local {
		options = append(options, "-m")
	}
	if a.Skeleton != nil {
		options = append(options, "-k", *a.Skeleton)
	}
	if a.Umask != nil {
		options = append(options, "-K", "UMASK="+*a.Umask)
	}
	return options
}

// passwordText returns the hash for the file, locked by a mark if that is wanted.
func (u *account) passwordText() string {
	if u.args.Lock != nil && *u.args.Lock {
		return "!" + *u.args.Password
	}
	return *u.args.Password
}

func expiryDate(seconds float64) string {
	if seconds < 0 {
		return ""
	}
	return time.Unix(int64(seconds), 0).UTC().Format("2006-01-02")
}

func localExpiry(seconds float64) string {
	if seconds < 0 {
		return "-1"
	}
	return itoa(days(seconds))
}

func (u *account) mustExist(group string) error {
	g, err := u.Group(group)
	if err == nil && g == nil {
		return &modules.Ended{Result: modules.Result{Failed: true, Msg: "Group " + group + " does not exist"}}
	}
	return err
}

// wantedGroups returns the groups asked for, each checked, sorted.
func (u *account) wantedGroups() ([]string, error) {
	if u.args.Groups == nil {
		return nil, nil
	}
	var names []string
	for _, name := range *u.args.Groups {
		if name = strings.TrimSpace(name); name == "" || slices.Contains(names, name) {
			continue
		}
		if err := u.mustExist(name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	sort.Strings(names)
	return names, nil
}

// modify brings an existing user to what was asked for; nil if nothing differs.
func (u *account) modify() (*accounts.Ran, error) {
	a := u.args
	is, err := u.User(a.Name)
	if err != nil || is == nil {
		return nil, err
	}
	s := accounts.ShadowOf(a.Name)
	if s != nil && len(is.Password) <= 1 {
		is.Password = s.Password
	}
	var options []string
	if a.UID != nil && is.UID != *a.UID {
		options = append(options, u.uidOptions()...)
	}
	if a.Group != nil {
		if err := u.mustExist(*a.Group); err != nil {
			return nil, err
		}
		if g, err := u.Group(*a.Group); err == nil && g != nil && g.GID != is.GID {
			options = append(options, "-g", itoa(g.GID))
		}
	}
	add, del, more, err := u.groupChanges()
	if err != nil {
		return nil, err
	}
	options = append(options, more...)
	options = append(options, u.fieldChanges(is, s)...)
	options = append(options, u.passwordChanges(is.Password)...)
	var commands [][]string
	if len(options) > 0 {
		commands = append(commands, append(append([]string{kin(u.local, "usermod")}, options...), a.Name))
	}
	if u.local {
		if s != nil && a.Expires != nil && expiryDiffers(*a.Expires, s.Expires) {
			commands = append(commands, []string{"lchage", "-E", localExpiry(*a.Expires), a.Name})
		}
		commands = append(commands, u.localExtras(add, del)...)
	}
	return u.RunAll(commands)
}

// groupChanges returns the groups to join and to leave, and the options of usermod that do it.
func (u *account) groupChanges() (add, del, options []string, err error) {
	if u.args.Groups == nil {
		return nil, nil, nil, nil
	}
	want, err := u.wantedGroups()
	if err != nil {
		return nil, nil, nil, err
	}
	is, err := u.MemberOf(u.args.Name)
	if err != nil {
		return nil, nil, nil, err
	}
	add = without(want, is)
	if !u.args.Append {
		del = without(is, want)
	}
	if len(add) == 0 && len(del) == 0 || u.local {
		return add, del, nil, nil
	}
	if u.args.Append {
		options = append(options, "-a")
	}
	return add, del, append(options, "-G", strings.Join(want, ",")), nil
}

func without(names, others []string) []string {
	var out []string
	for _, name := range names {
		if !slices.Contains(others, name) {
			out = append(out, name)
		}
	}
	return out
}

func (u *account) fieldChanges(is *accounts.Passwd, s *accounts.Shadow) []string {
	a := u.args
	var options []string
	if a.Comment != nil && is.Gecos != *a.Comment {
		options = append(options, "-c", *a.Comment)
	}
	if a.Home != nil && is.Home != *a.Home {
		options = append(options, "-d", *a.Home)
		if a.MoveHome {
			options = append(options, "-m")
		}
	}
	if a.Shell != nil && is.Shell != *a.Shell {
		options = append(options, "-s", *a.Shell)
	}
	if a.Expires != nil && s != nil && !u.local && expiryDiffers(*a.Expires, s.Expires) {
		options = append(options, "-e", expiryDate(*a.Expires))
	}
	if a.Inactive != nil && (s == nil || s.Inactive != *a.Inactive) {
		options = append(options, "-f", itoa(*a.Inactive))
	}
	return options
}

func expiryDiffers(want float64, is int) bool {
	if want < 0 {
		return is >= 0
	}
	return is != days(want)
}

// passwordChanges set the hash, which also locks or unlocks, or only lock or unlock.
func (u *account) passwordChanges(is string) []string {
	a := u.args
	locked := strings.HasPrefix(is, "!")
	if a.UpdatePass == "always" && a.Password != nil && strings.TrimLeft(is, "!") != strings.TrimLeft(*a.Password, "!") {
		return []string{"-p", u.passwordText()}
	}
	switch {
	case a.Lock != nil && *a.Lock && !locked:
		return []string{"-L"}
	case a.Lock != nil && !*a.Lock && locked:
		return []string{"-U"}
	}
	return nil
}

// localExtras returns the commands of libuser that change memberships.
func (u *account) localExtras(add, del []string) [][]string {
	var commands [][]string
	for _, g := range add {
		commands = append(commands, []string{"lgroupmod", "-M", u.args.Name, g})
	}
	for _, g := range del {
		commands = append(commands, []string{"lgroupmod", "-m", u.args.Name, g})
	}
	return commands
}
