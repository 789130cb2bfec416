package galaxy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The search is that of resolvelib, which Ansible uses, because its order decides which of several solutions is
// found: pin the collection with the fewest candidates, add what the candidate needs, and when that leaves some
// collection without a candidate, take the last pin back and forbid it.

// need is a requirement with who has it, nil for the user.
type need struct {
	Requirement
	parent *candidate
}

// criterion is all that is known of one collection.
type criterion struct {
	needs      []need
	candidates []*candidate
	forbidden  []string // versions
}

// state is how far the search is.
type state struct {
	order    []string // ids in the order in which they were met
	criteria map[string]*criterion
	pins     []string
	pinned   map[string]*candidate
}

func (s *state) copy() *state {
	return &state{slices.Clone(s.order), maps.Clone(s.criteria), slices.Clone(s.pins), maps.Clone(s.pinned)}
}

// conflict is a collection for which no candidate is left.
type conflict struct{ needs []need }

func (e *conflict) Error() string {
	lines := []string{"Failed to resolve the requested dependencies map. Could not satisfy the following requirements:"}
	for _, n := range e.needs {
		origin := "direct request"
		if n.parent != nil {
			origin = "dependency of " + n.parent.String()
		}
		lines = append(lines, fmt.Sprintf("* %s:%s (%s)", n.name, n.version, origin))
	}
	return strings.Join(lines, "\n")
}

// maxRounds bounds a search that does not end.
const maxRounds = 200_000

// resolve finds candidates for the requirements and all that these need, in the order in which they are to be
// installed.
func (p *picker) resolve(ctx context.Context, wanted []Requirement) ([]*candidate, error) {
	s := &state{criteria: map[string]*criterion{}, pinned: map[string]*candidate{}}
	for _, r := range wanted {
		if err := p.add(ctx, s, need{Requirement: r}); err != nil {
			return nil, err
		}
	}
	states := []*state{s, s.copy()}
	for range maxRounds {
		top := states[len(states)-1]
		name, err := p.next(top)
		if err != nil {
			return nil, err
		}
		if name == "" {
			return top.result(), nil
		}
		causes, err := p.pin(ctx, top, name)
		if err != nil {
			return nil, err
		}
		if causes == nil {
			states = append(states, top.copy())
			continue
		}
		if states, err = p.backtrack(ctx, states); err != nil {
			return nil, err
		}
		if states == nil {
			return nil, &conflict{causes}
		}
	}
	return nil, failed("Failed to resolve the requested dependencies map: too many combinations of versions")
}

// add takes a requirement up. The error is a conflict if no candidate is left.
func (p *picker) add(ctx context.Context, s *state, n need) error {
	id := n.id()
	old := s.criteria[id]
	c := &criterion{}
	if old != nil {
		c.needs, c.forbidden = slices.Clone(old.needs), old.forbidden
	} else {
		s.order = append(s.order, id)
	}
	c.needs = append(c.needs, n)
	if err := p.fill(ctx, c); err != nil {
		return err
	}
	if len(c.candidates) == 0 {
		return &conflict{c.needs}
	}
	s.criteria[id] = c
	return nil
}

func (p *picker) fill(ctx context.Context, c *criterion) error {
	found, err := p.find(ctx, c.needs)
	c.candidates = slices.DeleteFunc(found, func(f *candidate) bool { return slices.Contains(c.forbidden, f.version) })
	return err
}

// next returns the collection to pin, "" when all have a candidate that meets their requirements.
func (p *picker) next(s *state) (string, error) {
	best, least := "", 0
	for _, id := range s.order {
		c := s.criteria[id]
		if c == nil {
			continue
		}
		if pin := s.pinned[id]; pin != nil {
			ok, err := p.allSatisfied(c.needs, pin)
			if err != nil {
				return "", err
			}
			if ok {
				continue
			}
		}
		weight := len(c.candidates)
		if slices.ContainsFunc(c.candidates, func(f *candidate) bool { return f.installed }) {
			weight = -1
		}
		if best == "" || weight < least {
			best, least = id, weight
		}
	}
	return best, nil
}

