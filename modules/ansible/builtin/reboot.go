package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/action"
	"hark/modules/py/value"
)

// Reboot is ansible.builtin.reboot. It runs beside the session, where that outlives the host, and speaks to the
// host's agent as long as there is one.
var Reboot = modules.Define("ansible.builtin.reboot", "Reboot a machine", runReboot, modules.UsesItsHost,
	modules.Is(modules.RestartsHost|modules.StartsNoPython|modules.IsAction),
	modules.With(func(m *modules.Module) {
		m.AnyArgs = true
		m.Examples = "- ansible.builtin.reboot:\n- ansible.builtin.reboot: {reboot_timeout: 3600, msg: New kernel}\n" +
			"- ansible.builtin.reboot: {reboot_command: systemctl reboot, test_command: systemctl is-active nginx}\n"
		m.Returns = []modules.Return{
			{Name: "rebooted", Type: "bool", When: "always", Doc: "Whether the host was told to restart, and did."},
			{Name: "elapsed", Type: "int", When: "always", Doc: "Seconds from the command until the host was usable again."},
		}
	}), modules.Programs("boot_time_command", "reboot_command", "test_command", "search_paths"))

type rebootArgs struct {
	BootTimeCommand value.Value `arg:"boot_time_command" doc:"Prints what is another text after each start; the kernel's boot id by itself."`
	ConnectTimeout  value.Value `arg:"connect_timeout" doc:"Seconds for one attempt to hear of the host; 10 by itself."`
	Msg             value.Value `arg:"msg" doc:"What users who are logged in are told."`
	PostDelay       value.Value `arg:"post_reboot_delay" doc:"Seconds to wait before the host is asked for."`
	PreDelay        value.Value `arg:"pre_reboot_delay" doc:"Seconds before the restart, in whole minutes."`
	Command         value.Value `arg:"reboot_command" doc:"The command, instead of shutdown -r."`
	Timeout         value.Value `arg:"reboot_timeout" doc:"Seconds to wait for the restart, and again for the test; 600 by itself."`
	SearchPaths     value.Value `arg:"search_paths" doc:"Directories to look in for the command."`
	TestCommand     value.Value `arg:"test_command" doc:"Succeeds when the host can be used; whoami by itself."`
	Extra           *value.Dict `arg:"*"`
}

// restart is one restart of the host.
type restart struct {
	ctx  context.Context
	env  *modules.Env
	args rebootArgs
	// between is the time from one look to the next.
	between time.Duration
	began   time.Time
	timeout time.Duration
	// patience is how long one call to the host may take while it may be away.
	patience time.Duration
}

func runReboot(ctx context.Context, env *modules.Env, a rebootArgs) (modules.Result, error) {
	local, err := env.Asks.Local(ctx)
	if err != nil {
		return modules.Result{}, err
	}
	none := value.DictOf("elapsed", int64(0), "rebooted", false)
	if local {
		return modules.Result{Failed: true,
			Msg: fmt.Sprintf("Running %s with local connection would reboot the control node.", env.Name), Data: none}, nil
	}
	if env.Check {
		return modules.Result{Changed: true, Data: value.DictOf("elapsed", int64(0), "rebooted", true)}, nil
	}
	if err := action.ValidOptions(env, a.Extra); err != nil {
		return modules.Result{}, err
	}
	r := &restart{ctx: ctx, env: env, args: a, between: time.Second}
	return r.run()
}

func (r *restart) run() (modules.Result, error) {
	var err error
	if r.timeout, err = seconds(r.args.Timeout, 600*time.Second); err != nil {
		return modules.Result{}, err
	}
	if r.patience, err = seconds(r.args.ConnectTimeout, 10*time.Second); err != nil {
		return modules.Result{}, err
	}
	post, err := seconds(r.args.PostDelay, 0)
	if err != nil {
		return modules.Result{}, err
	}
	command, err := r.command()
	if err != nil {
		return modules.Result{}, err
	}
	before, err := r.bootTime(r.ctx)
	if err != nil {
		return modules.Result{Failed: true, Msg: err.Error(), Data: value.DictOf("reboot", false)}, nil
	}
	res, err := r.start(command)
	if err != nil || res.Failed {
		return res, err
	}
	if err := waitOut(r.ctx, post); err != nil {
		return modules.Result{}, err
	}
	return r.await(before)
}

