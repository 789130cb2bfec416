package play

import (
	"context"
	"time"

	"hark/controller/internal/runs/rollout"
	"hark/modules/py/value"
	"hark/playbook/compile"
	"hark/playbook/inventory"
)

// Staging brings the plays of a run to their hosts stage by stage: all plays to the hosts of the first, then all to
// those of the second. Plays know nothing of it: to them the hosts of the stage are those that there are, as under
// --limit.
type Staging struct {
	Stages rollout.Stages
	// Pause is how long the run waits from one stage to the next; the end of its context ends it.
	Pause time.Duration
	// StopAt ends the run when so many of the hosts of the stages so far have failed or were not reached.
	StopAt rollout.Share
	// Tell is called with each stage as it begins, as it is over and as it pauses or ends the run. It is called from
	// the goroutine of Run.
	Tell func(Stage)
}

// Stage is where a run with stages stands.
type Stage struct {
	// N of Of, from 1; stages without hosts are passed over. Name is how it was written.
	N, Of int
	Name  string
	// Hosts are those of the stage, as far as they are known when it begins.
	Hosts []string
	// Over says that the stage is over: Lost of the SoFar hosts of all stages so far failed or were not reached, and
	// Left have not had their turn.
	Over              bool
	Lost, SoFar, Left int
	// Stop says that the run ends with this stage although hosts are left, Pause for how long it waits for the next.
	Stop  bool
	Pause time.Duration
}

// staging cuts the hosts of a run. It belongs to the goroutine of Run.
type staging struct {
	*Staging
	now   int            // the current stage, from 0; -1 before the run
	of    map[string]int // the stage of each host
	order []string       // the hosts as they were met
	// prompted are the answers to what plays ask for, once for all stages.
	prompted map[*compile.Play]*value.Dict
}

func newStaging(s *Staging) *staging {
	if s == nil {
		return nil
	}
	return &staging{Staging: s, now: -1, of: map[string]int{}, prompted: map[*compile.Play]*value.Dict{}}
}

// meet gives the hosts of a play their stages by their places among them. Before the run a host of several plays gets
// the first of its stages, so that each play has hosts in each; once plays were begun a host stays where it is, since
// it would miss some of them. One that the run itself has made, or named, comes in the current stage at the earliest.
func (s *staging) meet(hosts []string) {
	stage := 0
	for i, h := range hosts {
		for i >= s.Stages.UpTo(stage, len(hosts)) {
			stage++
		}
		was, known := s.of[h]
		switch {
		case !known:
			s.order = append(s.order, h)
			s.of[h] = max(stage, s.now)
		case s.now < 0:
			s.of[h] = min(was, stage)
		}
	}
}

// turn reports whether it is a host's turn.
func (s *staging) turn(host string) bool { return s.of[host] == s.now }

// hosts returns those of the stage in hand.
func (s *staging) hosts() []string {
	var out []string
	for _, h := range s.order {
		if s.turn(h) {
			out = append(out, h)
		}
	}
	return out
}

// soFar returns how many hosts the stages have so far, left how many have not had their turn.
func (s *staging) soFar() (soFar, left int) {
	for _, stage := range s.of {
		if stage > s.now {
			left++
		}
	}
	return len(s.of) - left, left
}

// advance goes to the next stage that has hosts; false if there is none. The first has its turn in any case: which
// hosts there are may be known then.
func (s *staging) advance() bool {
	for s.now++; s.now < s.Stages.Count(); s.now++ {
		if s.now == 0 || len(s.hosts()) > 0 {
			return true
		}
	}
	return false
}

// stage announces the current stage.
func (s *staging) stage() Stage {
	return Stage{N: s.now + 1, Of: s.Stages.Count(), Name: s.Stages.Name(s.now), Hosts: s.hosts()}
}

// staged plays all playbooks for each stage. The recap comes once, at the end.
func (r *runner) staged(ctx context.Context) (status Status, err error) {
	if err := r.cut(ctx); err != nil {
		return r.over(ctx, status, err)
	}
	played := 0
	for r.staging.advance() {
		r.staging.Tell(r.staging.stage())
		r.started = r.in.StartAt == ""
		broke := false
		for i := 0; i < len(r.in.Playbooks) && !broke && err == nil; i++ {
			played = max(played, i+1)
			broke, err = r.book(ctx, i, &status)
			broke = broke || status != OK && i+1 < len(r.in.Playbooks)
		}
		if err == nil {
			broke, err = r.between(ctx, broke)
		}
		if err != nil || broke {
			break
		}
	}
	if status, err = r.over(ctx, status, err); status == Broken {
		return status, err
	}
	for _, pb := range r.in.Playbooks[:played] {
		r.writeRetry(pb.Path)
	}
	r.view.Stats(r.recap.Stats())
	return status, err
}

// over returns the status of a run that is over, with an error or without.
func (r *runner) over(ctx context.Context, status Status, err error) (Status, error) {
	switch {
	case err == nil:
		return status, nil
	case ctx.Err() != nil:
		return Cancelled, err
	}
	return Broken, err
}

// cut gives the hosts their stages, as far as they are known before the run. Hosts of plays that only the run itself
// can name get theirs when it comes to them.
func (r *runner) cut(ctx context.Context) error {
	for _, pb := range r.in.Playbooks {
		for _, p := range pb.Plays {
			world := compile.World{Lazy: r.mirror.Lazy, Named: inventory.Named(r.in.Inventory)}
			var err error
			if world.Prompted, err = r.askVariables(ctx, p, world); err != nil {
				return err
			}
			s, err := r.in.Project.Settings(ctx, p, world)
			if err != nil {
				continue // whoever plays it says so
			}
			if found, err := r.in.Inventory.Peek(s.Hosts...); err == nil {
				r.staging.meet(namesOf(found))
			}
		}
	}
	return nil
}

// between judges a stage that is over, which may have broken off, and waits for the next. It reports whether the run
// ends with it.
func (r *runner) between(ctx context.Context, broke bool) (end bool, err error) {
	s := r.staging
	now := s.stage()
	now.Over, now.Lost = true, len(r.states.Hosts())
	now.SoFar, now.Left = s.soFar()
	now.Stop = now.Left > 0 && (broke || r.tooManyLost())
	if now.Left > 0 && !now.Stop {
		now.Pause = s.Pause
	}
	s.Tell(now)
	wait := time.NewTimer(now.Pause)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return true, r.cause()
	case <-wait.C:
		return broke || now.Stop, nil
	}
}

// tooManyLost reports whether so many hosts are lost that a run with stages ends.
func (r *runner) tooManyLost() bool {
	if r.staging == nil {
		return false
	}
	soFar, _ := r.staging.soFar()
	return r.staging.StopAt.Reached(len(r.states.Hosts()), soFar)
}
