package compile

import (
	"context"
	"sort"

	"hark/playbook/jinja/templar"
)

// selects tells whether --tags and --skip-tags let an object with these tags run.
func selects(tags, only, skip []string) bool {
	if len(tags) == 0 {
		tags = []string{"untagged"}
	}
	untagged := len(tags) == 1 && tags[0] == "untagged"
	run := true
	if len(only) > 0 {
		switch {
		case contains(tags, "always"):
		case contains(only, "all") && !contains(tags, "never"):
		case meet(tags, only):
		case contains(only, "tagged") && !untagged && !contains(tags, "never"):
		default:
			run = false
		}
	}
	if !run || len(skip) == 0 {
		return run
	}
	switch {
	case contains(skip, "all"):
		return contains(tags, "always") && !contains(skip, "always")
	case meet(tags, skip):
		return false
	}
	return !contains(skip, "tagged") || untagged
}

func meet(a, b []string) bool {
	for _, s := range a {
		if contains(b, s) {
			return true
		}
	}
	return false
}

// tagNames are all tags of an object, rendered, sorted, each once.
func (p *Play) tagNames(o *object) ([]string, error) {
	v := o.keyword("tags")
	if v == nil {
		return nil, nil
	}
	if templar.IsTemplate(v) {
		rendered, err := p.templar(nil).Template(context.Background(), v)
		if err != nil {
			return nil, p.at(o.place, err)
		}
		v = rendered
	}
	var out []string
	for _, tag := range items(v) {
		for _, one := range items(tag) {
			if s := printed(one); !contains(out, s) {
				out = append(out, s)
			}
		}
	}
	sort.Strings(out)
	return out, nil
}

// selected tells whether a task is to run, and its tags.
func (p *Play) selected(t *task) (bool, []string, error) {
	tags, err := p.tagNames(t.o)
	if err != nil {
		return false, nil, err
	}
	cfg := &p.project.cfg
	only := cfg.Tags
	if len(only) == 0 {
		only = []string{"all"}
	}
	switch {
	case t.implicit && t.action == "ansible.builtin.meta":
		return true, tags, nil
	case t.o.include != nil && t.o.include.legacy && selects(tags, nil, cfg.SkipTags):
		return true, tags, nil
	}
	return selects(tags, only, cfg.SkipTags), tags, nil
}
