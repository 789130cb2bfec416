// Package console tries the console in a real browser: Debian's chromium, driven by rod, before records that the
// command tell writes.
package console

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/launcher"
	"github.com/go-rod/rod/lib/proto"
)

// patience is how long anything may take.
const patience = 60 * time.Second

// program is the path of a program that `run` has built.
func program(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("CONSOLE_BIN")
	if dir == "" {
		t.Fatal("CONSOLE_BIN does not say where hark and tell are: packaging/console/run builds them")
	}
	return filepath.Join(dir, name)
}

// site is a console before a directory of records.
type site struct {
	t       *testing.T
	dir     string
	process *exec.Cmd
	listen  string
	Address string // that lets in
	Base    string
	http    *http.Client
	records string // "" is beside the console's own files
}

func begin(t *testing.T) *site {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, dir: t.TempDir(), listen: "127.0.0.1:0", http: &http.Client{Jar: jar, Timeout: patience}}
	t.Cleanup(s.kill)
	return s
}

// tell writes a record; wait waits for its end.
func (s *site) tell(what string, args ...string) (wait func()) {
	s.t.Helper()
	c := exec.Command(program(s.t, "tell"), append([]string{what, filepath.Join(s.dir, "runs")}, args...)...)
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	s.t.Cleanup(func() { c.Process.Kill() })
	return func() {
		s.t.Helper()
		if err := <-done; err != nil {
			s.t.Fatalf("tell: %v: %s", err, errs.String())
		}
	}
}

// start starts the console, the second time where it was before.
func (s *site) start() {
	s.t.Helper()
	records := s.records
	if records == "" {
		records = filepath.Join(s.dir, "runs")
	}
	s.process = exec.Command(program(s.t, "hark"), "console", "--listen", s.listen, "--data", filepath.Join(s.dir, "console"), "--records", records)
	s.process.Env = append(os.Environ(), "HARK_HOME="+filepath.Join(s.dir, "home"))
	var errs bytes.Buffer
	s.process.Stderr = &errs
	out, err := s.process.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_, address, found := strings.Cut(strings.TrimSpace(line), "console ready at ")
	if err != nil || !found {
		s.t.Fatalf("the console says %q: %v: %s", line, err, errs.String())
	}
	s.Address = address
	s.Base, _, _ = strings.Cut(address, "/?")
	s.listen = strings.TrimPrefix(s.Base, "http://")
	s.text("/")
}

// kill ends the console as a crash would.
func (s *site) kill() {
	if s.process != nil {
		s.process.Process.Kill()
		s.process.Wait()
		s.process = nil
	}
}

// text gets a page without a browser.
func (s *site) text(path string) string {
	s.t.Helper()
	at := s.Base + path
	if path == "/" {
		at = s.Address
	}
	a, err := s.http.Get(at)
	if err != nil {
		s.t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s, %v", path, a.Status, err)
	}
	return string(body)
}

// browser opens a page that is signed in. What goes wrong in it (an exception, a thing that the policy forbids) fails
// the test.
func (s *site) browser() *rod.Page {
	s.t.Helper()
	own, err := os.MkdirTemp("", "b") // a short name: sockets lie in it. Chromium does not clean up when it is closed.
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := os.RemoveAll(own); err != nil {
			s.t.Error(err)
		}
	})
	l := launcher.New().Bin("/usr/bin/chromium").Headless(true).NoSandbox(true).Leakless(false).UserDataDir(filepath.Join(s.dir, "browser")).
		Env(append(os.Environ(), "TMPDIR="+own)...)
	control, err := l.Launch()
	if err != nil {
		s.t.Fatalf("no browser: %v (apt-get install chromium)", err)
	}
	b := rod.New().ControlURL(control)
	if err := b.Connect(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		b.Close()
		quit(l)
	})
	page, err := b.Page(proto.TargetCreateTarget{URL: "about:blank"})
	if err != nil {
		s.t.Fatal(err)
	}
	page = page.Timeout(3 * patience)
	if err := (proto.LogEnable{}).Call(page); err != nil {
		s.t.Fatal(err)
	}
	go page.EachEvent(func(e *proto.RuntimeExceptionThrown) {
		s.t.Errorf("a script failed: %s", e.ExceptionDetails.Text)
	}, func(e *proto.LogEntryAdded) {
		if e.Entry.Source == proto.LogLogEntrySourceSecurity || strings.Contains(e.Entry.Text, "Content Security Policy") {
			s.t.Errorf("the policy forbids something of a page: %s", e.Entry.Text)
		}
	})()
	s.open(page, s.Address)
	return page
}

