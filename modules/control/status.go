package control

import (
	"context"
	"strconv"
	"strings"
	"time"

	"hark/modules"
)

// Ping tells that the host can be reached and run modules.
var Ping = modules.Define("ansible.builtin.ping", "Try to connect to host, verify a usable python and return pong on success.", runPing,
	modules.With(func(m *modules.Module) {
		m.Examples = "- ansible.builtin.ping:\n"
		m.Returns = []modules.Return{{Name: "ping", Type: "str", When: "success", Doc: "The data."}}
	}))

type pingArgs struct {
	Data string `arg:"data,default=pong" doc:"What to return; crash raises an error."`
}

func runPing(_ context.Context, _ *modules.Env, a pingArgs) (modules.Result, error) {
	if a.Data == "crash" {
		return modules.Result{Failed: true, Msg: "MODULE FAILURE\nSee stdout/stderr for the exact error", Data: map[string]any{
			"module_stdout": "", "module_stderr": "Exception: boom\n", "exception": "Exception: boom\n", "rc": int64(1),
		}}, nil
	}
	return modules.Result{Data: map[string]any{"ping": a.Data}}, nil
}

// WaitForConnection waits until the host can be used.
var WaitForConnection = modules.Define("ansible.builtin.wait_for_connection", "Waits until remote system is reachable/usable.", runWaitForConnection,
	modules.InSession,
	modules.With(func(m *modules.Module) {
		m.AnyArgs = true
		m.Examples = "- ansible.builtin.wait_for_connection: {delay: 5}\n"
		m.Returns = []modules.Return{{Name: "elapsed", Type: "int", When: "always", Doc: "Seconds waited."}}
	}))

type waitForConnectionArgs struct {
	ConnectTimeout any            `arg:"connect_timeout" doc:"Seconds for one attempt."`
	Delay          any            `arg:"delay" doc:"Seconds to wait first."`
	Sleep          any            `arg:"sleep" doc:"Seconds between attempts."`
	Timeout        any            `arg:"timeout" doc:"Seconds for all."`
	Extra          map[string]any `arg:"*"`
}

func runWaitForConnection(ctx context.Context, env *modules.Env, a waitForConnectionArgs) (modules.Result, error) {
	if env.Check {
		return modules.Result{Skipped: true}, nil
	}
	if err := validOptions(env, a.Extra); err != nil {
		return modules.Result{}, err
	}
	var d waitDurations
	for _, x := range []struct {
		given any
		into  *time.Duration
		or    int
	}{{a.ConnectTimeout, new(time.Duration), 0}, {a.Delay, &d.delay, 0}, {a.Sleep, &d.sleep, 1}, {a.Timeout, &d.timeout, 600}} {
		n := x.or
		if x.given != nil {
			var err error
			if n, err = pyInt(x.given); err != nil {
				return modules.Result{}, modules.Raise("%v", err)
			}
		}
		*x.into = time.Duration(n) * time.Second
	}
	return d.wait(ctx, env)
}

// waitDurations are how long to wait for a host: before the first look, between looks, and for all looks.
type waitDurations struct{ delay, sleep, timeout time.Duration }

func (d waitDurations) wait(ctx context.Context, env *modules.Env) (modules.Result, error) {
	start := time.Now()
	if err := pauseFor(ctx, d.delay); err != nil {
		return modules.Result{}, err
	}
	elapsed := func() map[string]any { return map[string]any{"elapsed": int64(time.Since(start).Seconds())} }
	var why any
	for began := time.Now(); time.Since(began) < d.timeout; {
		got, err := env.Ask(ctx, "reached", nil)
		if err != nil {
			return modules.Result{}, err
		}
		if got["ok"] == true {
			return modules.Result{Data: elapsed()}, nil
		}
		why = got["msg"]
		if err := pauseFor(ctx, d.sleep); err != nil {
			return modules.Result{}, err
		}
	}
	return modules.Result{Failed: true, Msg: "timed out waiting for ping module test: " + modules.Str(why), Data: elapsed()}, nil
}

func pauseFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// AsyncStatus tells how a background job stands.
var AsyncStatus = modules.Define("ansible.builtin.async_status", "Obtain status of asynchronous task.", runAsyncStatus,
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
