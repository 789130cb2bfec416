package cli

import (
	"slices"
	"testing"
)

func TestStagesRise(t *testing.T) {
	for _, tt := range []struct {
		words []string
		want  []int
	}{
		{nil, []int{10, 50, 100}}, {[]string{"5", "25%", "100"}, []int{5, 25, 100}}, {[]string{"100"}, []int{100}},
		{[]string{"50", "50"}, nil}, {[]string{"50", "10"}, nil}, {[]string{"0"}, nil}, {[]string{"101"}, nil}, {[]string{"x"}, nil},
	} {
		got, err := parseStages(tt.words)
		if !slices.Equal(got, tt.want) || (err == nil) != (tt.want != nil) {
			t.Errorf("%q: %v, %v", tt.words, got, err)
		}
	}
}
