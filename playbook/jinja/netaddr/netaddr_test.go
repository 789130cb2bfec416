package netaddr

import (
	"math/big"
	"testing"
)

// What networks answer is held by playbook/jinja/testdata/answers/ip_*.jsonl, against Python's netaddr.

func TestMergeCoversTheSameAddresses(t *testing.T) {
	for _, c := range []struct {
		in   []string
		want string
	}{
		{[]string{"10.0.0.0/25", "10.0.0.128/25"}, "10.0.0.0/24"},
		{[]string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}, "10.0.0.1/32 10.0.0.2/31"},
		{[]string{"::/0", "0.0.0.0/0"}, "0.0.0.0/0 ::/0"},
		{[]string{"10.0.0.0/8", "10.1.0.0/16", "11.0.0.0/8"}, "10.0.0.0/7"},
	} {
		var networks []Network
		for _, s := range c.in {
			n, err := ParseNetwork(s)
			if err != nil {
				t.Fatal(err)
			}
			networks = append(networks, n)
		}
		got := ""
		for _, n := range Merge(networks) {
			got += " " + n.String()
		}
		if got != " "+c.want {
			t.Errorf("%v: %s, want %s", c.in, got, c.want)
		}
	}
}

func FuzzParseNetwork(f *testing.F) {
	for _, s := range []string{"10.1/8", "::ffff:1.2.3.4/96", "1.2.3.4/255.255.0.0", "1.2.3.4/0.0.0.255", "fe80::1%eth0",
		"-1", "1_0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseNetwork(s)
		if err != nil {
			return
		}
		back, err := ParseNetwork(n.String())
		if err != nil || back.String() != n.String() {
			t.Fatalf("%q is %s, which is %s (%v)", s, n, back, err)
		}
		if !n.CIDR().Contains(n) || n.Size().Sign() <= 0 {
			t.Fatalf("%q does not hold itself", s)
		}
		if _, err := n.At(big.NewInt(-1)); err != nil {
			t.Fatalf("%q has no last address: %v", s, err)
		}
	})
}

func FuzzParseEUI(f *testing.F) {
	for _, s := range []string{"1a:2b:3c:4d:5e:6f", "1a2b.3c4d.5e6f", "00-11-22-ff-fe-33-44-55", "123"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		if e, err := ParseEUI(s); err == nil {
			_, _ = e.Format(Dialect{Bits: 8, Sep: ":", Format: "%02x"})
		}
	})
}
