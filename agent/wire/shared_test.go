package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// opening with a plan and variables of these sizes.
func sized(plan, vars int) Opening {
	in := Opening{Start: Start{Run: "r", Host: "h1", Digest: "d", Window: 1, BecomePassword: strings.Repeat("v", vars)}, HostKey: NewKey(), Turn: 3, Sealed: true}
	if plan > 0 {
		in.Start.Plan = json.RawMessage(`{"a": "` + strings.Repeat("p", plan) + `"}`)
	}
	return in
}

// TestPlansArePackedOnceForAll: whatever the sizes, what arrives is what Pack would have sent.
func TestPlansArePackedOnceForAll(t *testing.T) {
	var c Codec
	var shared SharedPlans
	id, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []struct{ plan, vars int }{{0, 0}, {10, 10}, {5000, 10}, {5000, 700}, {5000, 128 << 10}, {5000, 128<<10 - 700}, {20, 3000}, {5000, 400 << 10}} {
		for range 2 {
			want := sized(size.plan, size.vars)
			frame, err := shared.Pack(&c, Header{Kind: KindPlan, Run: "r"}, want, Packing{Sign: id, To: id.XKey, Box: id})
			if err != nil {
				t.Fatal(err)
			}
			f, err := Parse(frame)
			if err != nil {
				t.Fatal(err)
			}
			var got Opening
			if err := f.Body(&c, SealBox, Keys{Own: id}, &got); err != nil {
				t.Fatalf("%+v: %v", size, err)
			}
			if got.Start.Plan, want.Start.Plan = compacted(t, got.Start.Plan), compacted(t, want.Start.Plan); cmp.Diff(want, got) != "" {
				t.Errorf("%+v: %s", size, cmp.Diff(want, got))
			}
		}
		shared.packed = nil
	}
}

func compacted(t *testing.T, raw json.RawMessage) json.RawMessage {
	t.Helper()
	if raw == nil {
		return nil
	}
	out, err := json.Marshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func BenchmarkOpening(b *testing.B) {
	var c Codec
	id, err := NewIdentity()
	if err != nil {
		b.Fatal(err)
	}
	var shared SharedPlans
	packing := Packing{Sign: id, To: id.XKey, Box: id}
	for name, pack := range map[string]func(Opening) ([]byte, error){
		"each":   func(in Opening) ([]byte, error) { return c.Pack(Header{Kind: KindPlan}, in, packing) },
		"shared": func(in Opening) ([]byte, error) { return shared.Pack(&c, Header{Kind: KindPlan}, in, packing) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			in := sized(6000, 100)
			for b.Loop() {
				if _, err := pack(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