// quit waits for the end of a browser that was closed, or kills it.
func quit(l *launcher.Launcher) {
	ended := make(chan struct{})
	go func() {
		l.Cleanup()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		l.Kill()
		<-ended
	}
}

// open goes to a page, given by its path or its whole address.
func (s *site) open(p *rod.Page, path string) {
	s.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = s.Base + path
	}
	if err := p.Navigate(path); err != nil {
		s.t.Fatal(err)
	}
	if err := p.WaitLoad(); err != nil {
		s.t.Fatal(err)
	}
}

// eval is the value of an expression in the page.
func eval(t *testing.T, p *rod.Page, js string) string {
	t.Helper()
	v, err := p.Eval("() => String(" + js + ")")
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v.Value.Str()
}

// until waits until an expression is true in the page.
func until(t *testing.T, p *rod.Page, js string) {
	t.Helper()
	if err := p.Timeout(patience).Wait(rod.Eval("() => !!(" + js + ")")); err != nil {
		t.Fatalf("it never came to %s: %v", js, err)
	}
}

func press(t *testing.T, p *rod.Page, keys ...input.Key) {
	t.Helper()
	if err := p.Keyboard.Type(keys...); err != nil {
		t.Fatal(err)
	}
}

// output is the text of the lines that a page shows.
const output = `[...document.querySelectorAll('#output .l > code')].map(x => x.textContent).join('\n') + '\n'`

// TestLivePageEndsAsTheRecord follows a run of 200 hosts to its end, through the death of the console, and finds
// every line once.
func TestLivePageEndsAsTheRecord(t *testing.T) {
	s := begin(t)
	s.start()
	page := s.browser() // before the run, which does not wait for it
	wait := s.tell("live", "abcdef01", "200", "8", "6ms")
	for !strings.Contains(s.text("/"), "abcdef01") {
		time.Sleep(50 * time.Millisecond)
	}
	s.open(page, "/runs/abcdef01/output")
	until(t, page, `document.querySelectorAll('#output .l').length > 300`)
	s.kill()
	until(t, page, `document.querySelector('#live').textContent === 'the console is away'`)
	s.start()
	until(t, page, `document.querySelector('#live').textContent === 'ended'`)
	wait()
	shown, want := eval(t, page, output), s.text("/runs/abcdef01/output.txt")
	if shown != want {
		t.Errorf("the page has %d lines, the run showed %d", strings.Count(shown, "\n"), strings.Count(want, "\n"))
	}
	if n := strings.Count(want, "\n"); n < 1600 {
		t.Errorf("the run showed only %d lines", n)
	}
	s.open(page, "/runs/abcdef01/output")
	if again := eval(t, page, output); again != shown {
		t.Error("the page that is loaded again shows something else")
	}
}

// TestLiveTasksAreThoseOfTheReload: the page of tasks, followed to the end, is the page that one gets afterwards.
func TestLiveTasksAreThoseOfTheReload(t *testing.T) {
	s := begin(t)
	s.start()
	page := s.browser() // before the run, which does not wait for it
	wait := s.tell("live", "abcdef02", "50", "30", "2ms")
	for !strings.Contains(s.text("/"), "abcdef02") {
		time.Sleep(50 * time.Millisecond)
	}
	s.open(page, "/runs/abcdef02")
	until(t, page, `document.querySelectorAll('details.task').length > 5`)
	eval(t, page, `document.querySelector('#t1 summary').click()`)
	until(t, page, `document.querySelector('#live').textContent === 'ended'`)
	wait()
	if open := eval(t, page, `document.querySelector('#t1').open`); open != "true" {
		t.Error("what the reader opened was closed")
	}
	eval(t, page, `document.querySelector('#t1 summary').click()`)
	const state = `[...document.querySelectorAll('details.task')].map(d => d.id + d.open + d.textContent).join('\n') + document.querySelector('#summary').textContent + document.querySelector('#state').textContent`
	live := eval(t, page, state)
	s.open(page, "/runs/abcdef02")
	if again := eval(t, page, state); again != live {
		t.Errorf("followed:\n%.600s\nloaded again:\n%.600s", live, again)
	}
}

