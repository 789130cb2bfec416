package treesync

import (
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"

	"hark/modules/internal/fsx"
)

// Digest wants the sha256 of a file's content; nil is none.
type Digest func(path string, info fs.FileInfo) (string, error)

// Scan lists what a path stands for: a file, a directory with what is in it, or, if the path ends in a slash, what is
// in the directory. That something is missing is told by Tree.Kind.
func Scan(path string, o Query, digest Digest) (*Tree, error) {
	s := &scan{o: o.Options, digest: digest, tree: &Tree{Path: path, Rights: OwnRights()}, names: map[uint32][2]string{}}
	s.tree.Merged = map[string][]string{}
	var err error
	if s.filter, err = newFilter(o.Rules, s.tree); err != nil {
		return nil, err
	}
	clean := strings.TrimRight(path, "/")
	if st, err := os.Stat(orRoot(clean)); err == nil {
		s.tree.Kind = kindOf(st.Mode())
	}
	if o.Place || s.tree.Kind == "" && !fsx.IsLink(clean) {
		return s.tree, nil
	}
	if o.PerDir {
		if err := s.above(clean, path != clean); err != nil {
			return nil, err
		}
	}
	switch {
	case strings.HasSuffix(path, "/") && s.tree.Kind == Dir, strings.HasSuffix(path, "/."):
		err = s.add(path, ".")
	case clean == "":
		err = s.add("/", ".")
	default:
		err = s.add(clean, filepath.Base(clean))
	}
	return s.tree, err
}

func orRoot(clean string) string {
	if clean == "" {
		return "/"
	}
	return clean
}

// scan is one listing.
type scan struct {
	o      Options
	filter *filter
	digest Digest
	tree   *Tree
	names  map[uint32][2]string // of users and of groups, by id
}

func kindOf(m fs.FileMode) Kind {
	switch {
	case m.IsRegular():
		return File
	case m.IsDir():
		return Dir
	case m&fs.ModeSymlink != 0:
		return Link
	}
	return Special
}

// add lists a path, and what is below it.
func (s *scan) add(path, rel string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 && s.o.CopyLinks {
		if info, err = os.Stat(path); err != nil {
			return err
		}
	}
	e := s.entry(info, rel)
	if s.filter.excludes(rel, e.Kind == Dir) {
		return nil
	}
	switch e.Kind {
	case Link:
		if e.Link, err = os.Readlink(path); err != nil {
			return err
		}
	case File:
		if s.digest != nil {
			if e.Digest, err = s.digest(path, info); err != nil {
				return err
			}
		}
	}
	s.o.chown(&e)
	if err := s.o.chmod(&e); err != nil {
		return err
	}
	s.tree.Entries = append(s.tree.Entries, e)
	// --dirs looks into the directory that is named with a slash, and into no other.
	if e.Kind == Dir && (s.o.Recursive || s.o.Dirs && rel == ".") {
		return s.below(path, rel)
	}
	return nil
}

// below lists a directory: what is no directory comes first.
func (s *scan) below(path, rel string) error {
	if s.o.PerDir {
		raw, err := os.ReadFile(filepath.Join(path, perDirName))
		if lines := ruleLines(string(raw)); err == nil && lines != nil {
			s.tree.Merged[rel] = lines
			if err := s.filter.merge(rel, lines); err != nil {
				return err
			}
		}
	}
	list, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	isDir := func(d fs.DirEntry) bool {
		if d.Type()&fs.ModeSymlink != 0 && s.o.CopyLinks {
			return fsx.IsDir(filepath.Join(path, d.Name()))
		}
		return d.IsDir()
	}
	sort.SliceStable(list, func(i, j int) bool { return !isDir(list[i]) && isDir(list[j]) })
	for _, d := range list {
		err := s.add(filepath.Join(path, d.Name()), join(rel, d.Name()))
		if err != nil && !os.IsNotExist(err) { // it may go while the directory is read
			return err
		}
	}
	return nil
}

// above takes in the rules of the directories above the one that is listed. Patterns that begin at such a directory
// count where they lead into the listing.
func (s *scan) above(path string, inside bool) error {
	root := filepath.Dir(path)
	top := root
	if inside {
		root, top = path, filepath.Dir(path)
	}
	for dir := top; ; dir = filepath.Dir(dir) {
		raw, _ := os.ReadFile(filepath.Join(dir, perDirName))
		for _, line := range ruleLines(string(raw)) {
			if err := CheckRule(line); err != nil {
				return err
			}
			verb, pattern, _ := strings.Cut(line, " ")
			if strings.HasPrefix(pattern, "/") {
				rest, ok := strings.CutPrefix(filepath.Join(dir, pattern), strings.TrimRight(root, "/")+"/")
				if !ok {
					continue
				}
				pattern = "/" + rest
			}
			s.tree.Above = append(s.tree.Above, verb+" "+pattern)
		}
		if dir == "/" || dir == "." {
			return s.filter.aboveRules(s.tree.Above)
		}
	}
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

func (s *scan) entry(info fs.FileInfo, rel string) Entry {
	e := Entry{Rel: rel, Kind: kindOf(info.Mode()), Modified: info.ModTime().UnixNano()}
	if e.Kind == File {
		e.Size = info.Size()
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		e.Mode, e.UID, e.GID = uint32(st.Mode)&fsx.PermBits, st.Uid, st.Gid
	}
	e.Owner, e.Group = s.nameOf(e.UID, 0, fsx.UserName), s.nameOf(e.GID, 1, fsx.GroupName)
	return e
}

// nameOf asks for the name of an id once.
func (s *scan) nameOf(id uint32, which int, ask func(uint32) string) string {
	names := s.names[id]
	if names[which] == "" {
		names[which] = ask(id) + "\x00"
		s.names[id] = names
	}
	return strings.TrimSuffix(names[which], "\x00")
}

// Sum returns the Digest of a file.
func Sum(path string) (string, error) { return fsx.Sum(path, "sha256") }
