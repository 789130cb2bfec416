package jinja_test

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// mostMemory is what one template may use in all.
const mostMemory = 2 << 30

// TestNothingIsUnbounded renders what would take all memory or all time (testdata/limits.txt): each ends, with a
// value or an error, and with little memory.
func TestNothingIsUnbounded(t *testing.T) {
	vars := templar.DictVars{Dict: value.NewDict()}
	vars.Dict.Set("x", value.Int(5))
	vars.Dict.Set("s", value.SourceText(strings.Repeat("a", 1<<20)))
	vars.Dict.Set("lst", value.NewList(value.Int(1), value.Int(2)))
	vars.Dict.Set("self_referring", value.SourceText("{{ self_referring }}"))
	vars.Dict.Set("ping", value.SourceText("{{ pong }}"))
	vars.Dict.Set("pong", value.SourceText("{{ ping }}"))
	f, err := os.Open(filepath.Join("testdata", "limits.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	engine := templar.NewEngine()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		text := lines.Text()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tpl := templar.New(vars, templar.Options{Engine: engine, LoopControls: true})
		_, err := tpl.Template(context.Background(), value.SourceText(text))
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > mostMemory {
			t.Errorf("%s takes %d MB (%v)", text, used>>20, err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}