func TestDeepLinksOpenAndSelect(t *testing.T) {
	s := begin(t)
	s.tell("samples")()
	s.start()
	page := s.browser()
	s.open(page, "/runs/c14k3f9q2#t2.g2")
	until(t, page, `document.querySelector('#t2').open && document.querySelector(':target')?.id === 't2.g2'`)
	if y := eval(t, page, `(() => { const r = document.querySelector(':target').getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight })()`); y != "true" {
		t.Error("what the address names is out of sight")
	}
	s.open(page, "/runs/c14k3f9q2/output?line=2500#L2500")
	until(t, page, `document.querySelector(':target')?.id === 'L2500'`)
	if link := eval(t, page, `document.querySelector('#L2500 a').getAttribute('href')`); link != "#L2500" {
		t.Errorf("the number of a line leads to %q", link)
	}
}

func TestKeyboardAlone(t *testing.T) {
	s := begin(t)
	s.tell("samples")()
	s.start()
	page := s.browser()
	s.open(page, "/runs?state=failed")
	press(t, page, 'j', 'j', 'j')
	press(t, page, input.Enter)
	until(t, page, `location.pathname.startsWith('/runs/')`)
	s.open(page, "/runs/c14k3f9q2")
	open := func() string { return eval(t, page, `document.querySelectorAll('details[open]').length`) }
	if n := open(); n != "2" {
		t.Errorf("%s tasks are open, want the two that failed", n)
	}
	press(t, page, 'e')
	if n := open(); n != "23" {
		t.Errorf("e opened %s tasks", n)
	}
	press(t, page, 'c')
	if n := open(); n != "0" {
		t.Errorf("c left %s tasks open", n)
	}
	press(t, page, 'n')
	until(t, page, `location.hash.startsWith('#t1.') && document.querySelector('#t1').open`)
	press(t, page, 'n')
	until(t, page, `location.hash.startsWith('#t4.')`)
	press(t, page, '/')
	if id := eval(t, page, `document.activeElement.id`); id != "search" {
		t.Fatalf("/ went to %q", id)
	}
	for _, k := range "rolled" {
		press(t, page, input.Key(k))
	}
	press(t, page, input.Enter)
	until(t, page, `location.pathname.endsWith('/search') && document.querySelectorAll('mark').length > 0`)
	press(t, page, input.Escape)
	s.open(page, "/hosts")
	press(t, page, 'r')
	until(t, page, `location.pathname === '/runs'`)
	eval(t, page, `document.body.focus()`)
	press(t, page, input.Tab)
	if text := eval(t, page, `document.activeElement.textContent`); text != "Skip to the content" {
		t.Errorf("the first stop of Tab is %q", text)
	}
}

func TestWithoutJavaScript(t *testing.T) {
	s := begin(t)
	s.tell("samples")()
	s.tell("live", "zzlive00", "20", "500", "5ms")
	s.start()
	for !strings.Contains(s.text("/"), "zzlive00") {
		time.Sleep(50 * time.Millisecond)
	}
	page := s.browser()
	if err := (proto.EmulationSetScriptExecutionDisabled{Value: true}).Call(page); err != nil {
		t.Fatal(err)
	}
	for path, wants := range map[string][]string{
		"/runs":                   {"c14k3f", "<b>3</b> failed"},
		"/runs/c14k3f9q2":         {"app : migrate the schema", "does not exist", "timed out after 30 s", `id="t4" open=""`},
		"/runs/c14k3f9q2/output":  {"PLAY [web servers]"},
		"/runs/c14k3f9q2/hosts":   {"web41"},
		"/runs/c14k3f9q2/compare": {"307 hosts came out the same"},
	} {
		loaded := page.WaitNavigation(proto.PageLifecycleEventNameLoad)
		if err := page.Navigate(s.Base + path); err != nil {
			t.Fatal(err)
		}
		loaded()
		document, err := proto.DOMGetDocument{}.Call(page)
		if err != nil {
			t.Fatal(err)
		}
		text, err := proto.DOMGetOuterHTML{NodeID: document.Root.NodeID}.Call(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(text.OuterHTML, want) {
				t.Errorf("%s shows no %q", path, want)
			}
		}
		if strings.Contains(text.OuterHTML, `<time datetime`) && strings.Contains(text.OuterHTML, "ago</time>") {
			t.Errorf("%s ran a script", path)
		}
	}
	if !strings.Contains(s.text("/runs/zzlive00"), `http-equiv="refresh"`) {
		t.Error("a run that goes on stands still without JavaScript")
	}
}

