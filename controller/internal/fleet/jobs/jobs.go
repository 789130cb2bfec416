// Package jobs asks agents for the background jobs that they keep: which there are, how they stand, what they print.
package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/play/link"
)

// Hosts are the hosts whose jobs are asked for, with the link to their agents.
type Hosts struct {
	Link  link.Link
	Run   string // the run in whose name they are asked
	Names []string
}

// Found is a job with the host whose agent keeps it.
type Found struct {
	Agent string `json:"agent"`
	wire.Job
}

// Took returns how long a job has run.
func (f Found) Took() time.Duration {
	end := f.Ended
	if !f.Over {
		end = time.Now()
	}
	return end.Sub(f.Began).Round(time.Second)
}

// Close ends the link; the agents forget the run.
func (h *Hosts) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(h.Link.End(ctx), h.Link.Close())
}

// ask puts a question to the agent of one host.
func (h *Hosts) ask(ctx context.Context, host string, q wire.JobsQuery) (wire.JobsReply, error) {
	args, err := json.Marshal(q)
	if err != nil {
		return wire.JobsReply{}, err
	}
	raw, err := h.Link.Exec(ctx, wire.Exec{
		Run: h.Run, ID: link.NewID(), Host: host, Origin: host, Call: wire.Call{Module: wire.JobsModule, Args: args},
	})
	if err != nil {
		return wire.JobsReply{}, err
	}
	var reply struct {
		wire.JobsReply
		Failed bool   `json:"failed"`
		Msg    string `json:"msg"`
	}
	if err := wire.Decode(raw, &reply); err != nil {
		return wire.JobsReply{}, fmt.Errorf("cannot read the answer of %s: %w", host, err)
	}
	if reply.Failed {
		return wire.JobsReply{}, errors.New(reply.Msg)
	}
	if reply.Err != "" {
		return wire.JobsReply{}, errors.New(reply.Err)
	}
	if q.Op != "list" {
		if _, err := reply.About(); err != nil {
			return wire.JobsReply{}, fmt.Errorf("cannot use the answer of %s: %w", host, err)
		}
	}
	return reply.JobsReply, nil
}

// askers is how many agents are asked at the same time.
const askers = 32

// Find lists the jobs of all hosts, and why some hosts could not be asked. The hosts are in order, and so are the
// jobs of each.
func (h *Hosts) Find(ctx context.Context, q wire.JobsQuery) ([]Found, []error) {
	q.Op = "list"
	replies := make([]wire.JobsReply, len(h.Names))
	errs := make([]error, len(h.Names))
	places := make(chan struct{}, askers)
	var asking sync.WaitGroup
	for i, name := range h.Names {
		places <- struct{}{}
		asking.Go(func() {
			defer func() { <-places }()
			reply, err := h.ask(ctx, name, q)
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			replies[i], errs[i] = reply, err
		})
	}
	asking.Wait()
	all := []Found{}
	for i, reply := range replies {
		for _, j := range reply.Jobs {
			all = append(all, Found{h.Names[i], j})
		}
	}
	return all, slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// Named finds jobs by their ids or patterns. None is an error.
func (h *Hosts) Named(ctx context.Context, ids []string) ([]Found, error) {
	var all []Found
	for _, id := range ids {
		some, errs := h.Find(ctx, wire.JobsQuery{Pattern: id})
		if len(some) == 0 {
			text := fmt.Sprintf("could not find job %s on %s", id, counted(len(h.Names), "host"))
			for _, err := range errs {
				text += "\n" + err.Error()
			}
			return nil, errors.New(strings.TrimSpace(text))
		}
		all = append(all, some...)
	}
	return all, nil
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Each asks the same of several jobs at once. said gets each answer in the order of the jobs.
func (h *Hosts) Each(ctx context.Context, ids []string, q wire.JobsQuery,
	said func(Found, wire.JobsReply) error) error {
	jobs, err := h.Named(ctx, ids)
	if err != nil {
		return err
	}
	replies := make([]wire.JobsReply, len(jobs))
	errs := make([]error, len(jobs))
	var asking sync.WaitGroup
	places := make(chan struct{}, askers)
	for i, f := range jobs {
		places <- struct{}{}
		asking.Go(func() {
			defer func() { <-places }()
			q := q
			q.ID = f.ID
			for {
				began := time.Now()
				replies[i], errs[i] = h.ask(ctx, f.Agent, q)
				if errs[i] != nil || q.Op != "wait" || replies[i].Jobs[0].Over {
					return
				}
				if errs[i] = pace(ctx, began); errs[i] != nil {
					return
				}
			}
		})
	}
	asking.Wait()
	for i, f := range jobs {
		if errs[i] != nil {
			return fmt.Errorf("%s: %w", f.Agent, errs[i])
		}
		if len(replies[i].Jobs) > 0 {
			f.Job = replies[i].Jobs[0]
		}
		if err := said(f, replies[i]); err != nil {
			return err
		}
	}
	return nil
}

// pace waits a second from the beginning of a question: an agent that answers at once that nothing has happened is
// not asked all the time.
func pace(ctx context.Context, began time.Time) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Second - time.Since(began)):
		return nil
	}
}

// NoAsks answers the agents' questions. There are none, since no plan runs.
type NoAsks struct{}

// Answer implements link.Asks.
func (NoAsks) Answer(context.Context, wire.Ask) wire.Answer {
	return wire.Answer{Err: "there is nothing to ask"}
}
