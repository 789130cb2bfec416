package builtin

import (
	"context"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func TestGetentReadsEntries(t *testing.T) {
	h := &modtest.Host{Answers: map[string]modules.Output{
		"getent passwd root":     modtest.Answer("root:x:0:0::/root:/bin/sh\n"),
		"getent services":        modtest.Answer("echo  7/tcp\necho  7/udp\necho 4/ddp\nssh  22/tcp\n"),
		"getent hosts -s files":  modtest.Answer("127.0.0.1,localhost\n"),
		"getent passwd ghost":    {Rc: 2},
		"getent none":            {Rc: 1},
		"getent initgroups":      {Rc: 3},
		"getent hosts localhost": {Rc: 9},
	}}
	for _, c := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"database": "passwd", "key": "root"},
			`{"ansible_facts":{"getent_passwd":{"root":["x","0","0","","/root","/bin/sh"]}},"changed":false}`},
		{map[string]any{"database": "services"},
			`{"ansible_facts":{"getent_services":{"echo":[["7/tcp"],["7/udp"],["4/ddp"]],"ssh":["22/tcp"]}},"changed":false}`},
		{map[string]any{"database": "hosts", "service": "files", "split": ","},
			`{"ansible_facts":{"getent_hosts":{"127.0.0.1":["localhost"]}},"changed":false}`},
		{map[string]any{"database": "passwd", "key": "ghost"},
			`{"changed":false,"failed":true,"msg":"One or more supplied key could not be found in the database."}`},
		{map[string]any{"database": "passwd", "key": "ghost", "fail_key": false},
			`{"ansible_facts":{"getent_passwd":{"ghost":null}},"changed":false,"msg":"One or more supplied key could not be found in the database."}`},
		{map[string]any{"database": "none"}, `{"changed":false,"failed":true,"msg":"Missing arguments, or database unknown."}`},
		{map[string]any{"database": "initgroups"}, `{"changed":false,"failed":true,"msg":"Enumeration not supported on this database."}`},
		{map[string]any{"database": "hosts", "key": "localhost"}, `{"changed":false,"failed":true,"msg":"Unexpected failure!"}`},
		{map[string]any{"database": "hosts", "split": ""}, `{"changed":false,"failed":true,"msg":"empty separator"}`},
	} {
		if got := modtest.ResultJSON(t, Getent.Run(context.Background(), h.Env(t, "getent"), modtest.Args(c.args))); got != c.want {
			t.Errorf("%v gave\n%s, want\n%s", c.args, got, c.want)
		}
	}
}
