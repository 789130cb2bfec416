package agent

import (
	"strings"
	"testing"
	"time"

	"hark/agent/internal/runner"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/all"
	"hark/modules/modtest"
)

// The example of docs/security.md, and the tightest policy that is of use, hold: nothing that passes them can have a
// program of the caller's run.
func TestNoLimitIsPassedByAProgram(t *testing.T) {
	dir := t.TempDir()
	type args = map[string]any
	type call struct {
		module string
		args   args
		call   wire.Call
		want   string
	}
	unconfined := []string{"ansible.builtin.apt", "ansible.builtin.service", "ansible.builtin.systemd", "community.general.ufw", "ansible.builtin.uri"}
	wide := &Rule{Modules: []string{"ansible.builtin.*", "community.general.ufw", "ansible.builtin.apt"}, Users: []string{"root"}, Paths: []string{dir}, Unconfined: unconfined}
	tight := &Rule{Modules: []string{"ansible.builtin.copy", "ansible.builtin.setup", "ansible.builtin.service", "ansible.builtin.systemd"}, Users: []string{"root"}, Paths: []string{dir}, Unconfined: unconfined}
	spelled := &Rule{Modules: []string{"ansible.builtin.*", "ansible.builtin.command"}, Arguments: []string{"ansible.builtin.copy.validate"}}
	env := func(name string) wire.Call { return wire.Call{Environment: map[string]string{name: dir}} }
	both := []call{
		{"copy", args{"dest": dir + "/x", "content": "x", "mode": "0644"}, wire.Call{}, ""},
		{"copy", args{"dest": dir + "/x", "validate": "sh -c id %s"}, wire.Call{}, "the argument validate"},
		{"copy", args{"dest": dir + "/x", "mode": "4755"}, wire.Call{}, "the mode 4755"},
		{"copy", args{"dest": dir + "/x", "mode": "u+s"}, wire.Call{}, "the mode u+s"},
		{"copy", args{"dest": dir + "/x", "mode": float64(0o2755)}, wire.Call{}, "the mode"},
		{"copy", args{"dest": dir + "/x", "mode": "preserve"}, wire.Call{}, "the mode preserve"},
		{"copy", args{"dest": dir + "/x", "directory_mode": "02755"}, wire.Call{}, "the directory_mode"},
		{"copy", args{"dest": dir + "/x"}, wire.Call{AsyncDir: "/etc/cron.d"}, "the directory of jobs /etc/cron.d"},
		{"copy", args{"dest": dir + "/x"}, wire.Call{AsyncDir: dir + "/jobs"}, ""},
		{"copy", args{"dest": dir + "/x"}, wire.Call{Interpreter: dir + "/python3"}, "the interpreter"},
		{"copy", args{"dest": dir + "/x"}, wire.Call{Interpreter: "/usr/bin/python3"}, ""},
		{"copy", args{"dest": dir + "/x"}, wire.Call{User: wire.RunAs{User: "root", Method: "sudo", Exe: dir + "/sudo"}}, "to become another user"},
		{"copy", args{"dest": dir + "/x"}, wire.Call{User: wire.RunAs{User: "root", Method: "sudo", Flags: "-H -S -n"}}, ""},
		{"copy", args{"dest": dir + "/x"}, wire.Call{User: wire.RunAs{User: "root", Method: "sudo", Flags: "sh -c id"}}, "to become another user"},
		{"setup", args{}, wire.Call{}, ""},
		{"setup", args{"fact_path": dir}, wire.Call{}, "the argument fact_path"},
		{"systemd", args{"name": "nginx", "state": "restarted"}, wire.Call{}, ""},
		{"systemd", args{"name": dir + "/evil.service"}, wire.Call{}, "the argument name"},
		{"systemd", args{"unit": "../evil.service"}, wire.Call{}, "the argument name"},
		{"systemd", args{"name": "nginx"}, env("PATH"), "the environment variable PATH"},
		{"systemd", args{"name": "nginx"}, env("LD_PRELOAD"), "the environment variable LD_PRELOAD"},
		{"setup", args{}, env("PYTHONPATH"), "the environment variable PYTHONPATH"},
		{"setup", args{}, env("https_proxy"), ""},
		{"setup", args{}, env("LC_ALL"), ""},
		{"script", args{"_raw_params": "x"}, wire.Call{}, "the module ansible.builtin.script"},
		{"expect", args{"command": "id", "responses": args{}}, wire.Call{}, "the module ansible.builtin.expect"},
		{"raw", args{"_raw_params": "id"}, wire.Call{}, "the module ansible.builtin.raw"},
		{"command", args{"_raw_params": "id"}, wire.Call{}, "the module ansible.builtin.command"},
		{"cron", args{"name": "x", "job": "id"}, wire.Call{}, "the module ansible.builtin.cron"},
		{"hark.builtin.foreign", args{}, wire.Call{}, "the module hark.builtin.foreign"},
	}
	registry := modules.NewRegistry(all.Modules()...)
	try := func(what string, rule *Rule, calls []call) {
		for _, tt := range calls {
			module, ok := registry.Get(registry.FullName(tt.module))
			if !ok {
				t.Fatalf("there is no module %s", tt.module)
			}
			c := tt.call
			if c.User.User == "" {
				c.User.User = "root"
			}
			err := (&Policy{Operators: map[string]*Rule{"*": rule}}).call("UANNA", runner.Invocation{Module: module, Args: modtest.Args(tt.args), Call: c})
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %s with %v, %+v: %v, want %q", what, tt.module, tt.args, tt.call, err, tt.want)
			}
		}
	}
	try("the example", wide, both)
	try("the tightest", tight, both)
	try("the example", wide, []call{
		{"lineinfile", args{"path": dir + "/x", "line": "x", "validate": "id %s"}, wire.Call{}, "the argument validate"},
		{"uri", args{"url": "http://x", "unix_socket": dir + "/s"}, wire.Call{}, "the argument unix_socket"},
		{"apt", args{"name": "nginx"}, wire.Call{}, ""}, // it is named
		{"ufw", args{"state": "enabled"}, wire.Call{}, ""},
	})
	try("by name", spelled, []call{
		{"command", args{"_raw_params": "id"}, wire.Call{}, ""},
		{"shell", args{"_raw_params": "id"}, wire.Call{}, "the module ansible.builtin.shell"},
		{"copy", args{"dest": "/x", "validate": "id %s"}, wire.Call{}, ""},
		{"template", args{"dest": "/x", "validate": "id %s"}, wire.Call{}, "the argument validate"},
	})
	try("no limit", &Rule{Users: []string{"root"}}, []call{
		{"shell", args{"_raw_params": "id"}, env("PATH"), ""},
		{"copy", args{"dest": "/x", "validate": "id %s", "mode": "4755"}, wire.Call{AsyncDir: "/etc"}, ""},
	})
}

