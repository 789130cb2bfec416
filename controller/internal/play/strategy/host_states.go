package strategy

import (
	"maps"
	"slices"
)

// HostStates are the hosts of a run that take no further part, in this batch or in later plays. They belong to one
// goroutine.
type HostStates struct{ failed, unreachable map[string]bool }

// NewHostStates returns a HostStates in which no host is out.
func NewHostStates() *HostStates {
	return &HostStates{failed: map[string]bool{}, unreachable: map[string]bool{}}
}

// Fail records that a host has failed.
func (f *HostStates) Fail(host string) { f.failed[host] = true }

// Lose records that a host is unreachable. It may have failed too.
func (f *HostStates) Lose(host string) { f.unreachable[host] = true }

// Clear lets a host take part again.
func (f *HostStates) Clear(host string) {
	delete(f.failed, host)
	delete(f.unreachable, host)
}

// Failed reports whether a host has failed.
func (f *HostStates) Failed(host string) bool { return f.failed[host] }

// Unreachable reports whether a host was lost.
func (f *HostStates) Unreachable(host string) bool { return f.unreachable[host] }

// Out reports whether a host takes no part any more.
func (f *HostStates) Out(host string) bool { return f.failed[host] || f.unreachable[host] }

// AnyFailed reports whether any host has failed.
func (f *HostStates) AnyFailed() bool { return len(f.failed) > 0 }

// AnyUnreachable reports whether hosts were lost.
func (f *HostStates) AnyUnreachable() bool { return len(f.unreachable) > 0 }

// Hosts returns the hosts that are out, by name.
func (f *HostStates) Hosts() []string {
	out := maps.Clone(f.failed)
	maps.Copy(out, f.unreachable)
	return slices.Sorted(maps.Keys(out))
}

// count returns what Ansible compares with the size of a batch: a host that has failed and is unreachable counts twice.
func (f *HostStates) count() int { return len(f.failed) + len(f.unreachable) }
