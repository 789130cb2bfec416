package runner

import (
	"testing"

	"hark/modules/py/value"
	"hark/modules/result"
)

func TestJobsThatTookTooLongTellTheirStateInBools(t *testing.T) {
	last := value.NewDict()
	last.Set("started", value.Int(1))
	last.Set("finished", value.Int(0))
	last.Set("invocation", value.NewDict())
	res := result.New()
	res.Set("async_result", last)
	jobState(res)
	if got := value.PrintedRepr(res.Dict); got != "{'async_result': {'started': True, 'finished': False}}" {
		t.Errorf("got %s", got)
	}
	if _, kept := last.Get("invocation"); !kept {
		t.Error("the job's own result was changed")
	}
}

func TestDiffOfATextNamesItsDestination(t *testing.T) {
	for header, want := range map[string]string{
		"/root/.ansible/tmp/ansible-local-8800lqtz2mr6/tmpofgg5sol":         "/etc/motd",
		"/root/.ansible/tmp/ansible-local-8800lqtz2mr6/tmpofgg5sol/conf.j2": "/root/.ansible/tmp/ansible-local-8800lqtz2mr6/tmpofgg5sol/conf.j2",
		"/srv/files/motd": "/srv/files/motd",
	} {
		diff, args := value.NewDict(), value.NewDict()
		diff.Set("after_header", value.Str(header))
		args.Set("dest", value.Str("/etc/motd"))
		res := result.New()
		res.Set("diff", value.NewList(diff))
		titled(res, args)
		if got, _ := diff.Get("after_header"); value.Printed(got) != want {
			t.Errorf("%s: got %s", header, value.Printed(got))
		}
	}
}
