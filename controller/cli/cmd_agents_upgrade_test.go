package cli

import (
	"testing"
)

// TestStagesOfAnUpgrade: how many of 40 agents have the new version after each stage, nil for words that are no stages.
func TestStagesOfAnUpgrade(t *testing.T) {
	for _, tt := range []struct {
		words []string
		want  []int
	}{
		{nil, []int{4, 20, 40}}, {[]string{"5", "25%", "100"}, []int{2, 10, 40}}, {[]string{"100"}, []int{40}}, {[]string{"1"}, []int{1}}, {[]string{"7.5"}, []int{3}},
		{[]string{"50", "50"}, nil}, {[]string{"50", "10"}, nil}, {[]string{"0"}, nil}, {[]string{"101"}, nil}, {[]string{"x"}, nil}, {[]string{""}, nil},
	} {
		got, err := parseStages(tt.words)
		if (err == nil) != (tt.want != nil) || len(got) != len(tt.want) {
			t.Errorf("%q: %v, %v", tt.words, got, err)
			continue
		}
		for i, want := range tt.want {
			if upTo := got.UpTo(i, 40); upTo != want {
				t.Errorf("%q: %d after stage %d, want %d", tt.words, upTo, i, want)
			}
		}
	}
}
