package hostvars

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// dict is a mapping of texts.
func dict(kv ...any) *value.Dict {
	d := value.NewDict()
	for i := 0; i < len(kv); i += 2 {
		v, isValue := kv[i+1].(value.Value)
		if !isValue {
			v = value.SourceText(fmt.Sprint(kv[i+1]))
		}
		d.Set(kv[i].(string), v)
	}
	return d
}

func names(list ...string) *value.List {
	l := value.NewList()
	for _, name := range list {
		l.Items = append(l.Items, value.SourceText(name))
	}
	return l
}

// stepOn is a step of host a; the controller answers with what it knows of b, c and d, and notes what it was asked.
func stepOn(t *testing.T, change func(*Session)) (*Step, *[]string) {
	t.Helper()
	asked := &[]string{}
	fleet := map[string]*value.Dict{
		"b": dict("port", "1", "ansible_user", "bob", "ansible_facts", dict("kernel", "six")), "c": dict("port", "2"), "d": dict("port", "3"),
	}
	s := Session{
		Host: "a", Vars: &vars.Host{Name: "a", Inventory: dict("port", "{{ 4 + 4 }}", "bad", "{{ nothing }}", "ansible_user", "ann")},
		Shared:    &vars.Shared{Magic: dict("groups", dict("all", names("a", "b", "c", "d"), "ungrouped", value.NewList()), "ansible_play_hosts_all", names("a", "b"))},
		Templates: templar.Options{Engine: templar.NewEngine()},
		Ask: func(_ context.Context, a wire.Ask) (wire.Answer, error) {
			*asked = append(*asked, strings.Join([]string{string(a.Kind), strings.Join(a.Hosts, "+"), strings.Join(a.Names, "+"), a.Entry}, " "))
			out := wire.Answer{Vars: map[string]plan.Dict{}}
			for _, h := range a.Hosts {
				out.Vars[h] = plan.Dict{Dict: fleet[h]}
			}
			switch a.Kind {
			case wire.AskMagic:
				out.Value = plan.Lit(names("a", "b"))
			case wire.AskWhere:
				out.Value = plan.Lit(value.SourceText("The error appears to be here"))
			}
			return out, nil
		},
	}
	if change != nil {
		change(&s)
	}
	return New(s, "7"), asked
}

// render evaluates a template over what a step reads of the outside.
func render(t *testing.T, f *Step, text string) string {
	t.Helper()
	scope := vars.NewScope(f.Vars, f.Shared, vars.Step{})
	scope.Lazy, scope.LazyNames = f.Lazy, Names
	v, err := templar.New(scope, f.Templates).Template(t.Context(), value.SourceText(text))
	if err != nil {
		return "error: " + err.Error()
	}
	return value.Printed(v)
}

