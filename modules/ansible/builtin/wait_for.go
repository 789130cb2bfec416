package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/oserr"
	"hark/modules/nss"
	"hark/modules/py/pyre"
	"hark/modules/py/value"
)

type waitForArgs struct {
	Host           string   `arg:"host,default=127.0.0.1" doc:"Whose port."`
	Timeout        int      `arg:"timeout,default=300" doc:"Seconds to wait at most; without port and path, to wait."`
	ConnectTimeout int      `arg:"connect_timeout,default=5" doc:"Seconds for one connection."`
	Delay          int      `arg:"delay,default=0" doc:"Seconds before the first look."`
	Port           *int     `arg:"port" doc:"The port."`
	Active         []string `arg:"active_connection_states" default:"ESTABLISHED,FIN_WAIT1,FIN_WAIT2,SYN_RECV,SYN_SENT,TIME_WAIT" doc:"States that count as active, for drained."`
	Path           *string  `arg:"path,type=path" doc:"A file to wait for instead."`
	Regex          *string  `arg:"search_regex" doc:"What the file, or what the port says, must hold."`
	State          string   `arg:"state,default=started,choices=absent|drained|present|started|stopped" doc:"What to wait for."`
	Exclude        []string `arg:"exclude_hosts" doc:"Peers that do not count, for drained."`
	Sleep          int      `arg:"sleep,default=1" doc:"Seconds between looks."`
	Msg            *string  `arg:"msg" doc:"What to say when it took too long."`
}

// WaitFor is ansible.builtin.wait_for.
var WaitFor = modules.Define("ansible.builtin.wait_for", "Waits for a condition before it goes on", runWaitFor,
	modules.With(func(m *modules.Module) { m.NoCheck = true }),
	modules.Documented(`- ansible.builtin.wait_for: {port: 8080, delay: 2, timeout: 60}
- ansible.builtin.wait_for: {path: /var/log/app.log, search_regex: 'ready in (\d+) s'}
`,
		modules.Return{Name: "elapsed", Type: "int", When: "always", Doc: "Seconds."},
		modules.Return{Name: "match_groups", Type: "list", When: "search_regex",
			Doc: "What the groups of the expression matched."},
		modules.Return{Name: "match_groupdict", Type: "dict", When: "search_regex", Doc: "The named ones."},
		modules.Return{Name: "state", Type: "str", When: "always", Doc: "What was waited for."},
	))

// portWait is one call of wait_for.
type portWait struct {
	waitForArgs
	path   *string // as it was given
	ctx    context.Context
	re     *pyre.Regexp
	start  time.Time
	end    time.Time
	groups []any
	named  *value.Dict
}

func runWaitFor(ctx context.Context, _ *modules.Env, a waitForArgs) (modules.Result, error) {
	path := a.Path
	if a.Path != nil && *a.Path == "" { // Python takes it for none
		a.Path = nil
	}
	w := &portWait{waitForArgs: a, path: path, ctx: ctx, start: time.Now(), groups: []any{}, named: value.NewDict()}
	if problem := w.prepare(); problem != "" {
		return modules.Result{Failed: true, Msg: problem, Data: value.DictOf("elapsed", 0)}, nil
	}
	w.end = w.start.Add(time.Duration(a.Timeout) * time.Second)
	if err := w.pause(a.Delay); err != nil {
		return modules.Result{}, err
	}
	if a.Port == nil && a.Path == nil && a.State != "drained" {
		if err := w.pause(a.Timeout); err != nil {
			return modules.Result{}, err
		}
		return w.done(), nil
	}
	for time.Now().Before(w.end) {
		reached, problem := w.look()
		if problem != "" {
			return w.fail(problem), nil
		}
		if reached {
			return w.done(), nil
		}
		if err := w.pause(a.Sleep); err != nil {
			return modules.Result{}, err
		}
	}
	return w.fail(w.late()), nil
}

func (w *portWait) prepare() (problem string) {
	if w.Regex != nil {
		re, err := pyre.Compile(*w.Regex, pyre.Options{Multiline: true})
		if err != nil {
			return "Invalid regular expression: " + err.Error()
		}
		w.re = re
	}
	switch {
	case w.Port != nil && w.Path != nil:
		return "port and path parameter can not both be passed to wait_for"
	case w.Path != nil && (w.State == "stopped" || w.State == "drained"):
		return "state=" + w.State + " should only be used for checking a port in the wait_for module"
	case w.Exclude != nil && w.State != "drained":
		return "exclude_hosts should only be with state=drained"
	}
	for _, name := range w.Active {
		if connectionStates[name] == "" {
			return "unknown active_connection_state (" + name + ") defined"
		}
	}
	return ""
}

