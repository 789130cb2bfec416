package compile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/all"
	"hark/playbook/syntax"
)

// TestMistakesThatCanBeSeenBeforeTheFirstTask: each kind is found with its place, and nothing that may be right.
func TestMistakesThatCanBeSeenBeforeTheFirstTask(t *testing.T) {
	const play = "- hosts: all\n  tasks:\n"
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"register":              {play + "  - command: id\n    register: my-var\n", []string{"3 register my-var"}},
		"register, a template":  {play + "  - command: id\n    register: \"{{ x }}\"\n", nil},
		"meta":                  {play + "  - meta: flush_handler\n", []string{"3 meta flush_handler"}},
		"meta, right":           {play + "  - meta: flush_handlers\n  - meta: end_host\n", nil},
		"argument":              {play + "  - copy: {srce: a, dest: /b}\n", []string{"3 argument srce"}},
		"argument, key=value":   {play + "  - file: paht=/b state=touch\n", []string{"3 argument paht"}},
		"arguments, right":      {play + "  - copy: {src: a, dest: /b}\n  - command: id\n  - shell: id\n    args: {chdir: /}\n", nil},
		"arguments of any name": {play + "  - set_fact: {two: 2, cacheable: yes}\n", nil},
		"arguments, a template": {play + "  - copy: \"{{ args }}\"\n", nil},
		"handler": {play + "  - command: id\n    notify: [restart, restrat]\n  handlers:\n  - name: restart\n    command: id\n",
			[]string{"3 handler restrat"}},
		"handler, listening":  {play + "  - command: id\n    notify: web\n  handlers:\n  - name: restart\n    command: id\n    listen: web\n", nil},
		"handler, a template": {play + "  - command: id\n    notify: web\n  handlers:\n  - name: restart {{ x }}\n    command: id\n", nil},
		"handler, included":   {play + "  - command: id\n    notify: web\n  - include_tasks: more.yml\n", nil},
		"in a block":          {play + "  - block:\n    - meta: nope\n    rescue:\n    - copy: {dst: x}\n", []string{"4 meta nope", "6 argument dst"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, m := range Mistakes(loadPlay(t, tc.text)) {
				got = append(got, fmt.Sprintf("%d %s %s", m.Place.Line, m.Kind, m.Word))
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %s, want %s", strings.Join(got, "; "), strings.Join(tc.want, "; "))
			}
		})
	}
}

// loadPlay loads a playbook of one play, with all native modules.
func loadPlay(t *testing.T, text string) *Play {
	t.Helper()
	file := filepath.Join(t.TempDir(), "site.yml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	book, err := New(&syntax.Loader{}, Config{Modules: modules.NewRegistry(all.Modules()...), InjectFacts: true}).Playbook(file)
	if err != nil {
		t.Fatal(err)
	}
	return book.Plays[0]
}
