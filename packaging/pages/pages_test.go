package pages_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/packaging/pages"
)

func TestBlocksAreFencedOrIndented(t *testing.T) {
	got := pages.Blocks("# T\n\n    one\n    two\nwords\n    not this\n\n1. item\n\n   ```console\n   $ three\n     four\n   ```\n\n```yaml\n# a.yml\n- x\n```\nend\n\n    last")
	want := []pages.Block{
		{Line: 3, Lines: []string{"one", "two"}},
		{Line: 11, Info: "console", Lines: []string{"$ three", "  four"}},
		{Line: 16, Info: "yaml", Lines: []string{"# a.yml", "- x"}},
		{Line: 21, Lines: []string{"last"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if name := got[2].File(); name != "a.yml" {
		t.Errorf("the file is %q", name)
	}
	if name := got[1].File(); name != "" {
		t.Errorf("commands are the file %q", name)
	}
}

func TestCommandsHaveWhatTheyPrint(t *testing.T) {
	got := pages.Block{Line: 7, Info: "console", Lines: []string{"# remark", "$ a", "x ... z", "...", "$ b"}}.Commands()
	want := []pages.Command{{Line: 8, Text: "a", Shown: []string{"x ... z", "..."}}, {Line: 11, Text: "b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for output, missing := range map[string]string{"x y z\n": "", "0\nx (1) z  \nmore": "", "x y": "x ... z", "": "x ... z"} {
		if m := want[0].Missing(output); m != missing {
			t.Errorf("of %q %q is missing", output, m)
		}
	}
	two := pages.Command{Shown: []string{"a", "b"}}
	if m := two.Missing("b\na\n"); m != "b" {
		t.Errorf("out of order %q is missing", m)
	}
}
