//go:build fleet

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// month is a team that lives with its fleet: its people and keepers, what shows them how the fleet is, and what must be
// true of its hosts.
type month struct {
	*team
	t       *testing.T
	out     string // each host has a directory in it
	listen  string // the broker's address
	broker  *exec.Cmd
	ballast string
	bela    *member
	keeping *exec.Cmd // the keeper that was started last
	ci      string    // HARK_HOME
	hook    *told
	console *http.Client
	page    string // the console's address
	scrape  string // its token
	word    string // that hosts must have
	hosts   []string
}

// member is an operator who is another user of this machine.
type member struct {
	home, bin, key string
	uid            uint32
}

// TestATeamsMonth lives the first weeks of a month in minutes: after each event all that tells of the fleet has to agree, and agree with
// the hosts themselves.
func TestATeamsMonth(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, for another user and a small disk")
	}
	m := newMonth(t, "h1", "h2", "h3", "h4")
	m.begin()
	for _, event := range []struct {
		name string
		do   func()
	}{
		{"a deploy", m.deploy},
		{"a colleague joins", m.colleagueJoins},
		{"a bad commit and its fix", m.badCommit},
		{"a host is away", m.hostAway},
		{"a host joins by token", m.hostJoins},
		{"a host is renamed", m.hostRenamed},
	} {
		began := time.Now()
		event.do()
		if t.Failed() {
			t.Fatalf("after: %s", event.name)
		}
		m.agree(event.name)
		t.Logf("%s: %s", event.name, time.Since(began).Round(time.Millisecond))
	}
}

func (m *month) site() map[string]string {
	var inventory strings.Builder
	inventory.WriteString("[web]\n")
	for _, h := range m.hosts {
		fmt.Fprintln(&inventory, h)
	}
	return map[string]string{
		"ansible.cfg": "[defaults]\ninventory = inventory\n[hark]\nansible = 2.14\nconsole = https://hark.example.org\n",
		"inventory":   inventory.String(),
		"duties.yml": "notify: {to: ['" + m.hook.URL + "'], gather: 1s, absent_for: 1s}\nduties:\n" +
			"- {name: base, play: site.yml, hosts: web, every: 7d, splay: 1s, mode: enforce, stop_at: 1}\n" +
			"- {name: look, play: site.yml, hosts: web, every: 7d, splay: 1s, mode: check}\n",
		"site.yml":                     "- hosts: web\n  gather_facts: false\n  vars_files: [secret.yml]\n  vars: {out: '" + m.out + "'}\n  roles: [base]\n",
		"roles/base/defaults/main.yml": "word: " + m.word + "\n",
		"roles/base/files/plain":       "a plain file\n",
		"roles/base/templates/motd.j2": "{{ inventory_hostname }} {{ word }} {{ secret }}\n",
		"roles/base/tasks/main.yml": `- name: the directory
  file: {path: "{{ out }}/{{ inventory_hostname }}", state: directory}
- name: the message
  template: {src: motd.j2, dest: "{{ out }}/{{ inventory_hostname }}/motd"}
- name: a file
  copy: {src: plain, dest: "{{ out }}/{{ inventory_hostname }}/plain"}
`,
	}
}

