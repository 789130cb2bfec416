package plan

import (
	"encoding/json"
	"testing"

	"hark/modules/py/value"
)

func TestCompareFollowsPlayOrder(t *testing.T) {
	order := []ID{"1", "2", "2.0.1", "2.0.10", "2.1.1", "3", "10"}
	for i, a := range order {
		for j, b := range order {
			got := Compare(a, b)
			if i < j && got >= 0 || i > j && got <= 0 || i == j && got != 0 {
				t.Errorf("Compare(%q, %q) = %d", a, b, got)
			}
		}
	}
}

func TestPlanSurvivesTheWire(t *testing.T) {
	args := value.NewDict()
	args.Set("port", value.Int(80))
	args.Set("secret", value.UnsafeStr("{{ no }}"))
	p := &Plan{Version: Version, Blocks: []Block{{ID: "1", Body: []Node{{Step: &Step{
		ID: "2", Kind: Task, Action: "ansible.builtin.debug", Args: Dict{args},
		When:    []Expr{Lit(value.Bool(true)), Lit(value.SourceText("x is defined"))},
		Retries: Lit(value.None{}),
	}}}}}}
	digest, raw, err := p.Digest()
	if err != nil {
		t.Fatal(err)
	}
	var back Plan
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	again, _, err := back.Digest()
	if err != nil || again != digest {
		t.Fatalf("digest %s became %s (%v)", digest, again, err)
	}
	s := NewIndex(&back).Step("2")
	if s == nil || len(s.When) != 2 {
		t.Fatalf("step came back as %+v", s)
	}
	if s.Retries.IsZero() {
		t.Error("an explicit null became a keyword that was not given")
	}
	if got, _ := s.Args.Get("secret"); !value.IsUnsafe(got) {
		t.Errorf("unsafe text came back as %T", got)
	}
}

func BenchmarkCompare(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if Compare("12.3.4", "12.3.5") >= 0 || Compare("", "1.0") >= 0 {
			b.Fatal("out of order")
		}
	}
}
