package console

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fleet is a broker with 200 agents in one process.
type fleet struct {
	t    *testing.T
	home string
	url  string
}

func (f *fleet) hark(args ...string) *exec.Cmd {
	c := exec.Command(program(f.t, "hark"), args...)
	c.Env, c.Dir = append(os.Environ(), "HARK_HOME="+f.home, "ANSIBLE_NOCOLOR=1"), filepath.Dir(f.home)
	return c
}

// run starts a program that stays, and gives the line by which it says that it is ready.
func (f *fleet) run(c *exec.Cmd) string {
	f.t.Helper()
	out, err := c.StdoutPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		f.t.Fatalf("%s: %v", c.Path, err)
	}
	go io.Copy(io.Discard, out)
	return strings.TrimSpace(line)
}

func (f *fleet) output(args ...string) string {
	f.t.Helper()
	text, err := f.hark(args...).CombinedOutput()
	if err != nil {
		f.t.Fatalf("hark %s: %v\n%s", strings.Join(args, " "), err, text)
	}
	return string(text)
}

func raise(t *testing.T, agents int) *fleet {
	t.Helper()
	f := &fleet{t: t, home: filepath.Join(t.TempDir(), "home")}
	key := strings.TrimSpace(f.output("key", "show", "--public"))
	ready := f.run(f.hark("broker", "run", "--open", "--listen", "127.0.0.1:0", "--data", filepath.Join(f.home, "broker")))
	_, url, found := strings.Cut(ready, "broker ready at ")
	if !found {
		t.Fatalf("the broker says %q", ready)
	}
	f.url = url
	swarm := exec.Command(program(t, "swarm"), "-agents", fmt.Sprint(agents), "-broker", url, "-operator", key)
	swarm.Stderr = os.Stderr
	if line := f.run(swarm); line != "ready" {
		t.Fatalf("the agents say %q", line)
	}
	return f
}

// TestFollowedPlayEndsAsRunsShow follows a play on 200 agents in a browser to its end, through the death of the
// console, and finds what `hark runs show` prints.
func TestFollowedPlayEndsAsRunsShow(t *testing.T) {
	f := raise(t, 200)
	s := begin(t)
	s.dir = filepath.Dir(f.home)
	s.records = filepath.Join(f.home, "runs")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("inventory", "s[1:200]\n")
	write("site.yml", `- name: follow
  hosts: all
  gather_facts: false
  tasks:
    - name: "wait a little {{ n }}"
      ansible.builtin.command: sleep 0.4
      changed_when: inventory_hostname is search('7$')
      failed_when: n == 5 and inventory_hostname in ['s3', 's17']
      vars: {n: 1}
`+strings.Repeat(`    - name: wait again
      ansible.builtin.command: sleep 0.4
`, 4)+`    - name: fail on two
      ansible.builtin.command: "false"
      when: inventory_hostname in ['s3', 's17']
    - name: the last
      ansible.builtin.debug: msg="<b>done</b>"
`)
	play := f.hark("play", "-i", "inventory", "--broker", f.url, "site.yml")
	if err := play.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- play.Wait() }()
	s.start()
	page := s.browser()
	for !strings.Contains(s.text("/"), `class="sign running"`) {
		time.Sleep(50 * time.Millisecond)
	}
	s.open(page, "/runs/last/output")
	until(t, page, `document.querySelectorAll('#output .l').length > 200`)
	s.kill()
	until(t, page, `document.querySelector('#live').textContent === 'the console is away'`)
	s.start()
	until(t, page, `document.querySelector('#live').textContent === 'ended'`)
	<-ended
	shown := eval(t, page, output)
	if want := f.output("runs", "show", "last"); shown != want {
		t.Errorf("the page has %d lines, hark runs show %d\npage: %.300q\nshow: %.300q", strings.Count(shown, "\n"), strings.Count(want, "\n"), shown, want)
	}
	if !strings.Contains(shown, `"msg": "<b>done</b>"`) || !strings.Contains(shown, "PLAY RECAP") {
		t.Errorf("the page lacks something: %.300q", shown)
	}
}