// Who may look and not change has everything in check mode, and nothing that has none.
func TestWhoMayLookChangesNothing(t *testing.T) {
	p := &Policy{Operators: map[string]*Rule{"*": {Check: true, Unconfined: []string{"ansible.builtin.systemd"}}}}
	registry := modules.NewRegistry(all.Modules()...)
	type args = map[string]any
	for _, tt := range []struct {
		module string
		args   args
		call   wire.Call
		want   string
	}{
		{"copy", args{"dest": "/x"}, wire.Call{Check: true}, ""},
		{"command", args{"_raw_params": "id"}, wire.Call{Check: true}, ""}, // which skips it
		{"setup", args{}, wire.Call{}, ""},
		{"copy", args{"dest": "/x"}, wire.Call{}, "but in check mode"},
		{"command", args{"_raw_params": "id"}, wire.Call{}, "but in check mode"},
		{"copy", args{"dest": "/x", "validate": "id %s"}, wire.Call{Check: true}, "the argument validate"},
		{"setup", args{}, wire.Call{Async: time.Second, AsyncDir: "/etc/x"}, "to start a job"},
		{"setup", args{}, wire.Call{Check: true, Async: time.Second}, "to start a job"},
		{"systemd", args{"name": "x"}, wire.Call{Check: true, Async: time.Second}, "to start a job"},
		{"setup", args{"fact_path": "/tmp"}, wire.Call{}, "the argument fact_path"},
		{"setup", args{}, wire.Call{Environment: map[string]string{"PATH": "/tmp"}}, "the environment variable PATH"},
		{"expect", args{"command": "id", "responses": args{}}, wire.Call{Check: true}, "which has no check mode"},
		{"uri", args{"url": "http://x"}, wire.Call{Check: true}, "which has no check mode"},
		{"git", args{"repo": "--upload-pack=sh -c id", "dest": "/x"}, wire.Call{Check: true}, "starts programs in check mode (git)"},
		{"apt_key", args{"keyring": "/etc/x", "url": "http://x"}, wire.Call{Check: true}, "starts programs in check mode"},
		{"service", args{"name": "x"}, wire.Call{Check: true}, "starts programs in check mode"},
		{"systemd", args{"name": "x"}, wire.Call{Check: true}, ""}, // it is named
		{"systemd", args{"name": "x"}, wire.Call{}, "but in check mode"},
		{"hark.builtin.foreign", args{}, wire.Call{Check: true}, "may look and not change"},
		{"hark.builtin.connection", args{"do": "exec"}, wire.Call{Check: true}, "may look and not change"},
	} {
		module, ok := registry.Get(registry.FullName(tt.module))
		if !ok {
			t.Fatalf("there is no module %s", tt.module)
		}
		err := p.call("UANNA", runner.Invocation{Module: module, Args: modtest.Args(tt.args), Call: tt.call})
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %v, %+v: %v, want %q", tt.module, tt.args, tt.call, err, tt.want)
		}
	}
	yes := func(r *Rule) *bool { return r.Upgrade }
	if p.may("UANNA", yes, "to upgrade") == nil {
		t.Error("who may look may upgrade the agent")
	}
	if p.jobs("UANNA", wire.JobsQuery{Op: "list"}) != nil || p.jobs("UANNA", wire.JobsQuery{Op: "cancel"}) == nil {
		t.Error("who may look may end jobs, or not see them")
	}
	if p.job("UANNA", modules.JobQuery{Mode: "status"}) != nil || p.job("UANNA", modules.JobQuery{Mode: "cleanup"}) == nil {
		t.Error("who may look may remove what is kept of a job, or not ask for it")
	}
}
