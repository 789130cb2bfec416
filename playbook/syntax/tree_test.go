package syntax

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"hark/modules/py/value"
)

var update = flag.Bool("update", false, "rewrite testdata")

func TestPlaybookIsReadAsATree(t *testing.T) {
	const path = "testdata/site.txtar"
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "site.yml")
	if err := os.WriteFile(file, archive.Files[0].Data, 0o600); err != nil {
		t.Fatal(err)
	}
	pb, err := (&Grammar{Loader: &Loader{}}).Playbook(file, "")
	if err != nil {
		t.Fatal(err)
	}
	var p printer
	for _, e := range pb.Entries {
		p.playbookEntry(e)
	}
	if *update {
		archive.Files[1].Data = []byte(p.b.String())
		if err := os.WriteFile(path, txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(archive.Files[1].Data), p.b.String()); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}

// printer writes a tree as an outline.
type printer struct {
	b     strings.Builder
	depth int
}

func (p *printer) line(format string, a ...any) {
	fmt.Fprintf(&p.b, "%s%s\n", strings.Repeat("  ", p.depth), fmt.Sprintf(format, a...))
}

func at(place Place) string { return fmt.Sprintf("%d:%d", place.Line, place.Column) }

func (p *printer) attrs(a Attrs) {
	var names []string
	for name := range a {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p.line(".%s %s = %s", name, at(a[name].Place), value.PrintedRepr(a[name].Value))
	}
}

func (p *printer) common(vars *value.Dict, tags []value.Value, collections []string) {
	if vars != nil {
		p.line("vars %s", value.PrintedRepr(vars))
	}
	if tags != nil {
		p.line("tags %s", value.PrintedRepr(value.NewList(tags...)))
	}
	if collections != nil {
		p.line("collections %q", collections)
	}
}

func (p *printer) playbookEntry(e PlaybookEntry) {
	if im := e.Import; im != nil {
		p.line("import %s %s", at(im.Place), im.File)
		p.depth++
		p.attrs(im.Attrs)
		p.common(im.Vars, im.Tags, nil)
		p.depth--
		return
	}
	play := e.Play
	p.line("play %s", at(play.Place))
	p.depth++
	p.attrs(play.Attrs)
	p.common(play.Vars, play.Tags, play.Collections)
	for _, d := range play.Prompts {
		p.line("prompt %s", value.PrintedRepr(d))
	}
	for _, r := range play.Roles {
		p.line("role %s %s", at(r.Place), r.Name)
		p.depth++
		p.attrs(r.Attrs)
		p.common(r.Vars, r.Tags, nil)
		if r.Params != nil {
			p.line("params %s", value.PrintedRepr(r.Params))
		}
		p.depth--
	}
	p.entries("pre_tasks", play.PreTasks)
	p.entries("tasks", play.Tasks)
	p.entries("post_tasks", play.PostTasks)
	p.entries("handlers", play.Handlers)
	p.depth--
}

func (p *printer) entries(name string, entries []Entry) {
	if len(entries) == 0 {
		return
	}
	p.line("%s:", name)
	p.depth++
	for _, e := range entries {
		if e.Block != nil {
			p.block(e.Block)
		} else {
			p.task(e.Task)
		}
	}
	p.depth--
}

func (p *printer) block(b *Block) {
	p.line("block %s", at(b.Place))
	p.depth++
	p.attrs(b.Attrs)
	p.common(b.Vars, b.Tags, b.Collections)
	p.entries("body", b.Body)
	p.entries("rescue", b.Rescue)
	p.entries("always", b.Always)
	p.depth--
}

func (p *printer) task(t *Task) {
	p.line("task %s %q %s %s", at(t.Place), t.Name, t.Action, value.PrintedRepr(t.Args))
	p.depth++
	if t.ArgsExpr != "" {
		p.line("args from %s", t.ArgsExpr)
	}
	if t.Loop.Given() {
		p.line("loop %q over %s", t.Loop.With, value.PrintedRepr(t.Loop.Over.Value))
	}
	if t.LoopControl != nil {
		p.line("loop_control:")
		p.depth++
		p.attrs(t.LoopControl)
		p.depth--
	}
	if t.Handler {
		p.line("handler, listens to %q", t.Listen)
	}
	p.attrs(t.Attrs)
	p.common(t.Vars, t.Tags, t.Collections)
	p.depth--
}

// TestPlaybooksOfCollectionsSeeTheirCollection where they name collections of their own, too.
func TestPlaybooksOfCollectionsSeeTheirCollection(t *testing.T) {
	file := write(t, "site.yml",
		"- hosts: all\n  tasks:\n    - one:\n- hosts: all\n  collections: [b.c]\n  tasks:\n    - two:\n")
	seen := map[string]string{}
	g := &Grammar{Loader: &Loader{}, IsAction: func(name string, collections []string) (bool, error) {
		seen[name] = strings.Join(collections, " ")
		return true, nil
	}}
	if _, err := g.Playbook(file, "a.b"); err != nil || seen["one"] != "a.b" || seen["two"] != "a.b b.c" {
		t.Errorf("%q, %v", seen, err)
	}
}
