package strategy

import (
	"maps"
	"slices"
)

// Fates are the hosts of a run that take no part any more, in this batch or in later plays. They belong to one
// goroutine.
type Fates struct{ failed, unreachable map[string]bool }

// NewFates is that nobody is out.
func NewFates() *Fates { return &Fates{failed: map[string]bool{}, unreachable: map[string]bool{}} }

// Fail says that a host has failed.
func (f *Fates) Fail(host string) { f.failed[host] = true }

// Lose says that a host is unreachable. It may have failed too.
func (f *Fates) Lose(host string) { f.unreachable[host] = true }

// Clear takes a host in again.
func (f *Fates) Clear(host string) {
	delete(f.failed, host)
	delete(f.unreachable, host)
}

// Failed reports whether a host has failed.
func (f *Fates) Failed(host string) bool { return f.failed[host] }

// Unreachable reports whether a host was lost.
func (f *Fates) Unreachable(host string) bool { return f.unreachable[host] }

// Out reports whether a host takes no part any more.
func (f *Fates) Out(host string) bool { return f.failed[host] || f.unreachable[host] }

// AnyFailed and AnyUnreachable tell whether there are such hosts.
func (f *Fates) AnyFailed() bool { return len(f.failed) > 0 }

// AnyUnreachable reports whether hosts were lost.
func (f *Fates) AnyUnreachable() bool { return len(f.unreachable) > 0 }

// Hosts are those that are out, by name.
func (f *Fates) Hosts() []string {
	out := maps.Clone(f.failed)
	maps.Copy(out, f.unreachable)
	return slices.Sorted(maps.Keys(out))
}

// count is what Ansible compares with the size of a batch: who has failed and is unreachable too counts twice.
func (f *Fates) count() int { return len(f.failed) + len(f.unreachable) }
