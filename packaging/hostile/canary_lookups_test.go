//go:build hostile

package hostile

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hark/modules/dialect"
)

// goodTerms are terms with which a lookup finds something, as one reads its options; 'x' otherwise.
func goodTerms() map[string]string {
	return map[string]string{
		"config": "'DEFAULT_FORKS'", "csvfile": "'k0', file='texts'", "dict": "{'k': 1}", "env": "'NOTHING'",
		"file":     "'texts'",
		"get_path": "{'k': 1}, 'k'", "index_of": "['a'], 'eq', 'a'", "ini": "'k', file='texts.ini'", "nested": "['a'], ['b']",
		"random_string": "", "sequence": "", "template": "'show.j2'", "to_paths": "{'k': 1}", "unvault": "'texts'",
		"url": "'http://127.0.0.1:1/'", "vars": "'inventory_hostname'",
	}
}

// ofLookup are the sinks of a lookup of the table: its terms in all shapes, each of its options, those that every
// lookup has, and the loop of its name.
func ofLookup(l dialect.Lookup) []sink {
	var all []sink
	add := func(what, expression string) {
		task := "- {name: ID, assert: {that: \"{{ " + expression + " }}\"}, ignore_errors: true}\n"
		all = append(all, sink{name: "lookup " + l.Name + ", " + what, tasks: task})
	}
	full := l.FullName()
	add("a term", "lookup('"+full+"', TEXT)")
	add("terms", "query('"+full+"', [TEXT], TEXT)")
	add("a mapping", "query('"+full+"', {'k': TEXT, TEXT: 'k', 'files': [TEXT], 'paths': [TEXT]})")
	add("words", "lookup('"+full+"', 'x ' ~ TEXT ~ ' file=' ~ TEXT)")
	add("allow_unsafe", "lookup('"+full+"', TEXT, allow_unsafe=true)")
	good, known := goodTerms()[l.Name]
	if !known {
		good = "'x'"
	}
	if good != "" {
		good = ", " + good
	}
	for _, o := range append([]string{"wantlist", "errors"}, l.Options...) {
		if strings.Contains(good, " "+o+"=") {
			good = good[:strings.Index(good, ", "+o+"=")]
		}
		add("option "+o, "[lookup('"+full+"'"+good+", "+o+"=TEXT), query('"+full+"'"+good+", "+o+"={'v': [TEXT], TEXT: TEXT})]")
	}
	for _, loop := range []string{`"{{ TEXT }}"`, `["{{ TEXT }}"]`, `["TEXT"]`} {
		all = append(all, sink{
			name: "loop with_" + l.Name,
			tasks: "- {name: ID, debug: {msg: \"{{ item }}\"}, when: item, with_" + full + ": " + loop +
				", ignore_errors: true}\n",
		})
	}
	return all
}

func ofLookups() []sink {
	var all []sink
	for _, l := range dialect.Lookups() {
		all = append(all, ofLookup(l)...)
	}
	return all
}

// No lookup runs a foreign text, whether it is a term, an option or an item.
func TestLookupsRunNoForeignTexts(t *testing.T) {
	all := cases(ofLookups())
	dir := perches(t, len(all))
	from := sources()[0]
	eachLevel(t, func(t *testing.T, level string) {
		if everything() || level == oldest() || level == newest() {
			newCage(t, dir, level).loose(from, caged(from, all)).silent(t, all)
		}
	})
}

// A lookup that comes to the table has sinks, and so has each option that the code of the lookups reads.
func TestEveryLookupHasSinks(t *testing.T) {
	named := map[string]bool{}
	for _, l := range dialect.Lookups() {
		for _, o := range l.Options {
			named[o] = true
			has := func(s sink) bool { return s.name == "lookup "+l.Name+", option "+o }
			if !slices.ContainsFunc(ofLookup(l), has) {
				t.Errorf("no sink has the option %s of %s", o, l.Name)
			}
		}
	}
	reads := regexp.MustCompile(`(?:kw\.Get|\bc\.text|\bc\.bool|\bo\.text|\bo\.on|\bo\.number)\("(\w+)"`)
	defaults := regexp.MustCompile(`(?s)options\{(.*?)\}`)
	key := regexp.MustCompile(`"(\w+)":`)
	found := map[string]bool{}
	for _, pattern := range []string{
		"../../playbook/jinja/lookups/*.go", "../../playbook/jinja/templar/templatelookup.go",
		"../../controller/internal/play/answer/lookup*.go",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range reads.FindAllStringSubmatch(string(text), -1) {
				found[m[1]] = true
			}
			for _, m := range defaults.FindAllStringSubmatch(string(text), -1) {
				for _, k := range key.FindAllStringSubmatch(m[1], -1) {
					found[k[1]] = true
				}
			}
		}
	}
	if len(found) < 20 {
		t.Errorf("the code of the lookups reads only %d options", len(found))
	}
	for name := range found {
		if !named[name] && name != "wantlist" && name != "errors" {
			t.Errorf("no row of the table of lookups has the option %s, which the code reads", name)
		}
	}
}
