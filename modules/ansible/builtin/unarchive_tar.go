package builtin

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/py/fnmatch"
)

// tarArchive unpacks with GNU tar.
type tarArchive struct {
	*unpacking
	class, flag string
	tar         string
	names       []string
}

func (t *tarArchive) name() string    { return t.class }
func (t *tarArchive) files() []string { return t.names }

func (t *tarArchive) fits(ctx context.Context) (bool, string, error) {
	if t.env.Check {
		return false, "", &modules.Ended{Result: modules.Result{Skipped: true,
			Msg: "remote module (ansible.legacy.unarchive) does not support check mode when using gtar"}}
	}
	if t.tar = t.env.LookPath("gtar"); t.tar == "" {
		t.tar = t.env.LookPath("tar")
	}
	if t.tar == "" {
		return false, "Unable to find required 'gtar' or 'tar' binary in the path", nil
	}
	version, err := t.exec(ctx, t.Dest, t.tar, "--version")
	if err != nil {
		return false, "", err
	}
	if out := string(version.Stdout); !strings.HasPrefix(out, "tar") || !strings.Contains(out, "GNU") {
		kind := "None"
		if strings.HasPrefix(out, "bsdtar") {
			kind = "bsd"
		}
		return false, fmt.Sprintf(`Command "%s" detected as tar type %s. GNU tar required.`, t.tar, kind), nil
	}
	list, err := t.exec(ctx, t.Dest, t.args(nil, "--list")...)
	if err != nil {
		return false, "", err
	}
	if list.Rc != 0 {
		return false, fmt.Sprintf(`Command "%s" could not handle archive: Unable to list files in the archive: %s`, t.tar,
			modules.Printed(list.Stderr)), nil
	}
	t.take(string(list.Stdout))
	if len(t.names) == 0 {
		return false, fmt.Sprintf(`Command "%s" found no files in archive. Empty archive files are not supported.`,
			t.tar), nil
	}
	return true, "", nil
}

// take reads a listing. tar writes what is not ASCII in octal; absolute names are taken as relative ones.
func (t *tarArchive) take(listing string) {
	if listing == "" {
		return
	}
	for _, line := range strings.Split(strings.TrimSuffix(listing, "\n"), "\n") {
		// "" is what --strip-components leaves of a directory: the destination itself.
		name := strings.TrimPrefix(unescapeOctal(line), "/")
		if !t.excluded(name) {
			t.names = append(t.names, name)
		}
	}
}

func (t *tarArchive) excluded(name string) bool {
	for _, pattern := range t.Exclude {
		if fnmatch.Match(strings.TrimRight(pattern, "/"), name) {
			return true
		}
	}
	return false
}

func unescapeOctal(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return unescape(b.String())
}

// args returns a command line for an action; owned adds what decides about owners and age.
func (t *tarArchive) args(owned []string, action string) []string {
	argv := []string{t.tar, action, "-C", t.Dest}
	if t.flag != "" {
		argv = append(argv, t.flag)
	}
	if len(t.ExtraOpts) > 0 {
		argv = append(append(argv, "--show-transformed-names"), t.ExtraOpts...)
	}
	argv = append(argv, owned...)
	for _, pattern := range t.Exclude {
		argv = append(argv, "--exclude="+strings.TrimRight(pattern, "/"))
	}
	return append(append(argv, "-f", t.src), t.Include...)
}

func (t *tarArchive) owned() []string {
	var argv []string
	if name := modules.Text(t.Owner); name != "" {
		argv = append(argv, "--owner="+name)
	}
	if name := modules.Text(t.Group); name != "" {
		argv = append(argv, "--group="+name)
	}
	if t.KeepNewer {
		argv = append(argv, "--keep-newer-files")
	}
	return argv
}

func (t *tarArchive) unpack(ctx context.Context) (command, error) {
	return t.exec(ctx, t.Dest, t.args(t.owned(), "--extract")...)
}

// unpacked asks tar for differences; those count that are not of what the task sets anyway.
func (t *tarArchive) unpacked(ctx context.Context) (bool, string, error) {
	out, err := t.exec(ctx, t.Dest, t.args(t.owned(), "--diff")...)
	if err != nil {
		return false, "", err
	}
	for _, line := range strings.Split(string(out.Stdout)+"\n"+string(out.Stderr), "\n") {
		if t.matters(line) {
			return false, "", nil
		}
	}
	return true, "", nil
}

func (t *tarArchive) matters(line string) bool {
	root := os.Geteuid() == 0
	switch {
	case strings.HasSuffix(line, ": : Warning: Cannot stat: No such file or directory"):
		return false // an empty name, left by --strip-components
	case strings.HasSuffix(line, ": Uid differs"):
		return root && modules.Text(t.Owner) == ""
	case strings.HasSuffix(line, ": Gid differs"):
		return root && modules.Text(t.Group) == ""
	case strings.HasSuffix(line, ": Mode differs"):
		return t.Mode == nil
	}
	return strings.HasSuffix(line, ": Mod time differs") ||
		strings.HasSuffix(line, ": Warning: Cannot stat: No such file or directory") ||
		strings.Contains(line, ": Invalid owner") || strings.Contains(line, ": Invalid group")
}
