package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
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

// TestCheckNamesWhatIsWrong: what cannot be used is told before a service is started with it, with the file or the
// value.
func TestCheckNamesWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := "operators: [UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4]\nstate_dir: " + dir + "\n"
	for settings, want := range map[string]string{
		"broker: 127.0.0.1:4222\nname: web1\n":                                                   "",
		"broker: nats://a,tls://b:4222\n":                                                        "",
		"broker: http://a\n":                                                                     "is not the URL of a broker",
		"broker: nats://a, \n":                                                                   "is not the URL of a broker",
		"broker: nats://a\nname: a b\n":                                                          "cannot be the name of an agent",
		"broker: nats://a\nlog_level: loud\n":                                                    "is not a log level",
		"broker: nats://a\npolicy: " + dir + "/none\n":                                           dir + "/none: no such file",
		"broker: nats://a\npolicy: " + write("policy.yml", "modules: []\n") + "\n":               `policy.yml: line 1: there is no setting "modules"`,
		"broker: nats://a\nca: " + write("ca.pem", "x") + "\n":                                   "ca.pem as certificate authority",
		"broker: nats://a\ncredentials: " + dir + "/none\n":                                      "cannot read the credentials",
		"broker: nats://a\ncolour: red\n":                                                        `there is no setting "colour"`,
		"broker: nats://a\ncredentials: " + write("token", "x") + "\nca: " + dir + "/none.pem\n": "there is no token in",
	} {
		err := checkSettings(write("agent.yml", good+settings))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", settings, err, want)
		}
	}
}

func checkSettings(path string) error {
	cmd := checkCommand()
	cmd.SetArgs([]string{"--config", path})
	cmd.SetOut(io.Discard)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.Execute()
}

// A user's agent beside root's has the same usual place for its configuration, and may not read what is there. A file
// that somebody named must be readable.
func TestTheConfigurationOfRootsAgentIsNotThatOfAUsers(t *testing.T) {
	for _, x := range []struct {
		path string
		err  error
		want bool
	}{
		{defaultConfig, &fs.PathError{Op: "open", Err: syscall.EACCES}, true},
		{defaultConfig, &fs.PathError{Op: "open", Err: syscall.ENOENT}, true},
		{"/srv/agent.yml", &fs.PathError{Op: "open", Err: syscall.EACCES}, false},
		{defaultConfig, &fs.PathError{Op: "read", Err: syscall.EIO}, false},
		{defaultConfig, nil, false},
	} {
		if got := foreign(x.path, x.err); got != x.want {
			t.Errorf("%s, %v: %v", x.path, x.err, got)
		}
	}
}
