package compile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/playbook/syntax"
)

// BenchmarkCompile compiles a play of a thousand tasks in ten roles, each within two blocks.
func BenchmarkCompile(b *testing.B) {
	dir := b.TempDir()
	play := "- hosts: all\n  vars: {v: 1}\n  roles:\n"
	for r := range 10 {
		play += fmt.Sprintf("    - {role: r%d, tags: t%d, p: 1}\n", r, r)
		tasks := "- when: a\n  block:\n    - tags: x\n      block:\n"
		for n := range 100 {
			tasks += fmt.Sprintf("        - name: task %d\n          copy: {src: f%d, dest: \"{{ v }}/x\", mode: '0644'}\n   "+
				"       when: v is defined\n", n, n)
		}
		path := filepath.Join(dir, "roles", fmt.Sprintf("r%d", r), "tasks", "main.yml")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(tasks), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "site.yml"), []byte(play), 0o644); err != nil {
		b.Fatal(err)
	}
	p := New(&syntax.Loader{}, Config{Modules: testModules()})
	hosts := strings.Fields("h1 h2")
	for b.Loop() {
		pb, err := p.Playbook(filepath.Join(dir, "site.yml"))
		if err != nil {
			b.Fatal(err)
		}
		u, err := p.Compile(context.Background(), pb.Plays[0], Batch{ID: "0", AllHosts: hosts, Hosts: hosts, Batch: hosts})
		if err != nil || len(u.Plan.Blocks) < 10 {
			b.Fatal(err)
		}
	}
}