// pin takes the first candidate whose own needs can be met; without one it gives what stands against it.
func (p *picker) pin(ctx context.Context, s *state, id string) (causes []need, err error) {
	for _, c := range s.criteria[id].candidates {
		trial := s.copy()
		needs, err := p.needs(ctx, c)
		if err != nil {
			return nil, err
		}
		var stands *conflict
		for _, r := range needs {
			if err := p.add(ctx, trial, need{r, c}); errors.As(err, &stands) {
				break
			} else if err != nil {
				return nil, err
			}
		}
		if stands != nil {
			causes = append(causes, stands.needs...)
			continue
		}
		if err := p.consistent(trial.criteria[id], c); err != nil {
			return nil, err
		}
		trial.pins = slices.DeleteFunc(trial.pins, func(other string) bool { return other == id })
		trial.pins, trial.pinned[id] = append(trial.pins, id), c
		*s = *trial
		return nil, nil
	}
	return causes, nil
}

// consistent refuses a candidate that does not meet what was asked of it, as an archive of another version than was
// named.
func (p *picker) consistent(c *criterion, f *candidate) error {
	ok, err := p.allSatisfied(c.needs, f)
	if ok || err != nil {
		return err
	}
	var parents []string
	for _, n := range c.needs {
		if n.parent != nil {
			parents = append(parents, n.parent.String())
		}
	}
	origin := "direct request"
	if len(parents) > 0 {
		origin = "dependency of " + strings.Join(parents, ", ")
	}
	lines := []string{fmt.Sprintf("Failed to resolve the requested dependencies map. Got the candidate %s:%s (%s) "+
		"which didn't satisfy all of the "+
		"following requirements:", f.name, f.version, origin)}
	for _, n := range c.needs {
		lines = append(lines, fmt.Sprintf("* %s:%s", n.name, n.version))
	}
	return failed(strings.Join(lines, "\n"))
}

// backtrack takes pins back until one can be replaced. Without any there is no solution, and nil.
func (p *picker) backtrack(ctx context.Context, states []*state) ([]*state, error) {
	for len(states) >= 3 {
		states = states[:len(states)-1]
		broken := states[len(states)-1]
		states = states[:len(states)-1]
		last := broken.pins[len(broken.pins)-1]
		forbidden := map[string][]string{}
		for id, c := range broken.criteria {
			forbidden[id] = c.forbidden
		}
		forbidden[last] = append(slices.Clone(forbidden[last]), broken.pinned[last].version)
		fresh := states[len(states)-1].copy()
		ok, err := p.forbid(ctx, fresh, forbidden)
		if err != nil {
			return nil, err
		}
		if ok {
			return append(states, fresh), nil
		}
		states = append(states, fresh)
	}
	return nil, nil
}

func (p *picker) forbid(ctx context.Context, s *state, forbidden map[string][]string) (bool, error) {
	for _, id := range s.order {
		old, list := s.criteria[id], forbidden[id]
		if old == nil || len(list) == 0 {
			continue
		}
		c := &criterion{needs: old.needs, forbidden: append(slices.Clone(old.forbidden), list...)}
		if err := p.fill(ctx, c); err != nil {
			return false, err
		}
		if len(c.candidates) == 0 {
			return false, nil
		}
		s.criteria[id] = c
	}
	return true, nil
}

// result returns the pins that somebody still needs.
func (s *state) result() []*candidate {
	var wanted func(id string, seen map[string]bool) bool
	wanted = func(id string, seen map[string]bool) bool {
		if seen[id] || s.criteria[id] == nil {
			return false
		}
		seen[id] = true
		for _, n := range s.criteria[id].needs {
			if n.parent == nil || s.pinned[n.parent.id()] != nil && wanted(n.parent.id(), seen) {
				return true
			}
		}
		return false
	}
	var out []*candidate
	for _, id := range s.pins {
		if wanted(id, map[string]bool{}) {
			out = append(out, s.pinned[id])
		}
	}
	return out
}
