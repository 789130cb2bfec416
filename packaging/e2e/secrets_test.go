//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// kept is where secrets must not be after a case, and which of them its screen has shown.
type kept struct {
	secrets []string
	shown   string
}

// hides fails for each secret that a text has and the screen had not.
func (k kept) hides(t *testing.T, where, text string) {
	t.Helper()
	for _, secret := range k.secrets {
		if strings.Contains(text, secret) && !strings.Contains(k.shown, secret) {
			t.Errorf("%s has %q, which nobody was shown", where, secret)
		}
	}
}

// files looks into all files below a directory, into records as what they hold.
func (k kept) files(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // it went while it was looked for, as sockets and locks do
		}
		if filepath.Ext(path) == ".zst" {
			k.hides(t, path, unpacked(t, path))
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			k.hides(t, path, string(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// named are the values that a case calls passwords and the like, and those of -e on its command line.
func (c testCase) named(text string) []string {
	out := marked.FindAllString(text, -1)
	for _, found := range secretValue.FindAllStringSubmatch(text, -1) {
		out = append(out, found[1])
	}
	for i, arg := range c.args {
		if i == 0 || c.args[i-1] != "-e" && c.args[i-1] != "--extra-vars" {
			continue
		}
		if _, v, ok := strings.Cut(arg, "="); ok && len(v) > 5 && !strings.ContainsAny(v, " {") {
			out = append(out, v)
		}
	}
	return out
}

// marked finds what the cases of testdata/secrets have as secrets.
var marked = regexp.MustCompile(`S3CRET[a-z]+`)

// secretValue finds what is behind the name of a secret.
var secretValue = regexp.MustCompile(`(?i)(?:password|passwd|secret|token|pw)\w*["']?\s*[:=]\s*["']?([A-Za-z0-9!_$%.-]{6,})`)

// TestSecretsAreNowhere plays the cases that have secrets with all that can be recorded, and looks for them in
// records, in what else lies on the controller, in the broker's store and in what its readers read there.
func TestSecretsAreNowhere(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"cases/*.txt", "testdata/secrets/*.txt"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no cases found (%v)", err)
		}
		paths = append(paths, found...)
	}
	f := startFleet(t, "h1", "h2", "h3", "h4")
	runs := map[string]kept{}
	for _, path := range paths {
		c := readCase(t, path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		secrets := append(c.secrets(), c.named(string(text))...)
		if c.lines != nil || len(secrets) < 2 && !bytes.Contains(text, []byte(secrets[0])) {
			continue
		}
		for _, mode := range []string{"local", "agents"} {
			if !slices.Contains(c.modes, mode) {
				continue
			}
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				more := []string{"HARK_RECORD=full", "ANSIBLE_VERBOSITY=4"}
				if mode == "agents" {
					more = append(more, f.env()...)
				}
				r := c.prepare(t, ours(t, mode), more)
				home := filepath.Join(r.home, ".config", "hark")
				if mode == "agents" {
					home = f.home
				}
				before := records(t, home)
				var screen bytes.Buffer
				r.cmd.Stdout, r.cmd.Stderr = &screen, &screen
				runLimited(t, r.cmd)
				k := kept{secrets: secrets, shown: screen.String()}
				if marked.Match(text) { // these are in no record, whatever a screen shows at -vvvv
					k.shown = ""
					if !strings.Contains(screen.String(), c.settings["reaches"]) {
						t.Errorf("it has not come to %q:\n%s", c.settings["reaches"], screen.String())
					}
				}
				k.files(t, r.home)
				for _, record := range records(t, home) {
					if !slices.Contains(before, record) {
						k.hides(t, record, unpacked(t, record))
						runs[strings.TrimSuffix(filepath.Base(record), ".zst")] = k
					}
				}
			})
		}
	}
	f.hidesAll(t, runs)
}

// records are the records of runs below a home.
func records(t *testing.T, home string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(home, "runs", "*", "*.zst"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// hidesAll looks into what the broker stores, and into what the operator reads there on a machine that has no records.
func (f *fleet) hidesAll(t *testing.T, runs map[string]kept) {
	t.Helper()
	bin := built(t)
	hark(t, f, bin, "runs", "push")
	hark(t, f, bin, "runs", "audit")
	elsewhere := &fleet{home: filepath.Join(t.TempDir(), "home"), broker: f.broker}
	if out, err := exec.Command("cp", "-a", f.home, elsewhere.home).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v: %s", err, out)
	}
	if err := os.RemoveAll(filepath.Join(elsewhere.home, "runs")); err != nil {
		t.Fatal(err)
	}
	var listed []struct{ Head struct{ Run string } }
	if err := json.Unmarshal([]byte(hark(t, elsewhere, bin, "runs", "list", "--json")), &listed); err != nil || len(listed) == 0 {
		t.Fatalf("%d runs at the broker, %v", len(listed), err)
	}
	all := kept{}
	for _, run := range listed {
		k := runs[run.Head.Run]
		k.hides(t, "run "+run.Head.Run+" at the broker", hark(t, elsewhere, bin, "runs", "show", run.Head.Run, "--json"))
		all.secrets = append(all.secrets, k.secrets...)
	}
	slices.Sort(all.secrets)
	all.secrets = slices.Compact(all.secrets)
	all.files(t, filepath.Join(filepath.Dir(f.home), "broker")) // sealed, so not even what was shown is there
	for _, k := range runs {
		all.shown += k.shown
	}
	all.files(t, f.home)
}
