package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hark/controller/internal/ansible/plugins"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/ansible/secrets"
	"hark/controller/internal/play"
	"hark/controller/internal/play/link"
	"hark/controller/internal/ui/view"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/inventory"
)

// run is a project that a command has opened, to play it or to look into it.
type run struct {
	*app
	*project.Project
	o         *project.Options
	callbacks *plugins.Callbacks // those in Python, nil if there are none
	id        string
	recording *recorder // nil where nothing is recorded
	far       *remoteOutput
	retryOf   string // the run that this one tries again
	// Where a run of playbooks can go on: point is set at its end, resumed where another one went on with this run. began
	// is when its files were read, bookDirs are the directories of its playbooks.
	point    *play.Checkpoint
	resumed  bool
	began    time.Time
	bookDirs []string
	driver   bool // this process was started to drive the run
	// noFleet is why the inventory of all agents could not be read.
	noFleet error
	// settle, if set, has the last word on how the run came out.
	settle func(error) error
}

// newRun returns a run that has no project yet. A driver's has the id that its command was told.
func newRun(a *app, o *project.Options) *run {
	p := &run{app: a, o: o, id: link.NewID()}
	if a.drive != nil {
		p.id = a.drive.run
	}
	p.far = newRemoteOutput(p)
	return p
}

// open gathers the project. The directory is the playbook's, where group_vars and host_vars may lie.
func (a *app) open(ctx context.Context, o *project.Options, dir string) (_ *run, err error) {
	p := newRun(a, o)
	kept, err := a.keeper().Vault(ctx, secrets.Need{IDs: o.Vault.IDs, Files: o.Vault.Files, Ask: o.Vault.Ask})
	if err != nil {
		return nil, err
	}
	p.Project, err = project.Open(ctx, project.Config{
		Effective: project.Effective{Settings: a.cfg,
			Options: o}, Display: a.display, Secrets: kept, Dir: dir, Level: levelOf(a),
		Agents: p.agentHosts, Warn: p.warnOf,
		Facts: func(of *project.Project) func(string) *value.Dict { return keptFacts(p, of) },
	})
	if err == nil && p.noFleet != nil {
		return p, &codedError{exitSyntax,
			fmt.Errorf("the inventory hark: cannot be read, so it is not known which hosts there are: %w", p.noFleet)}
	}
	if err == nil && p.Level.Has(dialect.ErrorOrigins) {
		o.Origin = func(task string, s view.Spot) string { return project.Origin(p.Loader, p.Extra, task, s) }
	}
	return p, err
}

// ownAgents makes all agents that are there the inventory of hark's own commands where there is no other and there is
// a broker. Ansible's names know nothing of agents.
func ownAgents(a *app, o *project.Options) {
	if a.name != "hark" || len(o.Inventory.Sources) > 0 || a.cfg.IsSet("DEFAULT_HOST_LIST") || o.Ephemeral ||
		o.Broker == overSSH {
		return
	}
	if slices.ContainsFunc(a.cfg.List("DEFAULT_HOST_LIST"), project.Exists) {
		return
	}
	if _, err := a.fleet.Access(o.Broker); err == nil {
		o.Inventory.Sources = []string{inventory.AgentsSource}
	}
}
