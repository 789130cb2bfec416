package builtin

import (
	"context"
	"strconv"
	"strings"

	"hark/modules"
)

// AsyncStatus tells how a background job stands.
var AsyncStatus = modules.Define(modules.AsyncStatus, "Obtain status of asynchronous task.", runAsyncStatus, modules.Is(modules.AsksForJobs),
	modules.WithResolve(func(ctx context.Context, env *modules.Env, args map[string]any) error {
		if _, err := modules.Decode[asyncStatusArgs](env.Name, args, modules.Rules{}); err != nil {
			return modules.ActionFail("", "%v", err)
		}
		dir, ok, err := env.Var(ctx, "ansible_async_dir")
		if err != nil {
			return err
		}
		args["_async_dir"] = defaultAsyncDir
		if ok {
			args["_async_dir"] = dir
		}
		return nil
	}),
	modules.With(func(m *modules.Module) {
		m.Examples = "- ansible.builtin.async_status: {jid: \"{{ job.ansible_job_id }}\"}\n  register: st\n  until: st.finished\n  retries: 30\n"
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
	query := map[string]any{"id": a.JID, "mode": a.Mode, "dir": ""}
	if usual := home + strings.TrimPrefix(defaultAsyncDir, "~"); a.Dir != usual {
		query["dir"] = a.Dir
	}
	status, err := env.Ask(ctx, "job", query)
	if err != nil {
		return modules.Result{}, err
	}
	file := a.Dir + "/" + a.JID
	data := map[string]any{"ansible_job_id": a.JID, "started": int64(0), "finished": int64(0), "stdout": "", "stderr": ""}
	if a.Mode == "cleanup" {
		data["erased"] = file
	} else {
		data["started"], data["results_file"] = int64(1), file
	}
	res := modules.Result{Plain: true, Data: data}
	for k, v := range status {
		switch k {
		case "changed":
			res.Changed = v == true
		case "failed":
			res.Failed = v == true
		default:
			data[k] = v
		}
	}
	if data["finished"], err = intOf(data["finished"]); err != nil {
		return modules.Result{}, err
	}
	data["started"], err = intOf(data["started"])
	return res, err
}

// intOf makes 0 and 1 of what says the same otherwise.
func intOf(v any) (any, error) {
	if b, err := modules.Bool(v); err == nil {
		if b {
			return int64(1), nil
		}
		return int64(0), nil
	}
	return strconv.ParseInt(modules.Str(v), 10, 64)
}
