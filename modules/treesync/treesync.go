// Package treesync brings a directory into the state of another one that may be on another machine, and reports it
// in the words of rsync. One side lists what it has (Scan), the side that has both lists finds what differs
// (Compare), the side that writes does so (Writer), with changes that may have travelled as an archive (Pack,
// Unpack). How the lists, contents and archives travel is the caller's.
package treesync

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"hark/modules/internal/fsx"
	"hark/modules/py/value"
)

// Kind is what an entry is, as the letter that rsync has for it.
type Kind string

// The kinds of entries. Devices, sockets and pipes are listed, so that they can be reported, and never made.
const (
	File    Kind = "f"
	Dir     Kind = "d"
	Link    Kind = "L"
	Special Kind = "S"
)

// Entry is one file, directory or link.
type Entry struct {
	// Rel is the path relative to the root of the transfer, "." for the root itself.
	Rel  string `json:"rel"`
	Kind Kind   `json:"kind"`
	// Mode are the permission bits, with those for setuid, setgid and sticky.
	Mode     uint32 `json:"mode"`
	Size     int64  `json:"size,omitempty"`
	Modified int64  `json:"modified"` // nanoseconds since 1970
	Link     string `json:"link,omitempty"`
	UID      uint32 `json:"uid"`
	GID      uint32 `json:"gid"`
	// Owner and Group are names, "" where the ids have none.
	Owner string `json:"owner,omitempty"`
	Group string `json:"group,omitempty"`
	// Digest is the sha256 of a file's content, "" where nobody wanted it.
	Digest string `json:"digest,omitempty"`
	// Shown is what lines about the entry call it, "" for Rel: a file that gets another name.
	Shown string `json:"shown,omitempty"`
}

// Tree is what one side has.
type Tree struct {
	// Path is absolute. Kind is what it is, links followed; "" if there is nothing.
	Path string `json:"path"`
	Kind Kind   `json:"kind,omitempty"`
	// Entries are in the order of rsync: in a directory what is no directory comes first.
	Entries []Entry `json:"entries,omitempty"`
	// Merged are the rules of .rsync-filter files, by the directory that they are in.
	Merged map[string][]string `json:"merged,omitempty"`
	// Above are those of the directories above.
	Above  []string `json:"above,omitempty"`
	Rights Rights   `json:"rights"`
}

// Rights are what the user of one side may do.
type Rights struct {
	Super  bool     `json:"super,omitempty"`
	Groups []uint32 `json:"groups,omitempty"`
}

// OwnRights returns those of this process.
func OwnRights() Rights {
	r := Rights{Super: os.Geteuid() == 0, Groups: []uint32{uint32(os.Getegid())}}
	groups, _ := os.Getgroups()
	for _, g := range groups {
		r.Groups = append(r.Groups, uint32(g))
	}
	return r
}

// Options say what of the entries is kept and which entries count. They are rsync's options of the same names.
type Options struct {
	Recursive      bool `json:"recursive,omitempty"`
	Dirs           bool `json:"dirs,omitempty"`
	Links          bool `json:"links,omitempty"`
	CopyLinks      bool `json:"copy_links,omitempty"`
	Perms          bool `json:"perms,omitempty"`
	Times          bool `json:"times,omitempty"`
	Owner          bool `json:"owner,omitempty"`
	Group          bool `json:"group,omitempty"`
	Checksum       bool `json:"checksum,omitempty"`
	SizeOnly       bool `json:"size_only,omitempty"`
	IgnoreTimes    bool `json:"ignore_times,omitempty"`
	Update         bool `json:"update,omitempty"`
	Existing       bool `json:"existing,omitempty"`
	IgnoreExisting bool `json:"ignore_existing,omitempty"`
	Delete         bool `json:"delete,omitempty"`
	DeleteExcluded bool `json:"delete_excluded,omitempty"`
	OmitDirTimes   bool `json:"omit_dir_times,omitempty"`
	NumericIDs     bool `json:"numeric_ids,omitempty"`
	// PerDir honours .rsync-filter files.
	PerDir bool `json:"per_dir,omitempty"`
	// Rules are filter rules, "- PATTERN" or "+ PATTERN"; the first that matches counts.
	Rules []string `json:"rules,omitempty"`
	// Chmod are modes that entries get, as --chmod has them: D0755, F0644, u+rX.
	Chmod []string `json:"chmod,omitempty"`
	// ChownUser and ChownGroup are names or ids that entries get, "" for their own.
	ChownUser  string `json:"chown_user,omitempty"`
	ChownGroup string `json:"chown_group,omitempty"`
	// Sign is < where the side that reports changes sends, > where it receives.
	Sign string `json:"sign,omitempty"`
}

