//go:build hostile

package hostile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// evil are texts that a browser or a terminal would obey, as JSON.
const evil = `["<script>window.hacked=1</script>", "</code></pre><img src=x onerror=hacked>", "\" onclick=hacked x='",
"\u001b]0;title\u0007\u001b[2J", "\u001b]8;;javascript:hacked\u0007link\u001b]8;;\u0007", "back\b\b\b\bspace\u009b31m",
"\u202eturned", "{{.Body}}{{template \"layout\"}}", "javascript:hacked"]`

// shows are tasks that bring a text w wherever a run shows one.
const shows = `- {name: "{{ w }}", debug: {msg: "{{ w }}"}}
- {name: shown, debug: {msg: {"k{{ 1 }}": ["{{ w }}"]}}}
- {name: shown, debug: {var: w}}
- {name: shown, debug: {msg: hello}, loop: ["{{ w }}"], loop_control: {label: "{{ w }}"}}
- {name: shown, fail: {msg: "{{ w }}"}, ignore_errors: true}
- {name: shown, command: {argv: [printf, "%s\n", "{{ w }}"]}, check_mode: false, changed_when: true, ignore_errors: true}
- {name: shown, copy: {content: "{{ w }}\n", dest: "{{ playbook_dir }}/shown"}, diff: true, ignore_errors: true}
- {name: shown, add_host: {name: "new-{{ w }}", groups: "g-{{ w }}"}, ignore_errors: true}
- {name: shown, set_stats: {data: {w: "{{ w }}"}}}
- {name: shown, debug: {msg: hello}, notify: "{{ w }}", ignore_errors: true, when: false}
`

// callback is one of a project that looks at all that it is told, and prints it.
const callback = `from ansible.plugins.callback import CallbackBase


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "told"

    def v2_playbook_on_play_start(self, play):
        self.play = play

    def v2_playbook_on_task_start(self, task, is_conditional):
        self._display.display("told of %s %s %s %s" % (task.name, task.get_name(), task.args, task.vars))

    def tell(self, result):
        host = result._host
        self._display.display("told %s %s %s %s" % (host.name, host.vars, result._result, self._dump_results(result._result)))
        self.play.get_variable_manager().get_vars(play=self.play, host=host)

    def v2_runner_on_ok(self, result):
        self.tell(result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self.tell(result)

    def v2_runner_item_on_ok(self, result):
        self.tell(result)

    def v2_playbook_on_stats(self, stats):
        self._display.display("told the end")
`

// shown is a project whose run shows foreign texts wherever a run shows one, and what the texts of canaries are.
func shown() (source, project, []singing) {
	all := cases(beside())
	from := source{name: "stdout", at: "said.stdout_lines[NUM]", tasks: stdout +
		`- {name: evil, command: "cat '{{ playbook_dir }}/evil.json'", register: evil, check_mode: false, changed_when: false}
- {include_tasks: shows.yml, loop: "{{ evil.stdout | from_json + said.stdout_lines[:2] }}", loop_control: {loop_var: w}}
`}
	p := caged(from, all)
	p["evil.json"], p["shows.yml"], p["callback_plugins/told.py"] = evil, shows, callback
	return from, p, all
}

// viewsOf are the views that a run can be shown in.
func (c *cage) viewsOf() []string {
	help := strings.Join(strings.Fields(c.owner.must("runs", "show", "--help").out), " ")
	_, list, _ := strings.Cut(help, "another view than that of the run: ")
	list, _, found := strings.Cut(list, " --failed")
	if !found {
		c.t.Fatalf("no views in %s", help)
	}
	return strings.Split(list, ", ")
}

var harmlessCodes = regexp.MustCompile(`\x1b\[[0-9;:]*[mK]`)

// screened is what a command of hark sends to a terminal: nothing in it may be the doing of a host.
func (c *cage) screened(dir string, args ...string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), limit)
	defer cancel()
	cmd := c.owner.command(ctx, args...)
	cmd.Dir = dir
	terminal, err := pty.Start(cmd)
	if err != nil {
		c.t.Fatal(err)
	}
	defer terminal.Close()
	out, err := io.ReadAll(terminal)
	if err != nil && !errors.Is(err, syscall.EIO) { // which is how a terminal ends
		c.t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		c.t.Fatalf("hark %s: %v", strings.Join(args, " "), err)
	}
	text := harmlessCodes.ReplaceAllString(string(out), "")
	if i := strings.IndexAny(text, "\x1b\a\b\x00\u009b\u202e"); i >= 0 {
		c.t.Errorf("hark %s: a host writes on the terminal: %q", strings.Join(args, " "), text[max(0, i-100):min(len(text), i+100)])
	}
	return text
}

