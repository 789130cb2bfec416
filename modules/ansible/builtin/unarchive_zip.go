package builtin

import (
	"archive/zip"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/py/fnmatch"
	"hark/modules/py/localtime"
)

// zipArchive unpacks with unzip.
type zipArchive struct {
	*unpacking
	class    string
	viaUnzip bool // unzip -Z lists, instead of zipinfo
	unzip    string
	zipinfo  []string
	names    []string
	crc      map[string]uint32
	excludes []string
}

func (z *zipArchive) name() string    { return z.class }
func (z *zipArchive) files() []string { return z.names }

func (z *zipArchive) fits(ctx context.Context) (bool, string, error) {
	lister := "zipinfo"
	if z.viaUnzip {
		lister = "unzip"
	}
	z.unzip = z.env.LookPath("unzip")
	path := z.env.LookPath(lister)
	var missing []string
	if z.unzip == "" {
		missing = append(missing, "unzip")
	}
	if path == "" {
		missing = append(missing, lister)
	}
	if len(missing) > 0 {
		return false, fmt.Sprintf("Unable to find required '%s' binary in the path.", strings.Join(missing, "' or '")), nil
	}
	z.zipinfo = []string{path}
	if z.viaUnzip {
		z.zipinfo = append(z.zipinfo, "-Z")
	}
	list, err := z.exec(ctx, "", z.unzip, "-l", z.src)
	if err != nil {
		return false, "", err
	}
	if list.Rc != 0 {
		return false, fmt.Sprintf(`Command "%s" could not handle archive: %s`, z.unzip, modules.Printed(list.Stderr)), nil
	}
	return true, "", z.read()
}

// read takes names and checksums from the archive itself.
func (z *zipArchive) read() error {
	r, err := zip.OpenReader(z.src)
	if err != nil {
		return fsx.Failed("Unable to list files in the archive: " + err.Error())
	}
	defer r.Close()
	z.crc = map[string]uint32{}
	z.excludes = slices.Clone(z.Exclude)
	for _, f := range r.File {
		z.crc[f.Name] = f.CRC32
		match := func(patterns []string) bool {
			return slices.ContainsFunc(patterns, func(p string) bool { return fnmatch.Match(p, f.Name) })
		}
		if len(z.Include) > 0 && match(z.Include) || len(z.Include) == 0 && !match(z.Exclude) {
			z.names = append(z.names, f.Name)
		}
	}
	return nil
}

func (z *zipArchive) unpack(ctx context.Context) (command, error) {
	argv := append([]string{z.unzip, "-o"}, z.ExtraOpts...)
	argv = append(argv, z.src)
	if len(z.excludes) > 0 {
		argv = append(append(argv, "-x"), z.excludes...)
	}
	argv = append(append(argv, z.Include...), "-d", z.Dest)
	return z.exec(ctx, "", argv...)
}

// zipEntry is a line of zipinfo.
type zipEntry struct {
	kind  byte // f, d, L
	perms string
	umask uint32
	size  int64
	stamp time.Time
	path  string
}

// unpacked compares every entry that zipinfo lists with what is there.
func (z *zipArchive) unpacked(ctx context.Context) (bool, string, error) {
	argv := append(slices.Clone(z.zipinfo), "-T", "-s", z.src)
	if len(z.Exclude) > 0 {
		argv = append(append(argv, "-x"), z.Exclude...)
	}
	out, err := z.exec(ctx, "", append(argv, z.Include...)...)
	if err != nil {
		return false, "", err
	}
	uid, gid, err := z.owners()
	if err != nil {
		return false, "", err
	}
	done := out.Rc == 0
	var diff strings.Builder
	for _, line := range strings.Split(string(out.Stdout), "\n") {
		e, ok := parseZipinfo(line)
		if !ok || slices.Contains(z.excludes, e.path) {
			continue
		}
		item, err := z.compare(e, uid, gid)
		if err != nil {
			return false, "", err
		}
		if item != "" {
			done = false
			fmt.Fprintf(&diff, "%s %s\n", item, e.path)
		}
	}
	return done, diff.String(), nil
}

// owners returns the user and group that all entries shall belong to.
func (z *zipArchive) owners() (uint32, uint32, error) {
	uid, gid := fsx.Self()
	self := uid
	if name := modules.Text(z.Owner); name != "" {
		if n, ok := fsx.UserID(name); ok {
			uid = n
		}
	}
	if name := modules.Text(z.Group); name != "" {
		if n, ok := fsx.GroupID(name); ok {
			gid = n
		}
	}
	if self != 0 && uid != self {
		return 0, 0, fsx.Failed(fmt.Sprintf("Cannot change ownership of %s to %s, as user %s", z.Dest, modules.Text(z.Owner),
			fsx.UserName(uint32(self))))
	}
	return uint32(uid), uint32(gid), nil
}

