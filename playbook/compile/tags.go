package compile

import (
	"context"
	"slices"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// selects reports whether --tags and --skip-tags admit an object with these tags. others says that it has more tags,
// which no option can name.
func selects(tags []string, others bool, only, skip []string) bool {
	if len(tags) == 0 && !others {
		tags = []string{"untagged"}
	}
	untagged := !others && len(tags) == 1 && tags[0] == "untagged"
	run := true
	if len(only) > 0 {
		switch {
		case slices.Contains(tags, "always"):
		case slices.Contains(only, "all") && !slices.Contains(tags, "never"):
		case meet(tags, only):
		case slices.Contains(only, "tagged") && !untagged && !slices.Contains(tags, "never"):
		default:
			run = false
		}
	}
	if !run || len(skip) == 0 {
		return run
	}
	switch {
	case slices.Contains(skip, "all"):
		return slices.Contains(tags, "always") && !slices.Contains(skip, "always")
	case meet(tags, skip):
		return false
	}
	return !slices.Contains(skip, "tagged") || untagged
}

func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// tagNames returns all tags of an object, rendered, sorted, each once, with the variables of the play, and below a
// dynamic include with those of the include (strategy/linear.py: filter_tagged_tasks). texts are those that options can
// name: to Ansible the tag 5 is not the tag "5".
func (p *Play) tagNames(o *object) (all, texts []string, err error) {
	v := o.keyword("tags")
	if v == nil {
		return nil, nil, nil
	}
	if templar.IsTemplate(v) {
		if v, err = p.templar(o.includedBy()).Template(context.Background(), v); err != nil {
			return nil, nil, p.at(o.place, err)
		}
	}
	for _, tag := range items(v) {
		for _, one := range items(tag) {
			s := value.Printed(one)
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
			if _, ok := value.Text(one); ok {
				texts = append(texts, s)
			}
		}
	}
	slices.Sort(all)
	return all, texts, nil
}

// selected reports whether a task is to run, and its tags.
func (p *Play) selected(t *task) (bool, []string, error) {
	tags, texts, err := p.tagNames(t.o)
	if err != nil {
		return false, nil, err
	}
	cfg := &p.project.cfg
	only, others := cfg.Tags, len(tags) > len(texts)
	if len(only) == 0 {
		only = []string{"all"}
	}
	switch {
	case t.implicit && t.action == plan.MetaAction:
		return true, tags, nil
	case t.o.include != nil && t.o.include.legacy && selects(texts, others, nil, cfg.SkipTags):
		return true, tags, nil
	}
	return selects(texts, others, only, cfg.SkipTags), tags, nil
}