// Where a run is told, while it goes on and later, a foreign text is neither a template nor a code of the terminal:
// on the screen, in every view and callback, in the record and whatever shows that.
func TestRecordsRunNoForeignTexts(t *testing.T) {
	_, _, all := shown()
	dir := perches(t, len(all))
	for _, level := range []string{oldest(), newest()} {
		t.Run(level, func(t *testing.T) {
			from, p, _ := shown()
			c := newCage(t, dir, level)
			marks := t.TempDir()
			views := c.viewsOf()
			c.env = append(c.env, "ANSIBLE_CALLBACKS_ENABLED=told,"+strings.Join(views, ","), "CANARIES="+marks,
				"ANSIBLE_LOG_FOLDER="+t.TempDir(), "JUNIT_OUTPUT_DIR="+t.TempDir(), "ANSIBLE_CALLBACK_TREE_DIR="+t.TempDir())
			s := c.loose(from, p, "-v")
			s.mute(t, all)
			if !s.brought(all) || !strings.Contains(s.out, "told the end") {
				t.Errorf("the texts or the callback are not there: %s", s.tail())
			}
			delete(p, "callback_plugins/told.py") // which has the screen for itself, as in Ansible
			work := c.lay(p)
			if text := c.screened(work, "play", "-i", "inventory", "site.yml", "--level", level, "-v"); !strings.Contains(text, "title") {
				t.Errorf("the screen has no such text: %.2000s", text)
			}
			for _, view := range views {
				c.screened("", "runs", "show", "last", "--view", view, "-vvv")
			}
			for _, args := range [][]string{
				{"show", "last", "--summary"}, {"show", "last", "--json"}, {"show", "last", "--failed"},
				{"show", "last", "--host", "*", "--task", "*"}, {"list"}, {"list", "--json"}, {"list", "-v"}, {"diff", "last", "last"},
			} {
				c.screened("", append([]string{"runs"}, args...)...)
			}
			c.walked(func(path, page string) {
				for _, bad := range []string{"<script>window", "<img src=x", "\x1b", "\u202e", `href="javascript:`, "sung"} {
					if i := strings.Index(page, bad); i >= 0 {
						t.Errorf("%s has %q: %.300s", path, bad, page[max(0, i-100):])
					}
				}
			})
			for _, n := range marksIn(t, marks) {
				t.Errorf("a foreign text was run: %s", all[n])
			}
		})
	}
}

var links = regexp.MustCompile(`(?:href|src|data-src|hx-get)="(/[^"#]*)`)

// walked calls f for every page of the console that links lead to.
func (c *cage) walked(f func(path, page string)) {
	t := c.t
	t.Helper()
	cmd := c.owner.command(context.Background(), "console", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	_, address, found := strings.Cut(strings.TrimSpace(line), "console ready at ")
	if err != nil || !found {
		t.Fatalf("the console says %q: %v", line, err)
	}
	base, _, _ := strings.Cut(address, "/?")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Timeout: limit}
	const most = 400
	seen := map[string]bool{}
	rest := []string{strings.TrimPrefix(address, base)}
	for len(rest) > 0 && len(seen) < most {
		path := rest[0]
		rest = rest[1:]
		if seen[path] || strings.Contains(path, "/live") {
			continue
		}
		seen[path] = true
		page, kind := fetched(t, client, base+path)
		if !strings.HasPrefix(kind, "text/html") {
			continue
		}
		f(path, page)
		for _, m := range links.FindAllStringSubmatch(page, -1) {
			rest = append(rest, html.UnescapeString(m[1]))
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d pages were found: %v", len(seen), seen)
	}
}

func fetched(t *testing.T, client *http.Client, address string) (page, kind string) {
	t.Helper()
	a, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", address, err))
	}
	return string(body), a.Header.Get("Content-Type")
}
