package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSampleShowsEverySetting: what agent.yml shows commented out is read, and is all that there is.
func TestSampleShowsEverySetting(t *testing.T) {
	sample, err := os.ReadFile("agent.yml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "agent.yml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(string(sample))
	if err := (&settings{}).complete(path); err == nil || !strings.Contains(err.Error(), "no broker is configured") {
		t.Errorf("as it is: %v", err)
	}
	write(regexp.MustCompile(`(?m)^#([a-z]|  -)`).ReplaceAllString(string(sample), "$1"))
	var s settings
	if err := s.complete(path); err != nil {
		t.Fatalf("with everything taken in: %v", err)
	}
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Tag.Get("yaml"); name != "" && v.Field(i).IsZero() {
			t.Errorf("agent.yml does not show %s", name)
		}
	}
}

func TestFlagsReplaceTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.yml")
	key := "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"
	text := "name: file\nbroker: nats://127.0.0.1:1\noperators: [" + key + "]\nlog_level: debug\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := settings{Name: "flag", LogLevel: "warn"}
	if err := s.complete(path); err != nil {
		t.Fatal(err)
	}
	if s.Name != "flag" || s.LogLevel != "warn" || s.Broker != "nats://127.0.0.1:1" || !slices.Equal(s.Operators, []string{key}) || s.StateDir != "/var/lib/hark" {
		t.Errorf("%+v", s)
	}
}