// widest are the elements that stand out of the page.
const widest = `[...document.querySelectorAll('main *')].filter(x => !x.closest('.tabs')).filter(x => x.getBoundingClientRect().right > innerWidth + 1).slice(0, 4).map(x => x.tagName + '.' + x.className + '#' + x.id).join(' ')`

// TestHostileOutputRunsNothing: nothing of what a host prints becomes more than text, and no page is wider than the
// screen.
func TestHostileOutputRunsNothing(t *testing.T) {
	s := begin(t)
	s.tell("samples")()
	s.start()
	page := s.browser()
	for _, width := range []int{1280, 360} {
		if err := page.SetViewport(&proto.EmulationSetDeviceMetricsOverride{Width: width, Height: 800, DeviceScaleFactor: 1}); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/runs", "/hosts", "/warnings", "/find?q=play", "/nothing", "/runs/c14k3f9q2", "/runs/c14k3f9q2/hosts", "/runs/c14k3f9q2/output", "/runs/c14k3f9q2/compare", "/runs/c14k3f9q2/tasks/4",
			"/runs/c14k3f9q2/notices", "/runs/c14k3f9q2/hosts/web17", "/hosts/web17", "/runs/evil0000", "/runs/evil0000/output", "/runs/evil0000/hosts/evil", "/runs/evil0000/tasks/6", "/runs/evil0000/tasks/6/g/1", "/runs/evil0000/search?q=script"} {
			s.open(page, path)
			if hacked := eval(t, page, `window.hacked`); hacked != "undefined" {
				t.Fatalf("%s ran a host's script", path)
			}
			if made := eval(t, page, `document.querySelectorAll('main img, main script, main iframe, main svg[onload]').length`); made != "0" {
				t.Errorf("%s has elements of a host's making", path)
			}
			if wide := eval(t, page, `Math.max(0, document.documentElement.scrollWidth - innerWidth)`); wide != "0" {
				t.Errorf("%s is %s wider than a screen of %d: %s", path, wide, width, eval(t, page, widest))
			}
		}
	}
}

// TestPagesReadAloud: what a screen reader goes by is there on every page.
func TestPagesReadAloud(t *testing.T) {
	s := begin(t)
	s.tell("samples")()
	s.start()
	page := s.browser()
	for _, path := range []string{"/runs", "/hosts", "/hosts/web3", "/duties", "/jobs", "/warnings", "/runs/c14k3f9q2", "/runs/c14k3f9q2/jobs", "/runs/c14k3f9q2/output", "/runs/c14k3f9q2/hosts", "/runs/c14k3f9q2/compare"} {
		s.open(page, path)
		for what, js := range map[string]string{
			"one title":                `document.querySelectorAll('h1').length === 1`,
			"a language":               `document.documentElement.lang === 'en'`,
			"fields with labels":       `[...document.querySelectorAll('main input:not([type=hidden]), main select, header input')].every(x => x.labels.length > 0)`,
			"links with names":         `[...document.querySelectorAll('a[href]')].every(x => (x.textContent + (x.ariaLabel || '')).trim() !== '')`,
			"columns with heads":       `[...document.querySelectorAll('table')].every(x => x.querySelectorAll('th[scope=col]').length > 0)`,
			"states that are words":    `[...document.querySelectorAll('tbody tr > .s')].every(x => x.querySelector('.hide').textContent !== '')`,
			"ids that are there once":  `(ids => new Set(ids).size === ids.length)([...document.querySelectorAll('[id]')].map(x => x.id))`,
			"a landmark and a heading": `document.querySelector('main') && document.querySelector('nav[aria-label]')`,
		} {
			if eval(t, page, "!!("+js+")") != "true" {
				t.Errorf("%s lacks %s", path, what)
			}
		}
	}
}

