package wire

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// opening with a plan and variables of these sizes.
func sized(plan, vars int) Opening {
	in := Opening{Start: Start{Run: "r", Host: "h1", Digest: "d", Window: 1, BecomePassword: strings.Repeat("v", vars)},
		HostKey: NewKey(), Turn: 3, Sealed: true}
	if plan > 0 {
		in.Start.Plan = json.RawMessage(`{"a": "` + strings.Repeat("p", plan) + `"}`)
	}
	return in
}

// sent is an opening as an agent of that identity reads it.
func sent(t *testing.T, shared *SharedPlans, c *Codec, id *Identity, in Opening) Opening {
	t.Helper()
	frame, err := shared.Pack(c, Header{Kind: KindPlan, Run: "r"}, in, Packing{Sign: id, To: id.XKey, Box: id})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(frame)
	if err != nil {
		t.Fatal(err)
	}
	var got Opening
	if err := f.Body(c, SealBox, Keys{Own: id}, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestPlansArePackedOnceForAll: whatever the sizes, what arrives is what Pack would have sent.
func TestPlansArePackedOnceForAll(t *testing.T) {
	var c Codec
	var shared SharedPlans
	id := identity(t)
	for _, size := range []struct{ plan, vars int }{{0, 0}, {10, 10}, {5000, 10}, {5000, 700}, {5000, 128 << 10},
		{5000, 128<<10 - 700}, {20, 3000}, {5000, 400 << 10}} {
		for range 2 {
			want := sized(size.plan, size.vars)
			got := sent(t, &shared, &c, id, want)
			if got.Start.Plan, want.Start.Plan = compacted(t, got.Start.Plan),
				compacted(t, want.Start.Plan); cmp.Diff(want, got) != "" {
				t.Errorf("%+v: %s", size, cmp.Diff(want, got))
			}
		}
		shared.packed = nil
	}
}

// A plan travels with the opening as long as it is small on the way; else the agent pulls it.
func TestPlansThatAreLargeOnTheWayAreLeftOut(t *testing.T) {
	noise := make([]byte, 24<<10)
	_, _ = rand.Read(noise)
	for _, c := range []struct {
		name    string
		text    string
		travels bool
	}{
		{"small", strings.Repeat("p", 500), true},
		{"large, and small when packed", strings.Repeat("p", 200<<10), true},
		{"large when packed", hex.EncodeToString(noise), false},
	} {
		var codec Codec
		var shared SharedPlans
		id := identity(t)
		in := sized(0, 10)
		in.Start.Plan = json.RawMessage(`"` + c.text + `"`)
		for range 2 {
			got := sent(t, &shared, &codec, id, in)
			if travels := got.Start.Plan != nil; travels != c.travels || got.Start.Digest != in.Start.Digest {
				t.Errorf("%s: the plan travels: %v", c.name, travels)
			}
		}
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
