package filters

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/sealed"
)

// fileTests are Ansible's tests of file names. Those that look at files look at this machine.
func fileTests() map[string]jinja.Test {
	const stat, lstat = "stat: path should be string, bytes, os.PathLike or integer",
		"lstat: path should be string, bytes or os.PathLike"
	tests := map[string]jinja.Test{
		"directory": onPath(stat, func(s string) bool { info, err := os.Stat(s); return err == nil && info.IsDir() }),
		"file": onPath(stat,
			func(s string) bool { info, err := os.Stat(s); return err == nil && info.Mode().IsRegular() }),
		"link": onPath(lstat,
			func(s string) bool { info, err := os.Lstat(s); return err == nil && info.Mode()&os.ModeSymlink != 0 }),
		"exists":      onPath(stat, func(s string) bool { _, err := os.Stat(s); return err == nil }),
		"link_exists": onPath(lstat, func(s string) bool { _, err := os.Lstat(s); return err == nil }),
		"abs": onPath("expected str, bytes or os.PathLike object", func(s string) bool {
			return strings.HasPrefix(s, "/")
		}),
		"mount":     onPath(lstat, isMount),
		"same_file": sameFile,

		"vaulted_file": vaultedFile,
	}
	for long, short := range map[string]string{
		"is_dir": "directory", "is_file": "file", "is_link": "link", "is_abs": "abs", "is_mount": "mount",
		"is_same_file": "same_file",
	} {
		tests[long] = tests[short]
	}
	return tests
}

// onPath returns a test of a file name; refusal is Python's word for what is none.
func onPath(refusal string, f func(string) bool) jinja.Test {
	return func(_ *jinja.Call, in value.Value, _ *jinja.Args) (bool, error) {
		s, ok := value.Text(in)
		if n := value.AsBig(in); n != nil && strings.Contains(refusal, "integer") {
			return false, nil // a file descriptor that nobody has opened
		}
		if !ok {
			return false, value.TypeErrorf("%s, not %s", refusal, in.Type())
		}
		return f(s), nil
	}
}

func isMount(s string) bool {
	var here, above unix.Stat_t
	if unix.Lstat(s, &here) != nil || here.Mode&unix.S_IFMT == unix.S_IFLNK ||
		unix.Lstat(filepath.Join(s, ".."), &above) != nil {
		return false
	}
	return here.Dev != above.Dev || here.Ino == above.Ino
}

// vaultedFile is a test of ansible-core 2.18: the file is sealed.
func vaultedFile(_ *jinja.Call, in value.Value, _ *jinja.Args) (bool, error) {
	name, err := value.ToStr(in)
	if err != nil {
		return false, err
	}
	f, err := os.Open(name)
	if err != nil {
		return false, value.FilterErrorf("Cannot test if the file %s is a vault.", value.ReprText(name))
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 64))
	return err == nil && sealed.Is(head), nil
}

func sameFile(_ *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
	a, err := args.Bind("samefile", value.Req("f2"))
	if err != nil {
		return false, err
	}
	x, err := value.ToStr(in)
	if err != nil {
		return false, err
	}
	y, err := value.ToStr(a[0])
	if err != nil {
		return false, err
	}
	one, err := os.Stat(x)
	if err != nil {
		return false, value.Errorf("FileNotFoundError", "[Errno 2] No such file or directory: '%s'", x)
	}
	other, err := os.Stat(y)
	if err != nil {
		return false, value.Errorf("FileNotFoundError", "[Errno 2] No such file or directory: '%s'", y)
	}
	return os.SameFile(one, other), nil
}
