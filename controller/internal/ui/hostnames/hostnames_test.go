package hostnames

import (
	"slices"
	"strings"
	"testing"
)

func TestNumberedHostsAreARange(t *testing.T) {
	for in, want := range map[string]string{
		"web1 web2 web3": "web[1:3]", "web1 web2": "web1 web2", "web1 web3 web4 web5": "web1 web[3:5]", "a": "a",
		"web01 web02 web03": "web0[1:3]", "": "",
		"db1 web1 web2 web3 x": "db1 web[1:3] x",
	} {
		if got := Fold(strings.Fields(in)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}