func newMonth(t *testing.T, hosts ...string) *month {
	work := t.TempDir()
	m := &month{t: t, out: t.TempDir(), hook: newTold(t), word: "first", hosts: hosts,
		ci: filepath.Join(t.TempDir(), "ci")}
	f := &fleet{home: filepath.Join(work, "home"), work: work, agents: map[string]*exec.Cmd{}}
	data := filepath.Join(work, "broker")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("hark-month", data, "tmpfs", 0, "size=96m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(data, syscall.MNT_DETACH) })
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.listen, m.ballast = on.Addr().String(), filepath.Join(data, "ballast")
	_ = on.Close()
	bin := built(t)
	m.broker = f.startBroker(t, bin, data, m.listen)
	f.enrol(t, programs{bin, bin}, hosts...)
	files := m.site()
	files["secret.yml"] = "secret: S3CRET\n"
	m.team = newTeamOf(t, f, files)
	return m
}

// begin puts the vault, the keepers and the console in place.
func (m *month) begin() {
	m.t.Helper()
	pass := filepath.Join(m.work, ".git", "pass")
	if err := os.WriteFile(pass, []byte("opensesame\n"), 0o600); err != nil {
		m.t.Fatal(err)
	}
	m.as(m.home, "vault", "encrypt", "--vault-password-file", pass, "secret.yml")
	m.push(nil)
	m.as(m.keeper, "runs", "readers", "add", "anna", m.readerKey(m.home))
	m.startConsole()
	m.keep(m.url, "--vault-password-file", pass)
	m.kept("base")
	m.kept("look")
	m.agree("the beginning")
}

// readerKey is the key for which records are sealed for the operator of a HARK_HOME.
func (m *month) readerKey(home string) string {
	m.t.Helper()
	var shown struct{ Reader string }
	if err := json.Unmarshal([]byte(m.as(home, "key", "show", "--json")), &shown); err != nil {
		m.t.Fatal(err)
	}
	return shown.Reader
}

// startConsole gives a console access, and signs in at it.
func (m *month) startConsole() {
	m.t.Helper()
	dir := filepath.Join(m.t.TempDir(), "console")
	key := func(flags ...string) string {
		return strings.TrimSpace(m.as(m.home, append([]string{"console", "key", "--data", dir}, flags...)...))
	}
	access := filepath.Join(m.work, ".git", "console.json")
	text := m.as(m.home, "broker", "admit", key(), "--read-only", "--name", "console", "--data", m.brokerData())
	if err := os.WriteFile(access, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	m.as(m.home, "console", "use", access, "--data", dir)
	m.as(m.home, "runs", "readers", "add", "console", key("--seal"))
	m.as(m.keeper, "runs", "readers", "add", "console", key("--seal"))
	m.as(m.home, "console", "believe", m.key, "--data", dir)
	log := filepath.Join(m.fleet.work, "console.log")
	start(m.t, m.fleet.work, "console", filepath.Join(built(m.t), "hark"), "console", "--listen", "127.0.0.1:0",
		"--data", dir)
	var address string
	await(m.t, "the console", func() bool {
		said, _ := os.ReadFile(log)
		address = regexp.MustCompile(`http://\S+`).FindString(string(said))
		return address != ""
	})
	jar, _ := cookiejar.New(nil)
	m.console = &http.Client{Jar: jar, Timeout: 20 * time.Second}
	m.page, _, _ = strings.Cut(address, "/?")
	if a, err := m.console.Get(address); err != nil || a.StatusCode != http.StatusOK {
		m.t.Fatalf("the console does not let in: %v %v", a, err)
	}
	token, err := os.ReadFile(filepath.Join(dir, "metrics-token"))
	if err != nil {
		m.t.Fatal(err)
	}
	m.scrape = strings.TrimSpace(string(token))
}

// ask gets a page of the console as JSON, or the metrics as they are.
func (m *month) ask(path string, into any) (string, error) {
	r, err := http.NewRequest(http.MethodGet, m.page+path, nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Accept", "application/json")
	if path == "/metrics" {
		r.Header.Set("Authorization", "Bearer "+m.scrape)
	}
	a, err := m.console.Do(r)
	if err != nil {
		return "", err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, a.Status)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	return string(text), err
}

// keep starts a keeper, and remembers it.
func (m *month) keep(project string, flags ...string) {
	m.t.Helper()
	m.keeping = m.team.keep(project, flags...)
}

// kept asks for turns until all hosts are as they should be.
func (m *month) kept(duty string) {
	m.t.Helper()
	m.until(mostOf, duty+" is kept everywhere", duty, len(m.hosts), func(s stand) bool {
		if s.State != "kept" {
			m.try(m.home, "duties", "run", duty)
		}
		return s.State == "kept"
	})
}

// standings counts the hosts of both duties by how they stand, by the command line.
func (m *month) standings() map[string]int {
	n := map[string]int{}
	for _, duty := range []string{"base", "look"} {
		for _, s := range m.stands(duty) {
			n[s.State]++
		}
	}
	return n
}

// agree compares what the command line, the console, its metrics and the hosts say.
func (m *month) agree(when string) {
	m.t.Helper()
	var differ error
	for until := time.Now().Add(mostOf); ; time.Sleep(500 * time.Millisecond) { // what is kept for a moment may be old
		if differ = m.compare(); differ == nil {
			return
		}
		if time.Now().After(until) {
			list, _, _ := m.try(m.home, "duties", "list")
			m.t.Fatalf("after %s: %v\n%s", when, differ, list)
		}
	}
}

func (m *month) compare() error {
	n := m.standings()
	var front struct {
		Fine    bool
		Figures map[string]int
		Needs   []struct{ Kind, What, Why string }
	}
	if _, err := m.ask("/", &front); err != nil {
		return err
	}
	metrics, err := m.ask("/metrics", nil)
	if err != nil {
		return err
	}
	for _, kind := range []string{"failed", "drifted"} {
		if front.Figures[kind] != n[kind] {
			return fmt.Errorf("%d hosts %s by the command line, %d by the console: %+v", n[kind], kind,
				front.Figures[kind], front.Needs)
		}
	}
	for kind, count := range front.Figures {
		if line := fmt.Sprintf("hark_needs{kind=%q} %d\n", kind, count); !strings.Contains(metrics, line) {
			return fmt.Errorf("the console says %d of %s, its metrics do not", count, kind)
		}
	}
	var agents []struct {
		Name    string
		Present bool
	}
	if err := json.Unmarshal([]byte(m.as(m.home, "agents", "list", "--json")), &agents); err != nil {
		return err
	}
	absent := 0
	for _, a := range agents {
		if !a.Present {
			absent++
		}
	}
	if absent != front.Figures["absent"] {
		return fmt.Errorf("%d agents absent by the command line, %d by the console", absent, front.Figures["absent"])
	}
	if front.Fine && n["kept"] != 2*len(m.hosts) {
		return fmt.Errorf("the console says that all is fine, and hosts stand so: %v", n)
	}
	return m.compareHosts()
}

// compareHosts looks at hosts that are kept by both duties: they have what the project says. What somebody changes by
// hand is seen by the duty that looks next.
func (m *month) compareHosts() error {
	looks := m.stands("look")
	for host, s := range m.stands("base") {
		if s.State != "kept" || looks[host].State != "kept" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.out, host, "motd"))
		if want := host + " " + m.word + " S3CRET\n"; err != nil || string(text) != want {
			return fmt.Errorf("%s is kept and has %q, not %q (%v)", host, text, want, err)
		}
	}
	return nil
}

// told waits until somebody was told of something, that often in all.
func (m *month) told(what string, times int) {
	m.t.Helper()
	await(m.t, "somebody is told: "+what, func() bool { return strings.Count(m.hook.types()+" ", what+" ") >= times })
}

// run runs hark as a member, with what it printed and its exit code.
func (b *member) run(m *month, args ...string) (string, int) {
	m.t.Helper()
	cmd := exec.Command(b.bin, args...)
	cmd.Dir = b.home
	cmd.Env = []string{"HOME=" + b.home, "USER=bela", "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: b.uid, Gid: b.uid}}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if cmd.ProcessState == nil {
		m.t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}
