package compile

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/syntax"
	"hark/playbook/vault"
)

// Where secrets are hidden no plan has them in the name of its play, which is for logs of hosts; tasks see it as it is
// rendered. The name of a task that is a vault string is marked.
func TestPlansHaveNoSecretsInTheNameOfThePlay(t *testing.T) {
	data, err := vault.Encrypt([]byte("S3CRET"), []byte("pw"), "")
	if err != nil {
		t.Fatal(err)
	}
	cipher := strconv.Quote(string(data))
	tasks := "  hosts: h1\n  gather_facts: false\n  vars: {pw: !vault " + cipher + "}\n" +
		"  tasks:\n    - {name: !vault " + cipher + ", ping: }\n    - {name: plain, ping: }\n"
	secrets := &vault.Secrets{List: []vault.Secret{{ID: "default", Password: []byte("pw")}}}
	hidden := dialect.SecretsRedacted.Level()
	for _, c := range []struct {
		name       string
		level      plan.Level
		want, seen string
	}{
		{`"play {{ pw }}"`, hidden, "play {{ pw }}", "play S3CRET"},
		{"!vault " + cipher, hidden, "h1", "S3CRET"},
		{"plain", hidden, "plain", "plain"},
		{"7", hidden, "7", "7"},
		{`""`, hidden, "h1", "h1"},
		{`"play {{ pw }}"`, plan.Level219, "play S3CRET", "play S3CRET"},
	} {
		t.Run(string(c.level)+" "+c.name, func(t *testing.T) {
			site := filepath.Join(t.TempDir(), "site.yml")
			if err := os.WriteFile(site, []byte("- name: "+c.name+"\n"+tasks), 0o644); err != nil {
				t.Fatal(err)
			}
			p := New(&syntax.Loader{Level: c.level, Secrets: secrets}, Config{Modules: testModules(), Level: c.level})
			pb, err := p.Playbook(site)
			if err != nil {
				t.Fatal(err)
			}
			hosts := []string{"h1"}
			u, err := p.Compile(t.Context(), pb.Plays[0], Batch{ID: "0", AllHosts: hosts, Hosts: hosts, Batch: hosts})
			if err != nil {
				t.Fatal(err)
			}
			seen, _ := u.Plan.Play.Magic.Get("ansible_play_name")
			if got := u.Plan.Play.Name; got != c.want || value.Printed(seen) != c.seen {
				t.Errorf("the plan's play is called %q and seen as %v, want %q and %q", got, seen, c.want, c.seen)
			}
			var sealed []bool
			for _, block := range u.Plan.Blocks {
				for _, n := range block.Body {
					if n.Step != nil && n.Step.Name != "" {
						sealed = append(sealed, n.Step.Sealed)
					}
				}
			}
			if len(sealed) != 2 || !sealed[0] || sealed[1] {
				t.Errorf("sealed names: %v", sealed)
			}
		})
	}
}
