package builtin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

// mountsOf runs the module over files of the test's own.
func mountsOf(t *testing.T, files map[string]string, args map[string]any) (modules.Result, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	environ := []string{"PATH=" + dir + ":/usr/bin:/bin"}
	env := &modules.Env{Environ: environ, Exec: modules.HostExec(environ, nil)}
	filled := map[string]any{}
	for k, v := range args {
		if list, ok := v.([]any); ok {
			own := make([]any, len(list))
			for i, x := range list {
				own[i] = strings.ReplaceAll(modules.Str(x), "$DIR", dir)
			}
			v = own
		}
		filled[k] = v
	}
	return MountFacts.Run(t.Context(), env, modtest.Args(filled)), dir
}

func TestMountFactsReadTables(t *testing.T) {
	files := map[string]string{
		"fstab":  "# c\nUUID=abc /none/a ext4 defaults 0 1\n/dev/x /none/b\\040b xfs rw 0\n/dev/y /none/b\\040b xfs ro\n",
		"vfstab": "a b /none/c ufs 2 yes rw\n", "mnttab": "d /none/d ufs rw 1234567890\n", "bad": "two words\n",
		"mount": "#!/bin/sh\necho 'dev on /none/e type ext9 (rw,x)'\n",
	}
	r, dir := mountsOf(t, files, map[string]any{"sources": []any{"$DIR/fstab", "$DIR/vfstab", "$DIR/mnttab", "$DIR/bad", "$DIR/none", "mount", "$DIR/fstab"}})
	points, _ := modtest.Plain(r.Facts)["mount_points"].(map[string]any)
	for path, want := range map[string]map[string]any{
		"/none/a":   {"device": "UUID=abc", "uuid": "abc", "fstype": "ext4", "options": "defaults", "dump": int64(0), "passno": int64(1)},
		"/none/b b": {"device": "/dev/x", "options": "rw", "uuid": nil, "dump": int64(0)},
		"/none/c":   {"device": "a", "device_to_fsck": "b", "passno": int64(2), "mount_at_boot": "yes"},
		"/none/d":   {"time": int64(1234567890)},
		"/none/e":   {"device": "dev", "fstype": "ext9", "options": "rw,x"},
	} {
		got, _ := points[path].(map[string]any)
		for k, v := range want {
			if got[k] != v {
				t.Errorf("%s: %s is %v, not %v", path, k, got[k], v)
			}
		}
	}
	if len(points) != 5 || r.Failed || r.Changed {
		t.Errorf("%+v", r)
	}
	all := strings.Join(r.Warnings, "\n")
	if !strings.Contains(all, "repeat sources will be ignored") || !strings.Contains(all, "ignoring repeat mounts in the following sources: "+dir+"/fstab") {
		t.Errorf("warned of %q", r.Warnings)
	}
}

func TestMountFactsFilterAndAggregate(t *testing.T) {
	files := map[string]string{"fstab": "/dev/x /none/a xfs rw 0 0\n/dev/x /none/a xfs rw 0 0\ntmpfs /none/b tmpfs rw 0 0\n"}
	r, _ := mountsOf(t, files, map[string]any{
		"sources": []any{"$DIR/fstab"}, "devices": []any{"/dev/*"}, "fstypes": []any{"x?s"}, "include_aggregate_mounts": true,
	})
	if all, _ := modtest.Plain(r.Facts)["aggregate_mounts"].([]any); len(all) != 2 || len(r.Warnings) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestMountFactsDoNotWaitForAMount(t *testing.T) {
	files := map[string]string{"fstab": "srv:/x /none/a nfs rw 0 0\n", "stat": "#!/bin/sh\nexec sleep 60\n"}
	for how, want := range map[string]string{"error": "Timed out getting mount size for mount /none/a (type nfs)", "warn": "", "ignore": ""} {
		r, _ := mountsOf(t, files, map[string]any{"sources": []any{"$DIR/fstab"}, "timeout": 0.2, "on_timeout": how})
		if r.Msg != want || r.Failed != (want != "") || len(r.Warnings) != map[string]int{"warn": 1}[how] {
			t.Errorf("%s: %+v", how, r)
		}
	}
}

func TestMountFactsNameWhatIsWrong(t *testing.T) {
	for want, args := range map[string]map[string]any{
		"sources contains an empty string":                                                    {"sources": []any{""}},
		"argument 'timeout' must be a positive number or null, not -1.0":                      {"timeout": -1.0},
		"argument 'mount_binary' must be a string or null, not ['a']":                         {"mount_binary": []any{"a"}},
		"Failed to execute $DIR/mount: Command '$DIR/mount' returned non-zero exit status 3.": {"sources": []any{"mount"}},
		"value of on_timeout must be one of: error, warn, ignore, got: x":                     {"on_timeout": "x"},
	} {
		r, dir := mountsOf(t, map[string]string{"mount": "#!/bin/sh\nexit 3\n"}, args)
		if r.Msg != strings.ReplaceAll(want, "$DIR", dir) {
			t.Errorf("%v gave %+v", args, r)
		}
	}
}
