package jinja_test

import (
	"context"
	"errors"
	"sort"
	"strings"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// TestSealedStringsAreNeverTakenForText shows that no use of a vault string that cannot be opened goes on as if it
// were another text.
func TestSealedStringsAreNeverTakenForText(t *testing.T) {
	reason := errors.New("no password fits")
	vars := templar.DictVars{Dict: value.NewDict()}
	vars.Dict.Set("v", &value.Vault{Cipher: "c", Decrypt: func(string) (string, error) { return "", reason }})
	tpl := templar.New(vars, templar.Options{Engine: templar.NewEngine()})
	var texts []string
	for name := range templar.Filters() {
		if harmless["|"+name] || strings.Contains(name, ".") {
			continue
		}
		texts = append(texts, "{{ v | "+name+" }}")
	}
	for name := range templar.Tests() {
		if harmless["is "+name] || strings.ContainsAny(name, ".<>=") {
			continue
		}
		texts = append(texts, "{{ v is "+name+" }}", "{{ v is "+name+"('x') }}")
	}
	texts = append(texts, "{{ v }}", "a {{ v }}", "{{ v == 'x' }}", "{{ 'x' == v }}", "{{ v != 1 }}", "{{ v in ['a'] }}", "{{ 'a' in v }}", "{{ v + 'x' }}",
		"{{ 'x' ~ v }}", "{{ v * 2 }}", "{{ v < 'x' }}", "{{ v[0] }}", "{{ v[1:] }}", "{{ v.upper() }}", "{{ v.x }}", "{{ [v] }}", "{{ {'a': v} }}",
		"{% for c in v %}{% endfor %}", "{% if v %}{% endif %}", "{{ not v }}", "{{ v and 1 }}", "{{ 1 if v else 2 }}", "{{ 'a' | replace(v, 'b') }}", "{{ '%s' % v }}",
		"{{ '{}'.format(v) }}", "{{ [1] | join(v) }}", "{{ lookup('items', v) }}", "{{ 5 | string in v }}", "{% include v %}")
	sort.Strings(texts)
	for _, text := range texts {
		got, err := tpl.Template(context.Background(), value.SourceText(text))
		switch {
		case err == nil:
			t.Errorf("%s gives %s", text, show(got))
		case !strings.Contains(err.Error(), reason.Error()):
			t.Errorf("%s fails with: %v", text, err)
		}
	}
}

// harmless are the filters and tests that do not look at the text.
var harmless = map[string]bool{
	"|type_debug": true, "|to_yaml": true, "|to_nice_yaml": true, "is defined": true, "is undefined": true, "is vault_encrypted": true,
	"is boolean": true, "is callable": true, "is escaped": true, "is false": true, "is true": true, "is filter": true, "is test": true,
	"is float": true, "is integer": true, "is isnan": true, "is nan": true, "is iterable": true, "is mapping": true, "is none": true,
	"is number": true, "is sameas": true, "is sequence": true, "is string": true,
}
