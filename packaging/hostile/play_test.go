//go:build hostile

package hostile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// project are the files of a playbook, which is site.yml; inventory, if it is not there, has all hosts.
type project map[string]string

// canary is what no agent and no output may ever hold.
const canary = "CANARY"

// secret writes a file that is no business of any agent, and gives its path: what it holds begins with CANARY.
func (s *site) secret(name string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, "private", name)
	s.write(path, canary+"-"+name+"\n")
	return path
}

// witness is the path of a file that is not there. A command line that makes it tells that a program was started.
func (s *site) witness() string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "witness")
	s.t.Cleanup(func() {
		if _, err := os.Lstat(path); err == nil {
			s.t.Errorf("a program was started: %s is there", path)
		}
	})
	return path
}

// guard makes the test fail if anything below a directory is not as it is now when the test ends.
func (s *site) guard(dir string) {
	s.t.Helper()
	before := s.picture(dir)
	s.t.Cleanup(func() {
		after := s.picture(dir)
		for path, was := range before {
			if now, ok := after[path]; !ok || now != was {
				s.t.Errorf("%s has changed: %q, it was %q", path, now, was)
			}
		}
		for path := range after {
			if _, ok := before[path]; !ok {
				s.t.Errorf("%s was made", path)
			}
		}
	})
}

// picture is what is below a directory: kind, mode and content of each.
func (s *site) picture(dir string) map[string]string {
	s.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		text := st.Mode().String()
		if st.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(content)
			text += " " + hex.EncodeToString(sum[:])
		}
		if st.Mode()&fs.ModeSymlink != 0 {
			to, _ := os.Readlink(path)
			text += " " + to
		}
		all[path] = text
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

func (s *site) write(path, text string) {
	s.t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// lay writes a project and gives its directory.
func (s *site) lay(p project) string {
	s.t.Helper()
	dir := s.t.TempDir()
	if _, ok := p["inventory"]; !ok {
		p["inventory"] = strings.Join(append([]string{taken}, honest...), "\n") + "\n"
	}
	for name, text := range p {
		s.write(filepath.Join(dir, name), text)
		if strings.HasPrefix(text, "#!") {
			if err := os.Chmod(filepath.Join(dir, name), 0o700); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	return dir
}

// play runs the playbook of a project as the owner.
func (s *site) play(p project, flags ...string) outcome {
	s.t.Helper()
	return s.playIn(s.lay(p), flags...)
}

// playIn is play where the project lies already.
func (s *site) playIn(dir string, flags ...string) outcome {
	s.t.Helper()
	return s.owner.in(dir, append([]string{"play", "-i", "inventory", "site.yml"}, flags...)...)
}

// left is what lies in the directory of a project, by the names there.
func (s *site) left(dir string) map[string]string {
	s.t.Helper()
	all := map[string]string{}
	for path, text := range s.picture(dir) {
		all[strings.TrimPrefix(path, dir)] = text
	}
	return all
}

// attack runs a project twice: with an agent that is honest, and with one that does what evil says. What honest hosts
// did and were shown, and what was counted of them, must be the same; nobody may have learned a secret. The outcomes
// are for what the case itself demands.
func (s *site) attack(p project, evil func(*hostile), flags ...string) (control, attacked outcome) {
	s.t.Helper()
	s.evil.reset()
	first, second := s.lay(p), s.lay(p)
	control = s.playIn(first, flags...)
	evil(s.evil)
	attacked = s.playIn(second, flags...)
	if was, is := s.left(first), s.left(second); !maps.Equal(was, is) {
		s.t.Errorf("the project holds other files than without the attack:\n%v\n%v", is, was)
	}
	for _, host := range honest {
		if was, is := control.of(host), attacked.of(host); was != is {
			s.t.Errorf("%s fared otherwise:\n%s\nwithout the attack:\n%s", host, is, was)
		}
	}
	s.kept(attacked)
	s.evil.reset()
	if s.t.Failed() {
		s.t.Logf("without the attack: %s\nwith it: %s", control, attacked)
	}
	return control, attacked
}

// kept demands that neither the hostile agent nor what was shown holds a secret.
func (s *site) kept(o outcome) {
	s.t.Helper()
	for _, one := range s.evil.answers() {
		if text := plain(one.answer); strings.Contains(text, canary) {
			s.t.Errorf("the agent learned a secret by asking %s:\n%s", plain(one.ask), text)
		}
	}
	for _, text := range s.evil.held() {
		if i := strings.Index(text, canary); i >= 0 {
			s.t.Errorf("the agent was told a secret: ...%s...", text[max(0, i-300):min(len(text), i+100)])
		}
	}
	if strings.Contains(o.out+o.errs, canary) {
		s.t.Errorf("a secret was shown:\n%s", o)
	}
}

// plain is a message as text, with what it carries as bytes made readable.
func plain(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%+v", v)
	}
	text := string(raw)
	var b struct {
		Data   []byte `json:"data"`
		Inline []byte `json:"inline"`
	}
	if json.Unmarshal(raw, &b) == nil {
		text += string(b.Data) + string(b.Inline)
	}
	return text
}

// of is what a host was shown, in the order of the screen, with its line of the recap.
func (o outcome) of(host string) string {
	var lines []string
	for _, line := range strings.Split(o.out, "\n") {
		if strings.Contains(line, "["+host+"]") || strings.HasPrefix(line, host+" ") {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines[:max(len(lines)-1, 0)]) // hosts come in the order in which they are done
	return strings.Join(lines, "\n")
}

var count = regexp.MustCompile(`(\w+)=(\d+)`)

// recap are the counts of a host: ok, changed, unreachable, failed, skipped, rescued, ignored.
func (o outcome) recap(host string) map[string]int {
	counts := map[string]int{}
	_, recap, _ := strings.Cut(o.out, "PLAY RECAP")
	for _, line := range strings.Split(recap, "\n") {
		if strings.HasPrefix(line, host+" ") {
			for _, m := range count.FindAllStringSubmatch(line, -1) {
				counts[m[1]], _ = strconv.Atoi(m[2])
			}
		}
	}
	return counts
}

// refused demands that a question was answered with an error that holds a text.
func refused(t *testing.T, h *hostile, text string) {
	t.Helper()
	for _, one := range h.answers() {
		if strings.Contains(one.answer.Err, text) {
			return
		}
	}
	t.Errorf("no question was refused with %q", text)
}

func (s *site) read(path string) string {
	s.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}
