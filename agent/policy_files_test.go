package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/agent/internal/runner"
	"hark/modules"
	"hark/modules/all"
	"hark/modules/modtest"
)

// What modules name must lie where it may, however it is named: other names of parameters, lists that are written as
// text, links.
func TestPolicyBindsThePathsThatModulesName(t *testing.T) {
	dir := t.TempDir()
	for name, target := range map[string]string{"link": "/etc", "dangling": "/etc/hark-none/x", "circle": "circle", "inside": dir} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	policy := &Policy{Operators: map[string]*Rule{"*": {
		Paths: []string{dir}, Modules: []string{"*"}, Unconfined: []string{"ansible.posix.synchronize", "ansible.posix.authorized_key",
			"community.general.alternatives", "community.general.archive", "ansible.builtin.apt", "ansible.builtin.uri"}}}}
	registry := modules.NewRegistry(all.Modules()...)
	type args = map[string]any
	for _, tt := range []struct {
		module string
		args   args
		want   string
	}{
		{"copy", args{"dest": dir + "/x/y"}, ""},
		{"copy", args{"dest": dir}, ""},
		{"copy", args{"dest": dir + "/inside/x"}, ""},
		{"copy", args{"dest": dir + "/x", "src": "/home/anna/x", "hark_source": args{"path": "/home/anna/x"}}, ""},
		{"copy", args{"dest": dir + "/x", "src": "/home/anna/x", "remote_src": true}, "the path /home/anna/x"},
		{"copy", args{"dest": "/etc/passwd"}, "the path /etc/passwd"},
		{"copy", args{"dest": dir + "/../passwd"}, "which holds .."},
		{"copy", args{"dest": dir + "/link/../passwd"}, "which holds .."},
		{"copy", args{"dest": dir + "x"}, "the path"},
		{"copy", args{"dest": dir + "/link/passwd"}, "the path"},
		{"copy", args{"dest": dir + "/dangling"}, "the path"},
		{"copy", args{"dest": dir + "/circle/x"}, "the path"},
		{"file", args{"path": "etc/passwd"}, "which is not absolute"},
		{"file", args{"name": "~root/x"}, "the path"},
		{"file", args{"path": dir + "/l", "src": "../etc", "state": "link"}, "which is not absolute"},
		{"lineinfile", args{"destfile": "/etc/passwd", "line": "x"}, "the path /etc/passwd"},
		{"slurp", args{"src": "etc/shadow"}, "which is not absolute"},
		{"find", args{"paths": dir + ",/root"}, "the path /root"},
		{"find", args{"paths": []any{dir, "/root"}}, "the path /root"},
		{"archive", args{"path": dir + "/a,/etc/shadow", "dest": dir + "/x.tgz"}, "the path /etc/shadow"},
		{"fetch", args{"src": "/etc/shadow", "dest": dir}, "the path /etc/shadow"},
		{"fetch", args{"src": dir + "/$X", "dest": "/tmp/"}, "depends on variables"},
		{"fetch", args{"src": dir + "/x", "dest": "/home/anna/"}, ""},
		{"synchronize", args{"src": "/home/anna/site/", "dest": dir + "/www", "hark_tree": "{}"}, ""},
		{"synchronize", args{"src": "/etc/", "dest": "/home/anna/x", "mode": "pull", "hark_tree": "{}"}, "the path /etc/"},
		{"alternatives", args{"name": "x", "path": dir + "/x", "subcommands": []any{args{"name": "y", "path": "/etc/y", "link": dir}}}, "the path /etc/y"},
		{"apt", args{"name": "nginx"}, ""},
		{"uri", args{"url": "http://x"}, ""},
		{"uri", args{"url": "file:///etc/shadow"}, "which is that of a file"},
		{"uri", args{"url": "FILE:/etc/shadow"}, "which is that of a file"},
		{"uri", args{"url": "jar://x"}, "only those of http"},
		{"get_url", args{"url": "http://x", "dest": dir + "/x"}, "which cannot be kept to paths"},
		{"known_hosts", args{"name": "x"}, "which cannot be kept to paths"},
		{"tempfile", args{}, "which cannot be kept to paths"},
		{"timezone", args{"name": "../../.."}, "which cannot be kept to paths"},
		{"hostname", args{"name": "x"}, "which cannot be kept to paths"},
		{"systemd", args{"name": "x"}, "which cannot be kept to paths"},
		{"user", args{"name": "x"}, "the module ansible.builtin.user"},
		{"ping", args{}, ""},
		{"lineinfile", args{"path": dir + "/x", "line": "file: x"}, ""},
		{"setup", args{}, ""},
		{"authorized_key", args{"user": "root"}, ""}, // it fails by itself
	} {
		module, ok := registry.Get(registry.FullName(tt.module))
		if !ok {
			t.Fatalf("there is no module %s", tt.module)
		}
		err := policy.call("UANNA", runner.Invocation{Module: module, Args: modtest.Args(tt.args)})
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %v: %v, want %q", tt.module, tt.args, err, tt.want)
		}
	}
}