// connectionStates are the numbers of /proc/net/tcp.
var connectionStates = map[string]string{
	"ESTABLISHED": "01", "SYN_SENT": "02", "SYN_RECV": "03", "FIN_WAIT1": "04", "FIN_WAIT2": "05", "TIME_WAIT": "06",
}

func (w *portWait) pause(seconds int) error {
	select {
	case <-time.After(time.Duration(seconds) * time.Second):
		return nil
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

func (w *portWait) elapsed() int { return int(time.Since(w.start) / time.Second) }

func (w *portWait) done() modules.Result {
	data := value.DictOf(
		"state", w.State, "port", nil, "search_regex", nil, "match_groups", w.groups, "match_groupdict", w.named, "path", nil,
		"elapsed", w.elapsed(),
		"changed", modules.AtEnd,
	)
	if w.Port != nil {
		data.Put("port", *w.Port)
	}
	if w.path != nil {
		data.Put("path", *w.path)
	}
	if w.Regex != nil {
		data.Put("search_regex", *w.Regex)
	}
	fsx.AddInfo(data)
	if w.path != nil && *w.path != "" && !fsx.Exists(*w.path) {
		data.Put("state", "absent")
	}
	return modules.Result{Data: data}
}

func (w *portWait) fail(msg string) modules.Result {
	if w.Msg != nil && *w.Msg != "" {
		msg = *w.Msg
	}
	return modules.Result{Failed: true, Msg: msg, Data: value.DictOf("elapsed", w.elapsed())}
}

// late returns what to say when the time is over.
func (w *portWait) late() string {
	if w.Path != nil {
		switch {
		case w.State == "absent":
			return fmt.Sprintf("Timeout when waiting for %s to be absent.", *w.Path)
		case w.Regex != nil:
			return fmt.Sprintf("Timeout when waiting for search string %s in %s", *w.Regex, *w.Path)
		}
		return "Timeout when waiting for file " + *w.Path
	}
	port := "None"
	if w.Port != nil {
		port = strconv.Itoa(*w.Port)
	}
	at := w.Host + ":" + port
	switch {
	case w.State == "drained":
		return "Timeout when waiting for " + at + " to drain"
	case w.State == "absent" || w.State == "stopped":
		return "Timeout when waiting for " + at + " to stop."
	case w.Regex != nil:
		return fmt.Sprintf("Timeout when waiting for search string %s in %s", *w.Regex, at)
	}
	return "Timeout when waiting for " + at
}

// look reports whether what is waited for has come.
func (w *portWait) look() (reached bool, problem string) {
	switch w.State {
	case "absent", "stopped":
		if w.Path != nil {
			_, err := os.Stat(*w.Path)
			return err != nil, ""
		}
		conn, err := w.dial()
		if err == nil {
			conn.Close()
		}
		return err != nil, ""
	case "drained":
		return w.drained()
	}
	if w.Path != nil {
		return w.fileReady()
	}
	conn, err := w.dial()
	if err != nil {
		return false, ""
	}
	defer conn.Close()
	return w.re == nil || w.says(conn), ""
}

func (w *portWait) dial() (net.Conn, error) {
	limit := min(time.Duration(w.ConnectTimeout)*time.Second, time.Until(w.end)+time.Second)
	d := nss.Dialer{Timeout: limit}
	return d.DialContext(w.ctx, "tcp", net.JoinHostPort(w.Host, strconv.Itoa(*w.Port)))
}

func (w *portWait) fileReady() (reached bool, problem string) {
	_, err := os.Stat(*w.Path)
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return false, ""
	}
	if err != nil {
		var errno syscall.Errno
		errors.As(err, &errno)
		return false, fmt.Sprintf("Failed to stat %s, %s", *w.Path, oserr.Text(errno))
	}
	if w.re == nil {
		return true, ""
	}
	text, err := os.ReadFile(*w.Path)
	return err == nil && w.match(string(text)), ""
}

// match remembers the groups of a match.
func (w *portWait) match(text string) bool {
	m, err := w.re.Search(text)
	if err != nil || m == nil {
		return false
	}
	all, named := m.Groups()
	w.groups = all
	w.named, _ = value.FromGo(named, value.KindUnsafe).(*value.Dict)
	return true
}

// says reads from a port until what it said matches, or it or the time ends.
func (w *portWait) says(conn net.Conn) bool {
	if conn.SetReadDeadline(w.end) != nil {
		return false
	}
	defer context.AfterFunc(w.ctx, func() { _ = conn.SetReadDeadline(time.Now()) })()
	var heard strings.Builder
	buf := make([]byte, 1024)
	for heard.Len() < 16<<20 {
		n, err := conn.Read(buf)
		heard.Write(buf[:n])
		if ok, matchErr := w.re.Matches(heard.String()); ok && matchErr == nil {
			return true
		}
		if err != nil {
			return false
		}
	}
	return false
}
