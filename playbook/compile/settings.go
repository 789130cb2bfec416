package compile

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// in returns the play with what is known of the run.
func (p *Play) in(w World) *Play {
	out := *p
	out.world = w
	return &out
}

// Settings renders a play's own keywords. A file of vars_files that cannot be read is an error; a missing one is not.
func (p *Project) Settings(ctx context.Context, play *Play, w World) (*Settings, error) {
	k := &keywords{ctx: ctx, p: play.in(w)}
	if _, err := k.p.readVarsFiles(); err != nil {
		return nil, err
	}
	k.t = k.p.templar(nil)
	s := &Settings{
		CheckMode: k.flag("check_mode"),
		Hosts:     k.texts("hosts"), HostsWritten: k.constant("hosts"), Serial: k.texts("serial"),
		MaxFail: k.percent("max_fail_percentage"),
		Order:   k.text("order"), Strategy: k.text("strategy"), ForceHandlers: k.flag("force_handlers"),
		AnyErrorsFatal: k.constant("any_errors_fatal") && k.flag("any_errors_fatal"),
		Conditional:    len(play.conditional) > 0,
	}
	if k.constant("connection") {
		s.Connection = k.text("connection")
	}
	if k.constant("throttle") {
		s.Throttle = k.number("throttle")
	}
	if v := k.get("gather_facts"); v != nil {
		b := k.asFlag("gather_facts", v)
		s.GatherFacts = &b
	}
	if s.Strategy == "" {
		s.Strategy = "linear"
	}
	// Mitogen's strategies are Ansible's, with another connection to the hosts.
	s.Strategy = strings.TrimPrefix(modules.ShortName(s.Strategy), "mitogen_")
	if s.Name = k.text("name"); s.Name == "" {
		s.Name = strings.Join(s.Hosts, ",")
	}
	s.ArgSpec = k.argSpec()
	tags, _, err := k.p.tagNames(&play.self)
	if k.err == nil {
		k.err = err
	}
	s.Tags = tags
	return s, k.err
}

// keywords renders the keywords of a play; err is the first error.
type keywords struct {
	ctx context.Context
	p   *Play
	t   *templar.Templar
	err error
}

// get returns a rendered keyword, nil if it was not given or an error occurred before.
func (k *keywords) get(name string) value.Value {
	if k.err != nil {
		return nil
	}
	v, err := k.p.render(k.ctx, k.t, name)
	if err != nil {
		k.err = err
		return nil
	}
	return v
}

// constant reports whether a keyword is no template: one that tasks inherit may depend on their hosts.
func (k *keywords) constant(name string) bool {
	return !templar.IsTemplate(value.OrNone(k.p.own(name)))
}

func (k *keywords) text(name string) string {
	v := k.get(name)
	if v == nil {
		return ""
	}
	return value.Printed(v)
}

func (k *keywords) texts(name string) []string {
	var out []string
	for _, item := range items(k.get(name)) {
		out = append(out, value.Printed(item))
	}
	return out
}

func (k *keywords) flag(name string) bool {
	v := k.get(name)
	return v != nil && k.asFlag(name, v)
}

func (k *keywords) asFlag(name string, v value.Value) bool {
	b, err := asBool(v)
	if err != nil {
		k.invalid(name, v, "bool", err.Error())
	}
	return b
}

func (k *keywords) number(name string) int {
	v := k.get(name)
	if v == nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(value.Printed(v)))
	if err != nil {
		k.invalid(name, v, "int", fmt.Sprintf("invalid literal for int() with base 10: '%s'", value.Printed(v)))
	}
	return n
}

func (k *keywords) percent(name string) *float64 {
	v := k.get(name)
	if v == nil {
		return nil
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(strings.ReplaceAll(value.Printed(v), "%", "")), 64)
	if err != nil {
		k.invalid(name, v, "percent", fmt.Sprintf("could not convert string to float: '%s'", value.Printed(v)))
		return nil
	}
	return &f
}

func (k *keywords) invalid(name string, v value.Value, kind, why string) {
	if k.err == nil {
		k.err = k.p.project.loader.Errorf(k.p.self.place,
			"the field '%s' has an invalid value (%s), and could not be converted to an %s."+
				"The error was: %s", name, value.Printed(v), kind, why)
	}
}

// Prompts returns the entries of vars_prompt, rendered.
func (p *Project) Prompts(ctx context.Context, play *Play, w World) ([]Prompt, error) {
	in := play.in(w)
	t := in.templar(nil)
	var out []Prompt
	for _, raw := range play.src.Prompts {
		v, err := t.Template(ctx, raw)
		if err != nil {
			return nil, in.at(in.self.place, err)
		}
		d, ok := v.(*value.Dict)
		if !ok {
			continue
		}
		prompt, err := in.prompt(d)
		if err != nil {
			return nil, err
		}
		out = append(out, prompt)
	}
	return out, nil
}

func (p *Play) prompt(d *value.Dict) (Prompt, error) {
	text := func(name, otherwise string) string {
		v, ok := d.Get(name)
		if !ok || value.IsNone(v) {
			return otherwise
		}
		return value.Printed(v)
	}
	out := Prompt{Name: text("name", ""), Private: true, Encrypt: text("encrypt", ""), Salt: text("salt", "")}
	out.Text = text("prompt", out.Name)
	if v, ok := d.Get("default"); ok && !value.IsNone(v) {
		out.Default = v
	}
	out.SaltSize, _ = strconv.Atoi(text("salt_size", ""))
	for name, to := range map[string]*bool{"private": &out.Private, "confirm": &out.Confirm, "unsafe": &out.Unsafe} {
		v, ok := d.Get(name)
		if !ok || value.IsNone(v) {
			continue
		}
		b, err := asBool(v)
		if err != nil {
			return out, p.project.loader.Errorf(p.self.place, "%s", err)
		}
		*to = b
	}
	return out, nil
}
