package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/upgrade"
	"hark/controller/internal/play/link"
	"hark/controller/internal/runs/rollout"
)

// upgradeJob replaces agents.
type upgradeJob struct {
	*app
	verbosity int
	broker    string
	forks     int
	binaries  []string
	stages    []string
	wait      time.Duration
	asJSON    bool
	results   []upgrade.Result
}

func newAgentsUpgradeCommand(a *app) *cobra.Command {
	j := &upgradeJob{app: a}
	cmd := &cobra.Command{
		Use: "upgrade", Short: "Replace agents by another version", Annotations: map[string]string{"args": "[name ...]"},
		Args: cobra.ArbitraryArgs,
		Long: "Replaces the agents whose names match (all without a name; * and ? may be used). Each agent pulls the new " +
			"program, checks its digest, lets it try itself, and takes it when it has nothing to do; when the new one does " +
			"not reach the broker within a minute it goes back to the old one by itself. A stage begins when the one before " +
			"it is through; a failure ends the upgrade.",
		Example: "  hark agents upgrade --percent 5,25,100\n" +
			"  hark agents upgrade 'web*' --agent-binary dist/hark-agent-linux-amd64",
	}
	fs := a.flags(cmd)
	fs.verbosity(&j.verbosity)
	fs.broker(&j.broker)
	fs.agentBinaries(&j.binaries)
	fs.List(&j.stages, "percent", "", "N,...", "the stages, as parts of the agents (default: 10,50,100)")
	fs.Number(&j.forks, "forks", "f", forksOfBootstrap, "FORKS", "how many agents to upgrade at once")
	fs.Span(&j.wait, "wait", 30*time.Minute, "DURATION", "for how long an agent may finish its current play")
	fs.json(&j.asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.begin(cmd, j.verbosity); err != nil {
			return err
		}
		return j.run(cmd.Context(), args)
	}
	return cmd
}

func (j *upgradeJob) run(ctx context.Context, patterns []string) error {
	staged, err := parseStages(project.Split(j.stages))
	if err != nil {
		return err
	}
	binaries, err := j.agentBinaries(j.binaries)
	if err != nil {
		return err
	}
	b, err := j.fleet.Dial(ctx, j.broker)
	if err != nil {
		return err
	}
	defer b.Close()
	agents, err := b.Present(ctx, patterns)
	if err != nil {
		return err
	}
	hub := link.New(link.Config{
		Run: link.NewID(), Operator: b.Operator, Broker: b.Transport, Roster: b.Roster,
		Asks: upgrade.Asks{Binaries: binaries}, Lease: time.Minute, Logger: j.logTo(),
	})
	defer hub.Close()
	cfg := upgrade.Config{
		Run: hub.Run(), Link: hub, Ping: &link.Pinger{Transport: b,
			Operator: b.Operator}, Binaries: binaries, Forks: j.forks, Wait: j.wait,
	}
	return j.through(ctx, cfg, agents, staged)
}

// through goes through the stages.
func (j *upgradeJob) through(ctx context.Context, cfg upgrade.Config, agents []roster.Agent,
	staged rollout.Stages) error {
	total, begun, good := len(agents), 0, true
	for i := range staged {
		upTo := staged.UpTo(i, total)
		if upTo <= begun || !good {
			continue
		}
		if !j.asJSON && len(staged) > 1 {
			fmt.Fprintf(j.term.Out, "stage %s: %d of %d agents\n", staged.Name(i), upTo-begun, total)
		}
		good = upgrade.Run(ctx, cfg, agents[begun:upTo], j.tell)
		begun = upTo
	}
	if j.asJSON {
		if err := j.term.PrintJSON(j.results); err != nil {
			return err
		}
	} else {
		j.sum(total)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !good:
		return &quietError{exitFailed}
	}
	return nil
}

func (j *upgradeJob) tell(r upgrade.Result) {
	j.results = append(j.results, r)
	switch {
	case j.asJSON:
	case r.Err != "":
		fmt.Fprintf(j.term.Out, "%s: failed: %s\n", r.Agent, r.Err)
	case r.Same:
		fmt.Fprintf(j.term.Out, "%s: ok (%s)\n", r.Agent, r.From)
	default:
		fmt.Fprintf(j.term.Out, "%s: upgraded from %s to %s\n", r.Agent, r.From, r.To)
	}
}

func (j *upgradeJob) sum(total int) {
	var upgraded, same, failed int
	for _, r := range j.results {
		switch {
		case r.Err != "":
			failed++
		case r.Same:
			same++
		default:
			upgraded++
		}
	}
	fmt.Fprintf(j.term.Out, "%d agents: %d upgraded, %d ok, %d failed, %d not begun\n", total, upgraded, same, failed,
		total-len(j.results))
}

// parseStages reads the stages: parts of the agents, with or without %, which grow.
func parseStages(words []string) (rollout.Stages, error) {
	if len(words) == 0 {
		words = []string{"10", "50", "100"}
	}
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = strings.TrimSuffix(w, "%") + "%"
	}
	out, err := rollout.Parse(strings.Join(parts, ","))
	if err != nil {
		return nil, &argparse.UsageError{Text: fmt.Sprintf("argument --percent: %v", err)}
	}
	return out, nil
}
