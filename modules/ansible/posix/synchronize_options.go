package posix

import (
	"strings"

	"hark/modules/internal/host/tool"
	"hark/modules/py/shlex"
	"hark/modules/treesync"
)

// options returns what the arguments, and rsync's options among them, mean to a transfer between the controller and
// an agent.
func (a *synchronizeArgs) options() (treesync.Options, error) {
	o := treesync.Options{
		Checksum: a.Checksum, Existing: a.ExistingOnly, Delete: a.Delete, Dirs: a.Dirs, CopyLinks: a.CopyLinks,
		PerDir: a.DelayUpdates, Sign: "<",
	}
	if a.Mode == "pull" {
		o.Sign = ">"
	}
	for _, flag := range []struct {
		arg *bool
		is  *bool
	}{{a.Recursive, &o.Recursive}, {a.Links, &o.Links}, {a.Perms, &o.Perms}, {a.Times, &o.Times}, {a.Owner, &o.Owner},
		{a.Group, &o.Group}} {
		*flag.is = a.Archive
		if flag.arg != nil {
			*flag.is = *flag.arg
		}
	}
	return o, a.rsyncOptions(&o)
}

// rsyncOptions takes in rsync_opts. An option that cannot be kept is refused by its name.
func (a *synchronizeArgs) rsyncOptions(o *treesync.Options) error {
	words, err := shlex.Split(strings.Join(a.RsyncOpts, " "))
	if err != nil {
		return err
	}
	for len(words) > 0 {
		name, value, given := strings.Cut(words[0], "=")
		words = words[1:]
		if flag := rsyncFlag(o, name); flag != nil && !given {
			flag()
			continue
		}
		take := rsyncSetting(o, name)
		if take == nil {
			return tool.Fail(nil, "rsync's option %s cannot be had between the controller and an agent", name)
		}
		if !given {
			if len(words) == 0 {
				return tool.Fail(nil, "rsync's option %s needs a value", name)
			}
			value, words = words[0], words[1:]
		}
		if err := take(value); err != nil {
			return tool.Fail(nil, "%s", err)
		}
	}
	return nil
}

// rsyncFlag returns what an option without a value does; nil if it is none that is known.
func rsyncFlag(o *treesync.Options, name string) func() {
	set := func(is *bool, to bool) func() { return func() { *is = to } }
	switch name {
	case "--delete", "--delete-after", "--delete-before", "--delete-during", "--del", "--delete-delay":
		return set(&o.Delete, true)
	case "--delete-excluded":
		return func() { o.Delete, o.DeleteExcluded = true, true }
	case "--recursive", "-r":
		return set(&o.Recursive, true)
	case "--no-recursive", "--no-r":
		return set(&o.Recursive, false)
	case "--dirs", "-d":
		return set(&o.Dirs, true)
	case "--links", "-l":
		return set(&o.Links, true)
	case "--no-links", "--no-l":
		return set(&o.Links, false)
	case "--copy-links", "-L":
		return set(&o.CopyLinks, true)
	case "--perms", "-p":
		return set(&o.Perms, true)
	case "--no-perms", "--no-p":
		return set(&o.Perms, false)
	case "--times", "-t":
		return set(&o.Times, true)
	case "--no-times", "--no-t":
		return set(&o.Times, false)
	case "--owner", "-o":
		return set(&o.Owner, true)
	case "--no-owner", "--no-o":
		return set(&o.Owner, false)
	case "--group", "-g":
		return set(&o.Group, true)
	case "--no-group", "--no-g":
		return set(&o.Group, false)
	}
	return rsyncChoice(o, name)
}

// rsyncChoice is rsyncFlag for options about which entries are taken, and those that only say how bytes travel.
func rsyncChoice(o *treesync.Options, name string) func() {
	set := func(is *bool) func() { return func() { *is = true } }
	switch name {
	case "--checksum", "-c":
		return set(&o.Checksum)
	case "--size-only":
		return set(&o.SizeOnly)
	case "--ignore-times", "-I":
		return set(&o.IgnoreTimes)
	case "--update", "-u":
		return set(&o.Update)
	case "--existing", "--ignore-non-existing":
		return set(&o.Existing)
	case "--ignore-existing":
		return set(&o.IgnoreExisting)
	case "--omit-dir-times", "-O":
		return set(&o.OmitDirTimes)
	case "--numeric-ids":
		return set(&o.NumericIDs)
	case "-F":
		return set(&o.PerDir)
	case "--compress", "-z", "--no-compress", "--no-z", "--whole-file", "-W", "--no-whole-file", "--no-W", "--partial",
		"--no-motd",
		"--no-D", "--no-devices", "--no-specials", "--delay-updates", "--blocking-io", "--ipv4", "-4", "--ipv6", "-6":
		return func() {}
	}
	return nil
}

// rsyncSetting returns what an option with a value does; nil if it is none that is known.
func rsyncSetting(o *treesync.Options, name string) func(string) error {
	rule := func(start string) func(string) error {
		return func(v string) error {
			o.Rules = append(o.Rules, start+v)
			return treesync.CheckRule(start + v)
		}
	}
	switch name {
	case "--exclude":
		return rule("- ")
	case "--include":
		return rule("+ ")
	case "--filter", "-f":
		return rule("")
	case "--chmod":
		return func(v string) error {
			o.Chmod = append(o.Chmod, strings.Split(v, ",")...)
			return treesync.CheckModes(o.Chmod)
		}
	case "--chown":
		return func(v string) error {
			o.ChownUser, o.ChownGroup, _ = strings.Cut(v, ":")
			o.Owner, o.Group = o.Owner || o.ChownUser != "", o.Group || o.ChownGroup != ""
			return nil
		}
	case "--timeout", "--contimeout", "--compress-level", "--compress-choice", "--block-size":
		return func(string) error { return nil }
	}
	return nil
}