func parseZipinfo(line string) (zipEntry, bool) {
	f := strings.Fields(line)
	if len(f) < 8 || len(f[0]) != 7 && len(f[0]) != 10 || len(f[6]) != 15 || !strings.ContainsRune("dl-?", rune(f[0][0])) {
		return zipEntry{}, false
	}
	if strings.Trim(f[0][1:], "rwxstah-") != "" {
		return zipEntry{}, false
	}
	stamp, err := time.ParseInLocation("20060102.150405", f[6], localtime.Zone())
	size, err2 := strconv.ParseInt(f[3], 10, 64)
	if err != nil || err2 != nil {
		return zipEntry{}, false
	}
	// The name is all after the seventh field: it may hold blanks.
	rest := line
	for range 7 {
		rest = strings.TrimLeft(rest, " ")
		rest = rest[strings.IndexByte(rest, ' '):]
	}
	e := zipEntry{kind: 'f', perms: f[0][1:], size: size, stamp: stamp, path: strings.TrimLeft(rest, " ")}
	switch {
	case strings.HasSuffix(e.path, "/"):
		e.kind = 'd'
	case f[0][0] == 'l':
		e.kind = 'L'
	}
	if len(e.perms) == 6 {
		// Archives of other systems have no permissions: what may be run may be run by all.
		e.umask = fsx.Umask()
		if e.kind == 'd' || e.perms == "rwx---" {
			e.perms = "rwxrwxrwx"
		} else {
			e.perms = "rw-rw-rw-"
		}
	}
	return e, true
}

// compare describes as rsync does how an entry differs from what is there, "" if not at all.
func (z *zipArchive) compare(e zipEntry, uid, gid uint32) (string, error) {
	st, err := fsx.Stat(filepath.Join(z.Dest, e.path), false)
	if err != nil {
		return fmt.Sprintf(">%c++++++.??", e.kind), nil
	}
	kind := uint32(st.Mode) & syscall.S_IFMT
	if kind != map[byte]uint32{'d': syscall.S_IFDIR, 'f': syscall.S_IFREG, 'L': syscall.S_IFLNK}[e.kind] {
		return fmt.Sprintf("c%c++++++.??", e.kind), nil
	}
	item := []byte(".f.......??")
	item[1] = e.kind
	changed := false
	note := func(at int, mark byte) { item[at], changed = mark, true }
	if e.kind == 'f' {
		_, modification, _ := fsx.Times(st)
		there := time.Unix(modification.Unix())
		switch {
		case z.KeepNewer && e.stamp.Before(there):
			z.excludes = append(z.excludes, e.path)
			return "", nil
		case z.KeepNewer && e.stamp.After(there), !z.KeepNewer && !e.stamp.Equal(there):
			note(4, 't')
		}
		if st.Size != e.size {
			note(3, 's')
		}
		if sum, err := crcOf(filepath.Join(z.Dest, e.path)); err != nil || sum != z.crc[e.path] {
			note(2, 'c')
		}
	}
	if e.kind != 'L' {
		mode, err := z.wantedMode(e, st)
		if err != nil {
			return "", err
		}
		if mode != uint32(st.Mode)&fsx.PermBits {
			note(5, 'p')
		}
	}
	if st.Uid != uid {
		note(6, 'o')
	}
	if st.Gid != gid {
		note(6, 'g')
	}
	if !changed {
		return "", nil
	}
	return string(item), nil
}

func (z *zipArchive) wantedMode(e zipEntry, st *syscall.Stat_t) (uint32, error) {
	if z.Mode == nil {
		return permBits(e.perms) &^ e.umask, nil
	}
	mode, err := fsx.ParseMode(z.Mode,
		fsx.Current{Mode: uint32(st.Mode) & fsx.PermBits, Dir: e.kind == 'd', Umask: fsx.Umask})
	if err != nil {
		return 0, fsx.Fail(e.path, "%s", err)
	}
	return mode, nil
}

// permBits reads rwxr-xr-x; unzip sets no other bits.
func permBits(perms string) uint32 {
	var mode uint32
	for _, c := range perms {
		mode <<= 1
		if strings.ContainsRune("rwxst", c) {
			mode |= 1
		}
	}
	return mode
}

func crcOf(path string) (uint32, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	h := crc32.NewIEEE()
	_, err = io.Copy(h, f)
	return h.Sum32(), err
}