func TestWhatAStepReadsOfOtherHosts(t *testing.T) {
	for _, c := range []struct{ text, want, asked string }{
		{"{{ hostvars['b'].port }}", "1", "vars b port "},
		{"{{ hostvars['b'].port }}{{ hostvars['b']['port'] }}", "11", "vars b port "},
		{"{{ hostvars.a.port }}", "8", ""},                               // its own, rendered, asks nobody
		{"{{ hostvars.a.bad }}", "{{ nothing }}", ""},                    // as much as can be
		{"{{ hostvars['b'].none is defined }}", "False", "vars b none "}, // asked once, and not known
		{"{{ hostvars['z'].port }}", "error: ", ""},
		{"{{ hostvars['z'] is defined }}", "False", ""},
		{"{{ hostvars['b'].ansible_facts.kernel }}", "six", "vars b ansible_facts kernel"},
		{"{{ hostvars | list | sort | join(' ') }}", "a b c d localhost", ""},
		{"{{ groups.all | length }}", "4", ""},
		{"{{ ansible_play_hosts | join(' ') }}", "a b", "magic  ansible_play_hosts "},
		// The second host for one name is taken for a loop: the rest comes at once.
		{"{% for h in groups.all %}{{ hostvars[h].port }} {% endfor %}", "8 1 2 3 ", "vars b port ,vars c+d port "},
	} {
		f, asked := stepOn(t, nil)
		got := render(t, f, c.text)
		if got != c.want && !(c.want == "error: " && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
		if said := strings.Join(*asked, ","); said != c.asked {
			t.Errorf("%s asks %q, want %q", c.text, said, c.asked)
		}
	}
}

func TestGroupsAreAskedForWhereTheyMayChange(t *testing.T) {
	f, asked := stepOn(t, func(s *Session) { s.Live = true })
	if _, _, err := f.Lazy(t.Context(), "groups"); err != nil || strings.Join(*asked, ",") != "magic  groups " {
		t.Errorf("%v, asked %q", err, *asked)
	}
}

func TestAPlayOfOneHostAsksForNoHosts(t *testing.T) {
	f, asked := stepOn(t, func(s *Session) { s.Shared = &vars.Shared{Magic: dict("ansible_play_hosts_all", names("a"))} })
	if got := render(t, f, "{{ ansible_play_hosts }} {{ ansible_failed_hosts }} {{ ansible_current_hosts }}"); got != "['a'] [] ['a']" || len(*asked) != 0 {
		t.Errorf("%s, asked %q", got, *asked)
	}
}

// How a host is reached to which a task is delegated is asked for once for the step, with what further ways there are.
func TestHowADelegatedHostIsReached(t *testing.T) {
	f, asked := stepOn(t, func(s *Session) { s.Reach = []string{"ansible_docker_host"} })
	for range 2 {
		d, err := f.Delegated(t.Context(), "b")
		if user, _ := d.Get("ansible_user"); err != nil || value.Printed(value.OrNone(user)) != "bob" {
			t.Errorf("%s, %v", value.Printed(d), err)
		}
	}
	if len(*asked) != 1 || !strings.Contains((*asked)[0], "ansible_become_user") || !strings.Contains((*asked)[0], "ansible_docker_host") {
		t.Errorf("asked %q", *asked)
	}
	own, err := f.Connection(t.Context(), "a")
	if user, _ := own.Get("ansible_user"); err != nil || value.Printed(user) != "ann" || len(*asked) != 1 {
		t.Errorf("its own: %s, %v", value.Printed(own), err)
	}
}

func TestWhereAStepStandsIsAskedOnce(t *testing.T) {
	f, asked := stepOn(t, nil)
	if got := f.Where(t.Context(), "") + f.Where(t.Context(), ""); got != strings.Repeat("The error appears to be here", 2) || len(*asked) != 1 {
		t.Errorf("%q, asked %q", got, *asked)
	}
	f, _ = stepOn(t, func(s *Session) {
		s.Ask = func(context.Context, wire.Ask) (wire.Answer, error) { return wire.Answer{}, errors.New("gone") }
	})
	if got := f.Where(t.Context(), ""); got != "" {
		t.Errorf("nobody knows, and it says %q", got)
	}
	if _, _, err := (&hostVariables{f: f, ctx: t.Context(), whose: whose{host: "b"}}).Lookup(value.Str("port")); err == nil || err.Error() != "gone" {
		t.Errorf("the controller is gone: %v", err)
	}
}

func TestErrorsOfAnswersAreThoseOfTemplates(t *testing.T) {
	var undefined *value.UndefinedError
	var raised *value.Error
	switch {
	case AnswerError(wire.Answer{}) != nil:
		t.Error("no error is one")
	case !errors.As(AnswerError(wire.Answer{Err: "x", ErrKind: "undefined"}), &undefined):
		t.Error("what is not defined is another error")
	case !errors.As(AnswerError(wire.Answer{Err: "x", ErrKind: "KeyError"}), &raised) || raised.Type != "KeyError":
		t.Error("what a lookup raised is another error")
	case errors.As(AnswerError(wire.Answer{Err: "x", ErrKind: "unreachable"}), &raised):
		t.Error("a host that is away is no error of Python's")
	}
}

// TestOwnVariablesSeenFromOutside: hostvars renders the host's own variables with their lookups and groups, and sees
// no hostvars in them.
func TestOwnVariablesSeenFromOutside(t *testing.T) {
	own := dict("me", "{{ hostvars }}", "again", "{{ hostvars.a.again }}", "looked", "{{ lookup('beyond', 'x') }}", "many", "{{ groups.all | length }}",
		"broken", "{{ 1 // 0 }}", "vars", "set", "bad", "{{ nothing }}")
	f, _ := stepOn(t, func(s *Session) {
		s.Vars = &vars.Host{Name: "a", Inventory: own}
		s.Templates.Lookup = func(_ context.Context, name string, args []value.Value, _ *value.Dict) (value.Value, error) {
			return value.NewList(value.Str(name + " " + value.Printed(args[0]))), nil
		}
	})
	for text, want := range map[string]string{
		"{{ hostvars.a.me }}":                                "{{ hostvars }}",
		"{{ hostvars.a.again }}":                             "{{ hostvars.a.again }}",
		"{{ hostvars.a.looked }}":                            "beyond x",
		"{{ hostvars.a.many }}":                              "4",
		"{{ hostvars.a.vars }}":                              "set",
		"{{ hostvars.a.bad }}":                               "{{ nothing }}",
		"{{ 'omit' in hostvars.a, 'groups' in hostvars.a }}": "(True, True)",
		"{{ hostvars.a.keys() | sort | join(' ') }}":         "again ansible_facts bad broken groups looked many me omit vars",
		"{{ hostvars | list | join(' ') }}":                  "a b c d localhost",
		"{{ 'localhost' in (hostvars.b | string) }}":         "False",
	} {
		if got := render(t, f, text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"{{ hostvars.a.broken }}", "{{ hostvars.a | string }}"} {
		if got := render(t, f, text); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, "by zero") {
			t.Errorf("%s: %q, want the error of what it holds", text, got)
		}
	}
}
