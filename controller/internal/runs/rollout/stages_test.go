package rollout

import (
	"slices"
	"testing"
)

func TestShareOf(t *testing.T) {
	for _, x := range []struct {
		text    string
		of, got int
	}{{"5%", 1000, 50}, {"5%", 10, 1}, {"5%", 0, 0}, {"3", 2, 2}, {"100%", 7, 7}, {"33%", 100, 33}, {"0.5%", 1000, 5}} {
		s, err := ParseShare(x.text)
		if got := s.Of(x.of); err != nil || got != x.got || s.String() != x.text {
			t.Errorf("%s of %d is %d, want %d, %v", x.text, x.of, got, x.got, err)
		}
	}
}

func TestShareIsReached(t *testing.T) {
	for _, x := range []struct {
		share    Share
		many, of int
		want     bool
	}{
		{Share{Percent: 2}, 0, 0, false}, {Share{Percent: 2}, 0, 100, false}, {Share{Percent: 2}, 1, 1, true},
		{Share{Percent: 2}, 1, 99, false}, {Share{Percent: 2}, 1, 50, true},
		{Share{Percent: 2}, 1, 100, false}, {Share{Percent: 2}, 2, 100, true}, {Share{Percent: 2}, 2, 149, false},
		{Share{Percent: 30}, 1, 5, false}, {Share{Percent: 30}, 2, 5, true}, {Share{Percent: 0.1}, 1, 1000, true},
		{Share{Count: 3}, 2, 10, false}, {Share{Count: 3}, 2, 2, true},
	} {
		if got := x.share.Reached(x.many, x.of); got != x.want {
			t.Errorf("%s of %d is reached by %d: %v", x.share, x.of, x.many, got)
		}
	}
}

func TestStagesCoverAllHostsOnce(t *testing.T) {
	for _, x := range []struct {
		text  string
		hosts int
		want  []int
	}{
		{"1,10%,100%", 100, []int{1, 10, 100}}, {"1,10%,100%", 5, []int{1, 1, 5}}, {"1,10%", 100, []int{1, 10, 100}},
		{"50,10%", 100, []int{50, 50, 100}}, {"100%", 3, []int{3}},
		{"2", 1, []int{1, 1}}, {"1,5", 0, []int{0, 0, 0}},
	} {
		s, err := Parse(x.text)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for i := range s.Count() {
			got = append(got, s.UpTo(i, x.hosts))
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%s of %d hosts are %v, want %v", x.text, x.hosts, got, x.want)
		}
	}
}

func TestWrongStagesAreRefused(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"", `"" is neither a number of hosts nor a part of them such as 5%`},
		{"0", `"0" is neither`}, {"1,,3", `"" is neither`}, {"101%", `"101%" is neither`}, {"0%", `"0%" is neither`},
		{"-1", `"-1" is neither`}, {"NaN%", `"NaN%" is neither`},
		{"five", `"five" is neither`}, {"1.5", `"1.5" is neither`}, {"10%,5%", "stages grow: 5% comes after 10%"},
		{"3,3", "stages grow: 3 comes after 3"},
		{"99999999999999999999", `"99999999999999999999" is neither`},
	} {
		if s, err := Parse(x.text); err == nil || len(err.Error()) < len(x.want) || err.Error()[:len(x.want)] != x.want {
			t.Errorf("%q gives %v, %v", x.text, s, err)
		}
	}
}
