package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/runs/origin"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
)

// retryFlag is the flag in which hark runs retry names the run that is tried again.
const retryFlag = "retry-of"

// runsRetry is one call of hark runs retry.
type runsRetry struct {
	*app
	unreachable, goOn, dry, asJSON bool
	more                           []string // options for the run
}

func (j *runsRetry) command() *cobra.Command {
	cmd := &cobra.Command{
		Use: "retry", Short: "Run the same command on the hosts that failed or were not reached",
		Annotations: map[string]string{"args": "run [-- option ...]"},
		Long: "Runs the command of a run again, in its directory and limited to the hosts that failed or were not reached. " +
			"What follows -- is added to the command;\n" +
			"values of -e are not kept, so they are given again there. With --resume the run goes on at the task at " +
			"which each host failed,\nwith the variables of then, if nothing has changed.",
		Example: "  hark runs retry last\n  hark runs retry last --resume\n  hark runs retry k3f9 -- -e db_password=...",
	}
	fs := ofRuns(j.app, cmd, 1, 1, func(ctx context.Context, runs []record.Entry) error {
		return j.retry(ctx, &runs[0])
	})
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if err := argparse.CheckExclusive(cmd); err != nil {
			return err
		}
		if at := cmd.ArgsLenAtDash(); at >= 0 {
			words, j.more = words[:at], words[at:]
		}
		return run(cmd, words)
	}
	fs.Toggle(&j.unreachable, "unreachable", "", false, "only the hosts that were not reached")
	fs.Toggle(&j.goOn, resumeFlag, "", false, "go on at the task at which each host failed or was lost")
	fs.Exclusive("unreachable", resumeFlag)
	fs.Toggle(&j.dry, "print", "", false, "print the command and do not run it")
	fs.Toggle(&j.asJSON, "json", "", false, "with --print: print it as JSON")
	return cmd
}

func (j *runsRetry) retry(ctx context.Context, e *record.Entry) error {
	if err := here(e); err != nil {
		return err
	}
	if e.State == record.Running {
		return ansibleerror.Errorf("run %s is still under way", e.Head.Run)
	}
	if j.goOn {
		return j.resume(ctx, e)
	}
	if e.Foot == nil {
		return ansibleerror.Errorf("run %s was lost: which hosts failed is not known", e.Head.Run)
	}
	hosts := e.Foot.Names(record.StateUnreachable)
	if !j.unreachable {
		hosts = append(e.Foot.Names(record.StateFailed), hosts...)
	}
	if len(hosts) == 0 {
		return ansibleerror.Errorf("no host of run %s failed or was not reached", e.Head.Run)
	}
	args, err := j.again(e, hosts)
	if err != nil {
		return err
	}
	if j.dry && j.asJSON {
		return j.term.PrintJSON(map[string]any{"dir": e.Head.Dir, "command": args, "hosts": hosts})
	}
	j.display.PrintErr(view.NoColor, fmt.Sprintf("%s of run %s: %s", hostCount(len(hosts)), e.Head.Run,
		strings.Join(quoted(args), " ")))
	if j.dry {
		return nil
	}
	return j.become(e, args)
}

// again returns the command line of the retry, limited to hosts unless they are nil.
func (j *runsRetry) again(e *record.Entry, hosts []string) ([]string, error) {
	limit := strings.Join(hosts, ",")
	if slices.ContainsFunc(hosts, func(h string) bool { return strings.ContainsAny(h, ",:!&*?[]~@ ") }) ||
		len(limit) > 32<<10 {
		path, err := runStore(j.app).Limit(e.Head.Run, hosts)
		if err != nil {
			return nil, err
		}
		limit = "@" + path
	}
	given := func(names ...string) bool {
		return slices.ContainsFunc(j.more, func(w string) bool {
			return slices.ContainsFunc(names, func(n string) bool {
				return w == n || len(n) > 2 && strings.HasPrefix(w, n+"=") || len(n) == 2 && strings.HasPrefix(w, n) &&
					!strings.HasPrefix(w, "--")
			})
		})
	}
	var args, rest []string
	line := e.Head.Line
	for i := 0; i < len(line); i++ {
		switch w := line[i]; {
		case i+1 < len(line) && w == "-l" && hosts != nil:
			i++
		case i+1 < len(line) && w == "-e" && strings.Contains(line[i+1], origin.Hidden):
			if !given("-e", "--extra-vars") {
				return nil, ansibleerror.Errorf("run %s was given values that are not kept: hark runs retry %s -- -e '%s'",
					e.Head.Run, e.Head.Run, line[i+1])
			}
			i++
		case i+1 < len(line) && w == "-a" && strings.Contains(line[i+1], origin.Hidden):
			if !given("-a", "--args") {
				return nil, ansibleerror.Errorf("run %s was given arguments that are not kept: hark runs retry %s -- -a '%s'",
					e.Head.Run, e.Head.Run, line[i+1])
			}
			i++
		default:
			rest = append(rest, w)
		}
	}
	words := 1
	if rest[0] == "hark" {
		words = 2
	}
	args = append(args, rest[:words]...)
	if hosts != nil {
		args = append(args, "--limit", limit)
	}
	args = append(args, j.more...)
	return append(args, rest[words:]...), nil
}

// become runs the command in place of this process, with hidden flags of hark's own.
func (j *runsRetry) become(e *record.Entry, args []string, flags ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Chdir(e.Head.Dir); err != nil {
		return fmt.Errorf("cannot run where run %s did: %w", e.Head.Run, err)
	}
	words := 1
	if args[0] == "hark" {
		words = 2
	}
	args = slices.Insert(slices.Clone(args), words, append(flags, "--"+retryFlag+"="+e.Head.Run)...)
	env := os.Environ()
	if e.Head.Level != "" { // --level among the arguments goes before it
		env = append(env, "HARK_ANSIBLE="+e.Head.Level)
	}
	return fmt.Errorf("cannot run %s again: %w", e.Head.Run, unix.Exec(self, args, env))
}

// quoted are words as a shell reads them.
func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\$&|;<>()*?[]{}!#~`") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return out
}

// retryOf declares the flag that names the run that is tried again.
func (f flags) retryOf(p *string) {
	f.Text(p, retryFlag, "", "", "RUN", "the run that this one tries again")
	f.Lookup(retryFlag).Hidden = true
}
