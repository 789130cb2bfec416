package answer

import (
	"context"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/playbook/plan"
)

func TestAHostGetsTheModuleOfItsStepAndNoOther(t *testing.T) {
	packed := 0
	pack := func(s *plan.Step) ([]byte, error) {
		packed++
		return []byte("pack of " + s.Action), nil
	}
	mine := &plan.Step{ID: "1", Kind: plan.Task, Action: "acme.tools.hammer", Written: "hammer", Foreign: &plan.Foreign{Path: "/x"}}
	a, _ := begun(t, Config{Pack: pack}, nil, mine, task("2", "command", dict()))
	wanted := func(step plan.ID, name string) wire.Ask {
		k := ask(wire.AskFile, "a", step)
		k.Dir, k.Name = moduleDir, name
		return k
	}
	got := a.Answer(context.Background(), wanted("1", "/etc/passwd"))
	if got.Err != "" || got.File == nil {
		t.Fatalf("answer %+v", got)
	}
	piece := ask(wire.AskBlob, "a", "1")
	piece.Digest = got.File.Digest
	if data := a.Answer(context.Background(), piece); string(data.Data) != "pack of acme.tools.hammer" || !data.EOF || data.Secret {
		t.Errorf("pulled %q, %s", data.Data, data.Err)
	}
	piece.Host = "b"
	if data := a.Answer(context.Background(), piece); !strings.HasPrefix(data.Err, "refused: ") {
		t.Errorf("another host pulled %q, %s", data.Data, data.Err)
	}
	if got := a.Answer(context.Background(), wanted("2", "hammer")); !strings.HasPrefix(got.Err, "refused: ") || packed != 1 {
		t.Errorf("the module of a native step: %+v, packed %d", got, packed)
	}
}
