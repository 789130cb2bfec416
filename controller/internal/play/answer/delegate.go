package answer

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"hark/agent/wire"
	"hark/controller/internal/play/link"
)

// delegate runs a call of one host's step on another host, or on the host itself if its session runs in this process.
func (a *Answerer) delegate(ctx context.Context, b *batch, ask wire.Ask) (wire.Answer, error) {
	if ask.Call == nil || a.Exec == nil {
		return wire.Answer{}, &refusal{"a delegated call without a call"}
	}
	e := wire.Exec{
		Run: ask.Run, ID: b.Plan.Play.ID + "-" + strconv.FormatUint(a.execs.Add(1), 10),
		Host: ask.Name, Origin: ask.Host, Play: ask.Play, Step: ask.Step, Call: *ask.Call,
	}
	a.files.shareWith(e.Host, e.Call.Files)
	b.admit(e.Host, e.Origin)
	defer b.dismiss(e.Host, e.Origin)
	raw, err := a.Exec(ctx, e)
	var absent *link.AbsentError
	if errors.As(err, &absent) {
		return wire.Answer{Err: absent.Error(), ErrKind: "unreachable"}, nil
	}
	if err != nil {
		return wire.Answer{}, err
	}
	return wire.Answer{Result: raw}, nil
}

// admit lets a host ask on behalf of another while it runs a call for it.
func (b *batch) admit(host, origin string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.guests[host] = append(b.guests[host], origin)
}

func (b *batch) dismiss(host, origin string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.guests[host]
	if i := slices.Index(list, origin); i >= 0 {
		b.guests[host] = slices.Delete(list, i, i+1)
	}
}

// origins returns the hosts for which a host runs calls now.
func (b *batch) origins(host string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.guests[host])
}
