package record_test

import (
	"slices"
	"testing"

	"hark/controller/internal/runs/record"
)

func TestFoldedHostsComeBack(t *testing.T) {
	for _, hosts := range [][]string{
		nil, {"web1"}, {"web1", "web2", "web3"}, {"web[1:3]"}, {"web1", "web2", "web3", "web[1:3]", "=x", "a[b]", "web5",
			"web6", "web7"},
		{"web01", "web02", "web03"}, {"db[2:1]", "[1:2]", "x]", "x[1:2", "x[1:2]y"},
	} {
		folded := record.Fold(hosts)
		if got := record.Unfold(folded); !slices.Equal(got, hosts) {
			t.Errorf("%q came back as %q from %q", hosts, got, folded)
		}
	}
}
