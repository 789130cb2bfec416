package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hark/agent/version"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/play"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/origin"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
	"hark/modules"
	"hark/playbook/inventory"
)

// recorder is the record of the run that a command begins.
type recorder struct {
	*record.Recorder
	head   record.Head
	store  *files.Store
	keep   record.Keep
	failed func(error)
	dirty  func() *bool
	pruned chan struct{} // closed when old records are gone
}

// runStore returns where the records of this machine are.
func runStore(a *app) *files.Store {
	return &files.Store{Dir: filepath.Join(a.fleet.Home, "runs")}
}

// record makes ready to record the run of a command, before its views are made: they take their time from it. The
// screen is the name of the view; tally is what a broadcast expects, else nil.
func (p *run) record(cmd *cobra.Command, screen string, hosts []*inventory.Host, tally *record.Tally) error {
	keep, err := keepSetting(p.app)
	if err == nil {
		_, err = notifyTargets(p.app)
	}
	if err != nil || p.cfg.Text("HARK_RECORD") == "off" {
		return err
	}
	h := record.Head{
		Run: p.id, Who: operatorKey(p.app), Dir: p.cfg.WorkingDir(), Line: p.recordedLine(cmd),
		Commit:    origin.Commit(baseDir(p.app, p.o)),
		Inventory: origin.Sources(p.Sources()), Hosts: len(hosts), Groups: p.groupsOf(hosts), Check: p.o.Mode.Check,
		Hark: version.String(), Level: p.Level.String(), RetryOf: p.retryOf,
		Screen: p.recordedScreen(screen, tally),
	}
	if p.drive != nil {
		h.Duty = p.drive.duty
	}
	h.Name, h.From = origin.Person(p.cfg.Getenv)
	store := runStore(p.app)
	var once sync.Once
	failed := func(err error) { once.Do(func() { p.display.Warn(err.Error()) }) }
	sink := store.Sink()
	if p.drive != nil {
		sink = &heldSink{sink: sink, clean: p.drive.clean, kept: p.noted}
	}
	w := record.NewWriter(record.WriterOptions{Now: time.Now, Failed: failed, Hidden: p.display.Hidden()}, sink)
	r := record.NewRecorder(w, h, record.RecorderOptions{
		Args:   h.Screen.Options.ShowArgs || slices.Contains(p.cfg.List("CALLBACKS_ENABLED"), "junit"),
		Starts: h.Screen.Options.HostStarts, Facts: !p.BriefResults() || p.o.Verbosity > 0, Brief: p.BriefResults() &&
			p.o.Verbosity == 0,
		Origin: p.o.Origin,
	})
	p.recording = &recorder{Recorder: r, head: h, store: store, keep: keep, failed: failed, pruned: make(chan struct{})}
	p.screens.Now = r.Now
	return nil
}

// groupsOf returns the groups of hosts, each with its hosts, for the head of a record. Heads are what lists are made
// of, so they stay small.
func (p *run) groupsOf(hosts []*inventory.Host) map[string][]string {
	const most = 2 << 10
	groups, size := map[string][]string{}, 0
	for _, h := range hosts {
		for _, name := range p.Inventory.GroupNames(h) {
			groups[name] = append(groups[name], h.Name)
		}
	}
	delete(groups, "ungrouped")
	for name, members := range groups {
		groups[name] = record.Fold(members)
		size += len(name)
		for _, text := range groups[name] {
			size += len(text) + 1
		}
	}
	if size > most || len(groups) == 0 {
		return nil
	}
	return groups
}

// operatorKey returns the public key of the operator, "" where there is none yet.
func operatorKey(a *app) string {
	id, err := trust.Load(a.cfg.Text("HARK_OPERATOR_KEY"))
	if err != nil {
		return ""
	}
	return id.Key
}

// recordedScreen returns how the run is shown.
func (p *run) recordedScreen(screen string, tally *record.Tally) record.Screen {
	o := p.screens.Options(shownOf(p.o))
	o.Flags = slices.Clone(o.Flags)
	for i, f := range o.Flags {
		if f.Name == "extra_vars" {
			o.Flags[i].Value = pyTuple(hiddenExtra(p.o.Extra))
		}
	}
	s := record.Screen{
		View: screen, OtherViews: p.cfg.List("CALLBACKS_ENABLED"), Verbosity: p.o.Verbosity, Options: o, Tally: tally,
		NoDeprecations: !p.cfg.Bool("DEPRECATION_WARNINGS"), VerboseToStderr: p.cfg.Bool("VERBOSE_TO_STDERR"),
		Tagged: p.screens.Tagged,
	}
	if !known(screen) && tally == nil {
		s.View, s.Foreign = "default", true
	}
	return s
}

