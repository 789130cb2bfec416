package posix

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

// changedMarker is what rsync prints before each change.
const changedMarker = "<<CHANGED>>"

// rsyncRun is a call that rsync itself does.
type rsyncRun struct {
	ctx  context.Context
	env  *modules.Env
	args synchronizeArgs
}

func (r *rsyncRun) run() (modules.Result, error) {
	line, err := r.line()
	if err != nil {
		return modules.Result{}, err
	}
	argv, err := modules.SplitCommand(line)
	if err != nil {
		return modules.Result{}, err
	}
	cmd := modules.Command{Argv: argv}
	if modules.Text(r.args.Password) != "" {
		cmd.Env = []string{"SSHPASS=" + *r.args.Password}
	}
	out, err := tool.Run(r.ctx, r.env, cmd)
	if err != nil {
		return modules.Result{}, err
	}
	if out.Rc != 0 {
		return modules.Result{}, tool.Fail(value.DictOf("rc", int64(out.Rc), "cmd", line), "%s", out.Stderr)
	}
	changed := strings.Contains(out.Stdout, changedMarker)
	if len(r.args.LinkDest) > 0 {
		// Every file is listed then; a point stands before those that stay as they are.
		changed = !strings.Contains(out.Stdout, changedMarker+".")
	}
	return synchronized(r.env, strings.ReplaceAll(out.Stdout, changedMarker, ""), changed, value.DictOf("cmd", line)), nil
}

// synchronized returns the result of a success.
func synchronized(env *modules.Env, out string, changed bool, data *value.Dict) modules.Result {
	res := modules.Result{Changed: changed, Msg: out, Data: data}
	res.Set("rc", int64(0))
	res.Set("stdout_lines", linesOf(out))
	if out == "" {
		res.Set("msg", "")
	}
	if env.Diff {
		res.Diff = []modules.Diff{{Raw: value.DictOf("prepared", out)}}
	}
	return res
}

// line returns the command line, word for word Ansible's.
func (r *rsyncRun) line() (string, error) {
	a := r.args
	src, dest := r.args.Src, r.args.Dest
	rsync := a.LocalRsync
	if !strings.Contains(rsync, "/") {
		var err error
		if rsync, err = tool.Find(r.env, rsync); err != nil {
			return "", err
		}
	}
	var words []string
	if modules.Text(a.Password) != "" {
		if r.env.LookPath("sshpass") == "" {
			return "", tool.Fail(nil, "to use rsync connection with passwords, you must install the sshpass program")
		}
		words = append(words, "sshpass", "-e")
	}
	words = append(append(words, rsync), r.options()...)
	if strings.HasPrefix(src, "rsync://") && strings.HasPrefix(dest, "rsync://") {
		return "", tool.Fail(value.DictOf("rc", int64(1)), "either src or dest must be a localhost")
	}
	shell, err := r.shell(src, dest)
	if err != nil {
		return "", err
	}
	words = append(words, shell...)
	if modules.Text(a.RsyncPath) != "" {
		words = append(words, "--rsync-path="+modules.QuoteWords([]string{*a.RsyncPath}))
	}
	if slices.Contains(a.RsyncOpts, "") {
		r.env.Warn("The empty string is present in rsync_opts which will cause rsync to transfer the current working " +
			"directory. If this is intended, " +
			"use \".\" instead to get rid of this warning. If this is unintended, check for problems in your playbook " +
			"leading to empty string in rsync_opts.")
	}
	words = append(words, a.RsyncOpts...)
	if a.Partial {
		words = append(words, "--partial")
	}
	links, err := r.linkDest(dest)
	if err != nil {
		return "", err
	}
	words = append(words, links...)
	words = append(words, "--out-format="+modules.QuoteWords([]string{changedMarker + "%i %n%L"}))
	for _, path := range []string{src, dest} {
		if !strings.Contains(path, "@") {
			path = expandHome(path, r.env)
		}
		words = append(words, modules.QuoteWords([]string{path}))
	}
	return strings.Join(words, " "), nil
}

// options returns those that arguments stand for, in Ansible's order.
func (r *rsyncRun) options() []string {
	a := r.args
	var words []string
	add := func(is bool, option ...string) {
		if is {
			words = append(words, option...)
		}
	}
	add(a.DelayUpdates, "--delay-updates", "-F")
	add(a.Compress, "--compress")
	add(a.RsyncTimeout != 0, fmt.Sprintf("--timeout=%d", a.RsyncTimeout))
	add(r.env.Check, "--dry-run")
	add(a.Delete, "--delete-after")
	add(a.ExistingOnly, "--existing")
	add(a.Checksum, "--checksum")
	add(a.CopyLinks, "--copy-links")
	add(a.Archive, "--archive")
	for _, o := range []struct {
		name string
		is   *bool
	}{{"recursive", a.Recursive}, {"links", a.Links}, {"perms", a.Perms}, {"times", a.Times}, {"owner", a.Owner},
		{"group", a.Group}} {
		add(a.Archive && o.is != nil && !*o.is, "--no-"+o.name)
		add(!a.Archive && o.is != nil && *o.is, "--"+o.name)
	}
	add(a.Dirs, "--dirs")
	return words
}

// shell returns the option for ssh, where one side is on another host and no option says how to reach it.
func (r *rsyncRun) shell(src, dest string) ([]string, error) {
	a := r.args
	daemon := strings.HasPrefix(src, "rsync://") || strings.HasPrefix(dest, "rsync://")
	given := slices.ContainsFunc(a.RsyncOpts, func(o string) bool { return strings.Contains(o, "--rsh") })
	if daemon || given || !strings.Contains(src+dest, ":") {
		return nil, nil
	}
	ssh, err := tool.Find(r.env, "ssh")
	if err != nil {
		return nil, err
	}
	words := []string{ssh}
	if !a.Multiplexing {
		words = append(words, "-S", "none")
	}
	if a.PrivateKey != nil {
		words = append(words, "-i", *a.PrivateKey)
	}
	if a.DestPort != nil {
		words = append(words, "-o", fmt.Sprintf("Port=%d", *a.DestPort))
	}
	if !a.VerifyHost {
		words = append(words, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null")
	}
	line := modules.QuoteWords(words)
	if modules.Text(a.SSHArgs) != "" {
		line += " " + *a.SSHArgs
	}
	return []string{"--rsh=" + modules.QuoteWords([]string{line})}, nil
}

// linkDest returns the options for hard links to what is there already.
func (r *rsyncRun) linkDest(dest string) ([]string, error) {
	if len(r.args.LinkDest) == 0 {
		return nil, nil
	}
	words := []string{"-H", "-vv"} // without words rsync takes a new hard link for no change
	above, err := filepath.Abs(filepath.Dir(dest))
	if strings.HasSuffix(dest, "/") {
		above, err = filepath.Abs(dest)
	}
	if err != nil {
		return nil, err
	}
	for _, dir := range r.args.LinkDest {
		path, err := filepath.Abs(expandHome(dir, r.env))
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(above, path) {
			return nil, tool.Fail(nil, "Hardlinking into a subdirectory of the source would cause recursion. %s and %s", above,
				dest)
		}
		words = append(words, "--link-dest="+path)
	}
	return words, nil
}

// expandHome replaces ~ at the beginning of a path by the home of the user.
func expandHome(path string, env *modules.Env) string {
	if path != "~" && !strings.HasPrefix(path, "~/") {
		return path
	}
	home := env.Getenv("HOME")
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	return home + path[1:]
}
