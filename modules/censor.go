package modules

import (
	"fmt"
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/value"
)

// Censored replaces a value that is nothing but a secret.
const Censored = "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"

// censored replaces secrets in v, as Ansible does with the values of no_log parameters: a text that is a secret becomes
// Censored, and one that contains a secret has stars instead. Keys stay. It does not change v.
func censored(v value.Value, secrets []string) value.Value {
	switch v := v.(type) {
	case *value.List:
		return value.NewList(censoredItems(v.Items, secrets)...)
	case *value.Tuple:
		return value.NewTuple(censoredItems(v.Items, secrets)...)
	case *value.Dict:
		return censoredDict(v, secrets)
	case FieldPlace:
		return v
	}
	text, err := value.ToStr(v)
	shown := censorText(text, secrets)
	switch {
	case err != nil || shown == text:
		return v
	case !value.IsText(v):
		shown = Censored
	}
	return value.UnsafeStr(shown)
}

func censoredItems(items []value.Value, secrets []string) []value.Value {
	out := make([]value.Value, len(items))
	for i, x := range items {
		out[i] = censored(x, secrets)
	}
	return out
}

func censoredDict(d *value.Dict, secrets []string) *value.Dict {
	if d == nil {
		return nil
	}
	out := value.NewDict()
	d.Each(func(k, v value.Value) bool { return out.SetKey(k, censored(v, secrets)) })
	return out
}

// censoredSide returns one side of a diff, nil for none.
func censoredSide(v any, secrets []string) any {
	if v == nil {
		return nil
	}
	return censored(plainly(v), secrets)
}

func censorText(text string, secrets []string) string {
	for _, s := range secrets {
		if text == s {
			return Censored
		}
	}
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, "********")
	}
	return text
}

// Redacts reports whether secrets are hidden where results are shown, as from ansible-core 2.22 on: those of arguments
// stay in results, which name them in result.Marks.Secrets.
func (e *Env) Redacts() bool { return e.Release.Has(dialect.SecretsRedacted) }

// discreet returns an Env whose warnings do not contain the secrets.
func (e *Env) discreet(secrets []string) *Env {
	if len(secrets) == 0 || e.Warn == nil || e.Redacts() {
		return e
	}
	own := *e
	own.Warn = func(format string, a ...any) { e.Warn("%s", censorText(fmt.Sprintf(format, a...), secrets)) }
	return &own
}

// censor hides the secrets in everything that a user may see of a result.
func (r *Result) censor(secrets []string) {
	if len(secrets) == 0 {
		return
	}
	r.Msg = censorText(r.Msg, secrets)
	r.Data, r.Facts, r.Invocation = censoredDict(r.Data, secrets), censoredDict(r.Facts, secrets),
		censoredDict(r.Invocation, secrets)
	for i := range r.Warnings {
		r.Warnings[i] = censorText(r.Warnings[i], secrets)
	}
	for i := range r.Deprecations {
		for k, text := range r.Deprecations[i] {
			r.Deprecations[i][k] = censored(plainly(text), secrets)
		}
	}
	for i := range r.Diff {
		d := &r.Diff[i]
		d.Before, d.After = censoredSide(d.Before, secrets), censoredSide(d.After, secrets)
		d.BeforeHeader, d.AfterHeader = censorText(d.BeforeHeader, secrets), censorText(d.AfterHeader, secrets)
		d.Prepared, d.Raw = censorText(d.Prepared, secrets), censoredDict(d.Raw, secrets)
	}
}