// Query is what is wanted of a tree.
type Query struct {
	Options
	// Place wants no entries, only where the path is and what.
	Place bool `json:"place,omitempty"`
	// Digests wants the sums of files, which thereby can be read by them.
	Digests bool `json:"digests,omitempty"`
}

// Lookup are entries by path.
type Lookup map[string]*Entry

// LookupOf makes entries findable.
func LookupOf(entries []Entry) Lookup {
	l := make(Lookup, len(entries))
	for i := range entries {
		l[entries[i].Rel] = &entries[i]
	}
	return l
}

// sameOwner compares by name, where both have one.
func sameOwner(a, b *Entry) bool {
	if a.Owner != "" && b.Owner != "" {
		return a.Owner == b.Owner
	}
	return a.UID == b.UID
}

func sameGroup(a, b *Entry) bool {
	if a.Group != "" && b.Group != "" {
		return a.Group == b.Group
	}
	return a.GID == b.GID
}

// ids returns the owner and group on this host.
func (e *Entry) ids() (uid, gid int) {
	uid, gid = int(e.UID), int(e.GID)
	if n, ok := fsx.UserID(e.Owner); ok {
		uid = n
	}
	if n, ok := fsx.GroupID(e.Group); ok {
		gid = n
	}
	return uid, gid
}

// mayGive reports whether the user of a side can give a file to the entry's group. Whoever is not root can only give
// to his own; of those of another machine only the numbers are known here.
func (r Rights) mayGive(e *Entry, have Lookup) bool {
	if r.Super {
		return true
	}
	gid := e.GID
	for _, h := range have {
		if e.Group != "" && h.Group == e.Group {
			gid = h.GID
			break
		}
	}
	return slices.Contains(r.Groups, gid)
}

// chmod gives an entry the modes that the options set.
func (o *Options) chmod(e *Entry) error {
	for _, text := range o.Chmod {
		switch {
		case text == "":
			continue
		case text[0] == 'D' && e.Kind != Dir, text[0] == 'F' && e.Kind == Dir, e.Kind == Link:
			continue
		case text[0] == 'D' || text[0] == 'F':
			text = text[1:]
		}
		mode, err := fsx.ParseMode(value.Str(text), fsx.Current{Mode: e.Mode, Dir: e.Kind == Dir})
		if err != nil {
			return err
		}
		e.Mode = mode & fsx.PermBits
	}
	return nil
}

// chown gives an entry the owner and group that the options set.
func (o *Options) chown(e *Entry) {
	if o.NumericIDs {
		e.Owner, e.Group = "", ""
	}
	if o.ChownUser != "" {
		e.Owner, e.UID = named(o.ChownUser, e.UID)
	}
	if o.ChownGroup != "" {
		e.Group, e.GID = named(o.ChownGroup, e.GID)
	}
}

func named(name string, id uint32) (string, uint32) {
	if n, err := strconv.ParseUint(name, 10, 32); err == nil {
		return "", uint32(n)
	}
	return name, id
}

// CheckModes refuses modes that --chmod does not have.
func CheckModes(modes []string) error {
	o := Options{Chmod: modes}
	for _, kind := range []Kind{File, Dir} {
		if err := o.chmod(&Entry{Kind: kind}); err != nil {
			return fmt.Errorf("cannot read the mode in %q", strings.Join(modes, ","))
		}
	}
	return nil
}
