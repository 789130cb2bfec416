package templar_test

import (
	"context"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

const asksToRun = "{{ lookup('run') }}"

// running is a Templar of level 2.14 that says whether a template asked for a lookup.
func running(v vars) (*templar.Templar, *bool) {
	ran := false
	return templar.New(v, templar.Options{
		Lookup: func(_ context.Context, name string, terms []value.Value, _ *value.Dict) (value.Value, error) {
			ran = ran || name == "run"
			return value.NewList(terms...), nil
		},
	}), &ran
}

// At level 2.14 text that Go has made is no template and no condition, wherever it is.
func TestTextOfGoIsNoTemplate(t *testing.T) {
	ctx := context.Background()
	for name, made := range map[string]value.Value{
		"Str": value.Str(asksToRun), "NativeStr": value.NativeStr(asksToRun), "Markup": value.Markup(asksToRun),
		"UnsafeStr": value.UnsafeStr(asksToRun), "bare": value.Str("lookup('run')"), "lines": value.NewLines(value.Str(asksToRun)),
	} {
		v := vars{
			"v": made, "l": value.NewList(made), "d": dict("k", value.NewList(made)), "k": dict("x", value.Int(1)),
			"through": value.SourceText("{{ v }}"), "deeper": value.NewList(value.SourceText("{{ l[0] }}")),
		}
		v["k"].(*value.Dict).SetKey(made, value.Int(1))
		tpl, ran := running(v)
		for _, x := range []string{
			"{{ v }}", "x{{ v }}", "{{ l }}", "{{ l[0] }}", "{{ d }}", "{{ d.k[0] }}", "{{ k | list | last }}", "{{ through }}",
			"{{ deeper }}", "{{ deeper[0] ~ '' }}", "{% set w = v %}{{ w }}", "{{ lookup('echo', v) }}", "{{ lookup('echo', v ~ '') }}",
			"{{ lookup('echo', v | string) }}", "{{ lookup('echo', l) }}", "{{ lookup('vars', 'v') }}", "{{ v | replace('x', 'y') }}",
		} {
			once, err := tpl.Template(ctx, value.SourceText(x))
			if err == nil { // what came of it, met again
				v["again"] = once
				_, _ = tpl.Template(ctx, once)
				_, _ = tpl.Template(ctx, value.SourceText("{{ again }}"))
				_, _, _ = tpl.Condition(ctx, value.SourceText("{{ again }}"))
				_, _, _ = tpl.Condition(ctx, value.SourceText("again"))
			}
			_, _, _ = tpl.Condition(ctx, value.SourceText(x))
		}
		_, _ = tpl.Template(ctx, made)
		_, _, _ = tpl.Condition(ctx, made)
		_, _ = tpl.Template(ctx, templar.Braced(made))
		if *ran {
			t.Errorf("%s was run", name)
		}
	}
}

// What a template of source text has made is rendered again where a variable has it, as in ansible-core 2.14.
func TestRenderedTextIsRenderedAgain(t *testing.T) {
	ctx := context.Background()
	const made = "{{ '{{ lookup(\"run\") }}' }}"
	for _, x := range []string{
		made, "{{ [" + made[3:len(made)-3] + "] }}", "{{ {'k': " + made[3:len(made)-3] + "} }}",
		"{{ " + made[3:len(made)-3] + " | string }}", "{{ lookup('echo', " + made[3:len(made)-3] + ") }}",
	} {
		v := vars{}
		tpl, ran := running(v)
		once, err := tpl.Template(ctx, value.SourceText(x))
		if err != nil {
			t.Fatal(err)
		}
		text, err := value.EncodeSource(once, false)
		if err != nil {
			t.Fatal(err)
		}
		if v["again"], err = value.Decode(text, value.KindSource); err != nil {
			t.Fatal(err)
		}
		_, err = tpl.Template(ctx, value.SourceText("{{ again }}"))
		if !*ran || err != nil {
			t.Errorf("%s: %v", x, err)
		}
	}
}
