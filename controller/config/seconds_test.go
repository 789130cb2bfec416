package config

import (
	"strings"
	"testing"
)

func TestTimesMayHaveTheirUnit(t *testing.T) {
	c := &Config{}
	for text, want := range map[string]float64{"60": 60, " 1.5 ": 1.5, "20s": 20, "5m": 300, "1h30m": 5400} {
		if got, err := c.convert(Setting{Kind: Seconds}, text, ""); err != nil || got != want {
			t.Errorf("%q: %v (%v), want %v", text, got, err, want)
		}
	}
	if _, err := c.convert(Setting{Kind: Seconds}, "soon", ""); err == nil || !strings.Contains(err.Error(), "90s") {
		t.Errorf("soon: %v", err)
	}
}
