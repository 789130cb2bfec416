package connection

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func do(t *testing.T, args map[string]any) modules.Result {
	t.Helper()
	env := &modules.Env{Check: true, Exec: modules.HostExec(os.Environ(), nil)}
	return Connection.Run(t.Context(), env, modtest.Args(args))
}

func TestCommandsHaveInputAndBothOutputs(t *testing.T) {
	in := base64.StdEncoding.EncodeToString([]byte("in\xff"))
	r := do(t, map[string]any{"do": "exec", "cmd": "cat; echo err >&2; exit 3", "data": in})
	if r.Failed || modtest.Entry(r, "out") != in ||
		modtest.Entry(r, "err") != base64.StdEncoding.EncodeToString([]byte("err\n")) || modtest.Entry(r, "rc") != int64(3) {
		t.Errorf("%+v", r)
	}
}

func TestFilesMoveInPieces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("what was there before"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, piece := range []string{"one ", "two"} {
		if r := do(t, map[string]any{"do": "put", "path": path, "data": base64.StdEncoding.EncodeToString([]byte(piece)),
			"more": i > 0}); r.Failed {
			t.Fatalf("%+v", r)
		}
	}
	got := ""
	for offset := 0; ; offset += 3 {
		r := do(t, map[string]any{"do": "fetch", "path": path, "offset": offset, "size": 3})
		text, _ := modtest.Entry(r, "data").(string)
		piece, err := base64.StdEncoding.DecodeString(text)
		if r.Failed || err != nil {
			t.Fatalf("%+v, %v", r, err)
		}
		if got += string(piece); len(piece) < 3 {
			break
		}
	}
	if got != "one two" {
		t.Errorf("got %q", got)
	}
}

func TestWhatCannotBeDoneFails(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none", "file")
	for _, args := range []map[string]any{
		{"do": "put", "path": none}, {"do": "put", "path": none, "more": true}, {"do": "fetch", "path": none, "size": 1},
		{"do": "exec", "cmd": ":", "data": "?"}, {"do": "sing"},
	} {
		if r := do(t, args); !r.Failed || strings.Contains(r.Msg, "internal error") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}