// TestManyHostsAndLines: a run of 20,000 hosts and more than 300,000 lines is followed by pages that stay small, in a
// browser and in a console that do too.
func TestManyHostsAndLines(t *testing.T) {
	s := begin(t)
	s.tell("large", "abcdef03", "20000", "15")()
	s.start()
	page := s.browser()
	s.open(page, "/runs/abcdef03")
	until(t, page, `!document.querySelector('#reading') || (location.reload(), false)`)
	if n := eval(t, page, `document.querySelectorAll('details.task').length`); n != "15" {
		t.Errorf("%s tasks are shown", n)
	}
	s.open(page, "/runs/abcdef03/output?line=300000#L300000")
	until(t, page, `document.querySelector(':target')?.id === 'L300000'`)
	s.open(page, "/runs/abcdef03/hosts")
	if n := eval(t, page, `document.querySelectorAll('tbody tr').length`); n != "200" {
		t.Errorf("a page lists %s hosts", n)
	}
	s.open(page, "/runs/abcdef03/search?q=web19999")
	until(t, page, `document.querySelectorAll('mark').length >= 15`)
	const most = 120 << 10 // KB; the machine's figure is in docs/console.md
	if rss := s.resident(); rss > most {
		t.Errorf("the console takes %d KB", rss)
	}
}

// resident is how many KB of memory the console takes.
func (s *site) resident() int {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	var kb int
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		s.t.Fatal(err)
	}
	return kb
}

// TestOthersAreRefused: who has no cookie, calls the console by another name or comes of another site's page gets
// nothing, and a link of another page works all the same.
func TestOthersAreRefused(t *testing.T) {
	s := begin(t)
	s.tell("samples")()
	s.start()
	for what, c := range map[string]struct {
		header, value string
		cookie        bool
		status        int
	}{
		"nobody":             {"", "", false, http.StatusUnauthorized},
		"somebody":           {"", "", true, http.StatusOK},
		"a foreign name":     {"Host", "console.evil.example", true, http.StatusMisdirectedRequest},
		"a foreign origin":   {"Origin", "http://evil.example", true, http.StatusForbidden},
		"another port":       {"Origin", "http://127.0.0.1:1", true, http.StatusForbidden},
		"an embedded page":   {"Sec-Fetch-Site", "cross-site", true, http.StatusForbidden},
		"a false cookie":     {"Cookie", "hark-console-1=eyJ3aG8iOiIifQ.AAAA", false, http.StatusUnauthorized},
		"its own live lines": {"Origin", s.Base, true, http.StatusOK},
	} {
		r, err := http.NewRequest(http.MethodGet, s.Base+"/runs", nil)
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Timeout: patience}
		if c.cookie {
			client.Jar = s.http.Jar
		}
		if c.header == "Host" {
			r.Host = c.value
		} else if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		a, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		if a.StatusCode != c.status {
			t.Errorf("%s: %s, want %d", what, a.Status, c.status)
		}
	}
	if a, err := s.http.Post(s.Base+"/runs", "text/plain", nil); err != nil || a.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a page takes what is posted: %v, %v", a.Status, err)
	}
	page := s.browser()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<a id="to" href="%s/runs/c14k3f9q2#t4">look at this</a>`, strings.Replace(s.Base, "127.0.0.1", "localhost", 1))
	}))
	defer other.Close()
	s.open(page, strings.Replace(s.Address, "127.0.0.1", "localhost", 1)) // signed in by this name too
	s.open(page, other.URL)
	eval(t, page, `document.querySelector('#to').click()`)
	until(t, page, `location.pathname === '/runs/c14k3f9q2' && document.querySelector('#t4')?.open`)
}