// seconds reads a number of seconds; negative ones count as none.
func seconds(v value.Value, otherwise time.Duration) (time.Duration, error) {
	if v == nil {
		return otherwise, nil
	}
	n, err := action.Int(v)
	if err != nil {
		return 0, modules.Raise("%v", err)
	}
	return time.Duration(max(0, n)) * time.Second, nil
}

// command returns the whole command line of the restart.
func (r *restart) command() (string, error) {
	program, rest := "shutdown", ""
	if r.args.Command != nil {
		given, ok := value.Text(r.args.Command)
		if !ok {
			return "", modules.Raise(
				"Invalid value given for 'reboot_command': '%s' is not a string and conversion is not allowed.",
				modules.Str(r.args.Command))
		}
		program, rest, _ = strings.Cut(given, " ")
	} else {
		usual, arguments, err := r.usual()
		if err != nil {
			return "", err
		}
		program, rest = usual, arguments
	}
	if !strings.HasPrefix(program, "/") {
		path, err := r.find(program)
		if err != nil {
			return "", err
		}
		program = path
	}
	return program + " " + rest, nil
}

// usual returns how the host's distribution is restarted.
func (r *restart) usual() (program, arguments string, err error) {
	res, err := r.call("ansible.builtin.setup", value.DictOf("gather_subset", "min"))
	if err != nil {
		return "", "", err
	}
	found, _ := res.Get("ansible_facts")
	facts, _ := found.(*value.Dict)
	distribution, _ := facts.Get("ansible_distribution")
	name, ok := value.Text(distribution)
	if !ok {
		return "", "", modules.Raise(`Failed to get distribution information. Missing "ansible_distribution" in output.`)
	}
	delay, err := seconds(r.args.PreDelay, 0)
	if err != nil {
		return "", "", err
	}
	msg := "Reboot initiated by Ansible"
	if r.args.Msg != nil {
		msg = modules.Str(r.args.Msg)
	}
	switch strings.ToLower(name) {
	case "alpine":
		return "reboot", "", nil
	case "void":
		return "shutdown", fmt.Sprintf(`-r +%d "%s"`, int(delay.Minutes()), msg), nil
	}
	return "shutdown", fmt.Sprintf(`-r %d "%s"`, int(delay.Minutes()), msg), nil
}

// find looks for a program on the host.
func (r *restart) find(program string) (string, error) {
	paths := []string{"/sbin", "/bin", "/usr/sbin", "/usr/bin", "/usr/local/sbin"}
	if given := r.args.SearchPaths; given != nil {
		items, isList := value.Items(given)
		text, isText := value.Text(given)
		switch paths = nil; {
		case isText:
			paths = strings.Split(text, ",")
		case !isList:
			return "", modules.Raise("'search_paths' must be a string or flat list of strings, got %s", modules.Str(given))
		}
		for _, dir := range items {
			paths = append(paths, modules.Str(dir))
		}
	}
	res, err := r.call("ansible.builtin.find",
		value.DictOf("paths", paths, "patterns", []string{program}, "file_type", "any"))
	if err != nil {
		return "", err
	}
	found, _ := res.Get("files")
	files, _ := value.Items(found)
	for _, f := range files {
		if entry, ok := f.(*value.Dict); ok {
			return entry.Text("path"), nil
		}
	}
	return "", modules.Raise(`Unable to find command "%s" in search paths: %s`, program, modules.Repr(paths))
}