func hiddenExtra(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = origin.Extra(text)
	}
	return out
}

// recordedLine returns the command line without what is secret in it. Playbooks and patterns come first, so that lists
// show them when the line is cut. Options have their short names, if they have one.
func (p *run) recordedLine(cmd *cobra.Command) []string {
	out := []string{p.name}
	if p.name == "hark" {
		out = append(out, cmd.Name())
	}
	out = append(out, cmd.Flags().Args()...)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == detachFlag || f.Name == driverFlag || f.Name == retryFlag ||
			f.Name == resumeFlag {
			return
		}
		name := "--" + f.Name // flags that count have a short name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand
		}
		for _, v := range flagValues(f) {
			switch f.Value.Type() {
			case "bool":
				out = append(out, "--"+f.Name+map[bool]string{false: "=" + v}[v == "true"])
			case "count":
				out = append(out, "-"+strings.Repeat(f.Shorthand, p.o.Verbosity))
			default:
				out = append(out, name, p.hidden(f.Name, v))
			}
		}
	})
	return out
}

// flagValues returns the values of a flag, one by one.
func flagValues(f *pflag.Flag) []string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// hidden returns the value of a flag as a record has it.
func (p *run) hidden(flag, v string) string {
	switch flag {
	case "extra-vars":
		return origin.Extra(v)
	case "args":
		return origin.Args(v, p.secretArgument)
	case "broker":
		return origin.URLs(v)
	}
	return v
}

// secretArgument reports whether any module keeps the values of an argument to itself.
func (p *run) secretArgument(name string) bool {
	for _, m := range p.Modules.Names() {
		if module, ok := p.Modules.Get(m); ok && slices.ContainsFunc(module.Params(), func(param modules.Param) bool {
			return (param.NoLog || param.NoLogIf != "") && (param.Name == name || slices.Contains(param.Aliases, name))
		}) {
			return true
		}
	}
	return false
}

// begin writes the head of the record. From now on it has what the display prints.
func (r *recorder) begin(ctx context.Context, d *view.Display) {
	r.Begin()
	d.Listen(r.Recorder)
	if r.head.Commit != "" {
		r.dirty = origin.Dirty(ctx, r.head.Dir)
	}
	go func() {
		defer close(r.pruned)
		if err := r.store.PruneSoon(r.keep, time.Now()); err != nil {
			r.failed(err)
		}
	}()
}

// end writes how the run came out: by the error that the command ends with.
func (r *recorder) end(d *view.Display, err error) {
	d.Listen(nil)
	f := record.Foot{Status: recordedStatus(err), Exit: exitCode(err)}
	if f.Status == record.Broken {
		f.Error = err.Error()
	}
	if r.dirty != nil {
		f.Dirty = r.dirty()
	}
	r.End(f)
	<-r.pruned
}

// recordedStatus returns how a run came out that ended with an error.
func recordedStatus(err error) record.Status {
	var quiet *quietError
	switch {
	case err == nil:
		return record.OK
	case errors.Is(err, play.ErrDetached):
		return record.Detached
	case errors.Is(err, context.Canceled), errors.Is(err, play.ErrAborted), errors.Is(err, play.ErrQuit):
		return record.Cancelled
	case !errors.As(err, &quiet):
		return record.Broken
	}
	status, ok := map[int]record.Status{exitFailed: record.Failed, exitUnreachable: record.Unreachable,
		exitInterrupted: record.Cancelled}[quiet.code]
	if !ok {
		return record.Broken
	}
	return status
}

// keepSetting returns how long records are kept. A setting that cannot be read is an error before the run.
func keepSetting(a *app) (record.Keep, error) {
	k, err := record.ParseKeep(a.cfg.Text("HARK_RUNS_KEEP"))
	if err != nil {
		return k, argparse.OptionsError("HARK_RUNS_KEEP: " + err.Error())
	}
	return k, nil
}
