package jinja_test

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hark/playbook/jinja/templar"
	"hark/playbook/jinja/value"
)

// mostMemory is what one template may use in all.
const mostMemory = 2 << 30

// TestNothingIsUnbounded renders what would take all memory or all time (testdata/limits.txt): each ends, with a value or an error,
// and with little memory.
func TestNothingIsUnbounded(t *testing.T) {
	vars := mapVars{value.NewDict()}
	vars.d.Set("x", value.Int(5))
	vars.d.Set("s", value.YAMLStr(strings.Repeat("a", 1<<20)))
	vars.d.Set("lst", value.NewList(value.Int(1), value.Int(2)))
	vars.d.Set("self_referring", value.YAMLStr("{{ self_referring }}"))
	vars.d.Set("ping", value.YAMLStr("{{ pong }}"))
	vars.d.Set("pong", value.YAMLStr("{{ ping }}"))
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
		_, err := tpl.Template(context.Background(), value.YAMLStr(text))
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > mostMemory {
			t.Errorf("%s takes %d MB (%v)", text, used>>20, err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}