// call runs a module on the host while that is certainly there.
func (r *restart) call(module string, args *value.Dict) (*value.Dict, error) {
	res, err := r.env.Asks.Host(r.ctx, module, args)
	if err != nil {
		return nil, err
	}
	if res.True("unreachable") {
		return nil, &modules.Ended{Result: modules.Result{Failed: true, Msg: res.Text("msg"),
			Data: value.DictOf("unreachable", true)}}
	}
	return res, nil
}

// errAway means that the host did not answer.
var errAway = errors.New("the host is not there")

// shell runs a line on the host, which may be away.
func (r *restart) shell(ctx context.Context, line string) (rc, stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	res, err := r.env.Asks.Host(ctx, "ansible.builtin.shell", value.DictOf("_raw_params", line))
	switch {
	case r.ctx.Err() != nil:
		return "", "", "", r.ctx.Err()
	case err != nil && ctx.Err() != nil, err == nil && res.True("unreachable"):
		return "", "", "", errAway
	case err != nil:
		return "", "", "", err
	}
	code, _ := res.Get("rc")
	return modules.Str(value.OrNone(code)), res.Text("stdout"), res.Text("stderr"), nil
}

// bootTime returns a text that every start of the host changes.
func (r *restart) bootTime(ctx context.Context) (string, error) {
	line := "cat /proc/sys/kernel/random/boot_id"
	if given := r.args.BootTimeCommand; given != nil && modules.Str(given) != "" {
		text, ok := value.Text(given)
		if !ok {
			//lint:ignore ST1005 the words that users see
			return "", fmt.Errorf(
				"Invalid value given for 'boot_time_command': '%s' is not a string and conversion is not allowed.",
				modules.Str(given))
		}
		line = text
	}
	rc, stdout, stderr, err := r.shell(ctx, line)
	if err == nil && rc != "0" {
		err = fmt.Errorf("%s: failed to get host boot time info, rc: %s, stdout: %s, stderr: %s", r.env.Name, rc, stdout,
			stderr)
	}
	return strings.TrimSpace(stdout), err
}

// start returns the command. A host that goes before it has answered has obeyed.
func (r *restart) start(command string) (modules.Result, error) {
	rc, stdout, stderr, err := r.shell(r.ctx, command)
	r.began = time.Now()
	switch {
	case errors.Is(err, errAway):
		return modules.Result{}, nil
	case err != nil:
		return modules.Result{}, err
	case rc != "0":
		return modules.Result{Failed: true, Data: r.data(false),
			Msg: fmt.Sprintf("Reboot command failed. Error was: '%s, %s'", strings.TrimSpace(stdout),
				strings.TrimSpace(stderr))}, nil
	}
	return modules.Result{}, nil
}

func (r *restart) data(rebooted bool) *value.Dict {
	return value.DictOf("rebooted", rebooted, "elapsed", int64(time.Since(r.began).Seconds()))
}

// await waits until the host has started anew and can be used.
func (r *restart) await(before string) (modules.Result, error) {
	test := "whoami"
	if r.args.TestCommand != nil {
		test = modules.Str(r.args.TestCommand)
	}
	for _, stage := range []struct {
		what string
		done func() bool
	}{
		{"last boot time check", func() bool {
			now, err := r.bootTime(r.ctx)
			return err == nil && now != "" && now != before
		}},
		{"post-reboot test command", func() bool {
			rc, _, _, err := r.shell(r.ctx, test)
			return err == nil && rc == "0"
		}},
	} {
		deadline := time.Now().Add(r.timeout)
		for ok := false; !ok; {
			if !time.Now().Before(deadline) {
				return modules.Result{Failed: true, Data: r.data(true),
					Msg: fmt.Sprintf("Timed out waiting for %s (timeout=%d)", stage.what, int(r.timeout.Seconds()))}, nil
			}
			if ok = stage.done(); ok {
				break
			}
			if err := waitOut(r.ctx, r.between); err != nil {
				return modules.Result{}, err
			}
		}
	}
	return modules.Result{Changed: true, Data: r.data(true)}, nil
}

func waitOut(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
