package builtin

import (
	"context"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/py/value"
)

var decodeAsyncStatus = modules.Decoder[asyncStatusArgs](modules.Rules{})

// AsyncStatus describes how a background job stands.
var AsyncStatus = modules.Define(modules.AsyncStatus, "Obtain status of asynchronous task.", runAsyncStatus,
	modules.Is(modules.ReadsInCheck), modules.Is(modules.AsksForJobs),
	modules.WithResolve(func(ctx context.Context, env *modules.Env, args *value.Dict) error {
		if _, err := decodeAsyncStatus(env.Name, args, modules.Reading{Release: env.Release}); err != nil {
			return modules.ActionFail("", "%v", err)
		}
		dir, ok, err := env.Option(ctx, "ansible_async_dir")
		if err != nil {
			return err
		}
		args.Put("_async_dir", defaultAsyncDir)
		if ok {
			args.Put("_async_dir", dir)
		}
		return nil
	}),
	modules.With(func(m *modules.Module) {
		m.Examples = "- ansible.builtin.async_status: {jid: \"{{ job.ansible_job_id }}\"}\n  register: st\n" +
			"  until: st.finished\n  retries: 30\n"
		m.Returns = []modules.Return{
			{Name: "ansible_job_id", Type: "str", When: "always", Doc: "The job."},
			{Name: "started", Type: "int", When: "always", Doc: "1 if it was started."},
			{Name: "finished", Type: "int", When: "always", Doc: "1 when it has ended; the module's own keys are there then."},
			{Name: "erased", Type: "str", When: "cleanup", Doc: "The file that was removed."},
		}
	}))

type asyncStatusArgs struct {
	JID  string `arg:"jid,required" doc:"The job: ansible_job_id of what started it."`
	Mode string `arg:"mode,default=status,choices=status|cleanup" doc:"Ask for it, or forget it."`
	Dir  string `arg:"_async_dir,type=path,default=~/.ansible_async" doc:"Where Ansible would keep it."`
}

// defaultAsyncDir is where Ansible keeps jobs if nobody says otherwise.
const defaultAsyncDir = "~/.ansible_async"

func runAsyncStatus(ctx context.Context, env *modules.Env, a asyncStatusArgs) (modules.Result, error) {
	home := strings.TrimRight(env.Getenv("HOME"), "/")
	query := modules.JobQuery{ID: a.JID, Mode: a.Mode}
	if usual := home + strings.TrimPrefix(defaultAsyncDir, "~"); a.Dir != usual {
		query.Dir = a.Dir
	}
	status, err := env.Asks.Job(ctx, query)
	if err != nil {
		return modules.Result{}, err
	}
	file := a.Dir + "/" + a.JID
	data := value.DictOf("started", int64(0), "finished", int64(0), "stdout", "", "stderr", "", "ansible_job_id", a.JID)
	for _, stream := range []string{"stdout", "stderr"} {
		if v, told := status.Get(stream); told {
			data.Put(stream, v)
		}
	}
	if a.Mode == "cleanup" {
		data.Put("erased", file)
	} else {
		data.Put("started", int64(1))
		data.Put("results_file", file)
	}
	data.Put("changed", modules.Here)
	status.Each(func(k, v value.Value) bool {
		name, _ := value.Text(k)
		return name == "changed" || name == "failed" || data.SetKey(k, v)
	})
	res := modules.Result{Plain: true, Data: data, Changed: status.True("changed"), Failed: status.True("failed")}
	for _, name := range []string{"finished", "started"} {
		v, _ := data.Get(name)
		n, err := intOf(v)
		if err != nil {
			return modules.Result{}, err
		}
		data.Put(name, n)
	}
	return res, nil
}

// intOf makes 0 and 1 of what says the same otherwise.
func intOf(v value.Value) (int64, error) {
	if b, ok := value.AsBool(v); ok {
		if b {
			return 1, nil
		}
		return 0, nil
	}
	return strconv.ParseInt(value.Printed(v), 10, 64)
}
