package content

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hark/modules"
	"hark/modules/all"
	"hark/modules/modtest"
	"hark/modules/nss"
	"hark/modules/py/ident"
	"hark/modules/py/value"
)

var (
	besideLive  = flag.Bool("beside", false, "call modules beside those of the installed ansible-core")
	besideKeep  = flag.Bool("beside-record", false, "as -beside, and write down some of what Ansible's modules answer")
	besideCalls = flag.Int("beside-calls", 30, "how many calls of each module -beside draws")
	besideSeed  = flag.Uint64("beside-seed", 1, "what decides the calls that -beside draws")
	besideOnly  = flag.String("beside-modules", "", "the modules that -beside calls, separated by commas; all if empty")
)

// keptCalls is how many drawn calls of a module are written down, keptOfTable about how many of its table, and
// longestCall how long one may take.
const (
	keptCalls   = 12
	keptOfTable = 30
	longestCall = 5 * time.Second
	longestKept = 6000 // bytes of a line
)

// besideCall is a call of a module, and what Ansible's module made of it.
type besideCall struct {
	Module string          `json:"module"`
	Args   json.RawMessage `json:"args"` // $AREA is the directory
	Check  bool            `json:"check,omitempty"`
	Diff   bool            `json:"diff,omitempty"`
	Twice  bool            `json:"twice,omitempty"` // the same call was made before
	Want   *made           `json:"want,omitempty"`

	given map[string]any
}

// made is what a call made: its result, and the files that it changed.
type made struct {
	Result map[string]any    `json:"result"`
	Files  map[string]string `json:"files"`
}

// TestModulesAreAnsibles calls modules of hark in a directory of odd files: once and twice, in check mode and with
// diffs. The arguments come from tables, and some are drawn from the modules' declarations. It compares results, files,
// modes and owners with those of ansible-core 2.14, which are in testdata/beside. With -beside it asks the installed
// one. testdata/beside/accepted.txt has the differences that are kept, with their reasons.
func TestModulesAreAnsibles(t *testing.T) {
	b := &beside{area: newArea(t), registry: modules.NewRegistry(all.Modules()...), tmp: t.TempDir(), rules: acceptedRules(t)}
	t.Setenv("TMPDIR", b.tmp) // for backups that modules leave
	b.area.renew(t)
	b.before = b.area.look(t)
	if *besideLive || *besideKeep {
		b.live(t, modtest.StartPython(t))
		return
	}
	calls := readCalls(t)
	for i, c := range calls {
		t.Run(fmt.Sprintf("%s/%d", c.Module, i), func(t *testing.T) { b.compare(t, c) })
	}
	if len(calls) == 0 {
		t.Fatal("no calls are written down: -beside-record")
	}
}

type beside struct {
	area     *area
	registry *modules.Registry
	tmp      string
	before   map[string]string
	rules    []rule
	// untouched says that the last call has left the area as it was.
	untouched bool
}

// live draws calls and makes each with both modules.
func (b *beside) live(t *testing.T, python *modtest.Python) {
	var kept []besideCall
	total := map[string]int{}
	for _, d := range drawnModules() {
		if only := strings.Split(*besideOnly, ","); *besideOnly != "" && !slices.Contains(only, d.name) {
			continue
		}
		name, inPython := d.full()
		m, ok := b.registry.Get(name)
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		count := map[string]int{}
		laid := d.laid(m)
		for i, c := range append(laid, d.draws(m, name)...) {
			if *besideKeep && (d.here || !isKept(i, len(laid))) {
				continue
			}
			c.Module, c.Args = name, b.text(t, c.given)
			c.Want = b.theirs(t, python, inPython, c)
			if c.Want == nil {
				count["not there"]++
				break
			}
			what := "equal"
			t.Run(fmt.Sprintf("%s/%d", d.name, i), func(t *testing.T) { what = b.compare(t, c) })
			count[what]++
			if what != "differs" && !d.here && isKept(i, len(laid)) && b.isShort(t, c) {
				kept = append(kept, c)
			}
		}
		t.Logf("%s: %v", name, count)
		for what, n := range count {
			total[what] += n
		}
	}
	t.Logf("seed %d, together: %v", *besideSeed, total)
	if *besideKeep {
		writeCalls(t, kept)
	}
}

// isShort reports whether a call can be kept: its answer is no page of text.
func (b *beside) isShort(t *testing.T, c besideCall) bool {
	t.Helper()
	text, err := json.Marshal(c)
	return err == nil && len(text) < longestKept
}

// isKept reports whether a call is written down: some of the table's, and the first of those that are drawn.
func isKept(i, laid int) bool {
	if i >= laid {
		return i-laid < keptCalls
	}
	return i%(1+laid/keptOfTable) == 0
}

// draws are calls with arguments that chance gives.
func (d drawn) draws(m *modules.Module, name string) []besideCall {
	hash := fnv.New64()
	hash.Write([]byte(name))
	var all []besideCall
	for i := range *besideCalls {
		r := rand.New(rand.NewPCG(*besideSeed, hash.Sum64()+uint64(i)))
		c := besideCall{Check: r.IntN(6) == 0, Diff: r.IntN(4) == 0}
		c.given = d.draw(r, m)
		all = append(all, c)
	}
	return all
}

// text writes arguments as JSON.
func (b *beside) text(t *testing.T, args map[string]any) json.RawMessage {
	t.Helper()
	text, err := value.Dumps(modtest.Args(wide(args).(map[string]any)), value.JSONOptions{ASCII: true})
	if err != nil {
		t.Fatal(err)
	}
	return json.RawMessage(text)
}

// wide makes numbers as Python's values take them.
func wide(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = wide(x)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = wide(x)
		}
		return out
	}
	return v
}

func (b *beside) filled(c besideCall) string {
	return strings.ReplaceAll(string(c.Args), "$AREA", b.area.dir)
}

func (b *beside) environ() map[string]string {
	return map[string]string{"HOME": b.area.dir + "/home", "PATH": b.area.dir + "/bin.d:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC", "PWD": b.area.dir}
}

// theirs makes a call with Ansible's module; nil if that is not installed.
func (b *beside) theirs(t *testing.T, python *modtest.Python, name string, c besideCall) *made {
	t.Helper()
	b.area.renew(t)
	// Nothing is logged: names that are no UTF-8 would break syslog in Python.
	more := map[string]any{"_ansible_no_log": true, "_ansible_check_mode": c.Check, "_ansible_diff": c.Diff, "_ansible_remote_tmp": b.tmp}
	if strings.HasSuffix(c.Module, ".shell") {
		more["_uses_shell"] = true
	}
	given, _ := json.Marshal(more)
	args := strings.TrimSuffix(string(given), "}") + ", " + strings.TrimPrefix(b.filled(c), "{")
	args = strings.ReplaceAll(args, ", }", "}")
	call := modtest.PythonCall{
		Module: name, Args: json.RawMessage(args), Env: b.environ(), Dir: b.area.dir, Seconds: int(longestCall.Seconds()),
	}
	printed := python.Call(t, call)
	if c.Twice {
		printed = python.Call(t, call)
	}
	if strings.HasPrefix(printed, `{"no_module"`) {
		return nil
	}
	text := strings.TrimSpace(printed)
	if i := strings.LastIndex(text, "\n"); i >= 0 {
		text = text[i+1:]
	}
	return b.outcome(t, c, text)
}

// ours makes a call with hark's module.
func (b *beside) ours(t *testing.T, c besideCall) *made {
	t.Helper()
	if !b.untouched {
		b.area.renew(t)
	}
	b.untouched = false
	t.Chdir(b.area.dir)
	if c.Twice {
		b.once(t, c)
	}
	return b.once(t, c)
}

// once makes a call in the area as it is.
func (b *beside) once(t *testing.T, c besideCall) *made {
	t.Helper()
	m, ok := b.registry.Get(c.Module)
	if !ok {
		t.Fatalf("there is no %s", c.Module)
	}
	env := &modules.Env{Name: c.Module, Check: c.Check, Diff: c.Diff, Host: "host", NamesVariable: ident.Python}
	var warnings []string
	env.Warn = func(f string, a ...any) { warnings = append(warnings, fmt.Sprintf(f, a...)) }
	for k, v := range b.environ() {
		env.Environ = append(env.Environ, k+"="+v)
	}
	env.Exec = modules.HostExec(env.Environ, nil)
	if u, err := nss.Current(); err == nil {
		env.User = u.Name
	}
	args, err := value.ParseJSON(b.filled(c), value.KindUnsafe)
	if err != nil {
		t.Fatal(err)
	}
	limit := longestCall
	if c.Want != nil && c.Want.Result["late"] == true {
		limit = time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	ended := make(chan modules.Result, 1)
	go func() {
		dict := args.(*value.Dict)
		if err := m.Resolve(ctx, env, dict); err != nil {
			ended <- modules.Failure(err)
			return
		}
		ended <- m.Run(ctx, env, dict)
	}()
	select {
	case res := <-ended:
		if ctx.Err() != nil {
			return &made{Result: map[string]any{"late": true}}
		}
		res.Warnings = append(res.Warnings, warnings...)
		return b.outcome(t, c, value.JSONText(res.Dict(), value.JSONOptions{ASCII: true}))
	case <-time.After(limit + time.Second):
		b.area.freeFifo()
		<-ended
		return &made{Result: map[string]any{"late": true}}
	}
}

// outcome reads what a call printed, and looks at what it left behind.
func (b *beside) outcome(t *testing.T, c besideCall, printed string) *made {
	t.Helper()
	out := &made{Files: map[string]string{}}
	var result map[string]any
	dec := json.NewDecoder(strings.NewReader(strings.ReplaceAll(b.area.empty(printed), `\udc`, `\\udc`)))
	if err := dec.Decode(&result); err != nil {
		result = map[string]any{"printed": printed}
	}
	if result["late"] == true {
		return &made{Result: map[string]any{"late": true}}
	}
	out.Result, _ = plainResult("", result).(map[string]any)
	for _, key := range []string{"changed", "failed"} {
		out.Result[key] = out.Result[key] == true
	}
	for _, key := range []string{"warnings", "deprecations"} {
		if list, ok := out.Result[key].([]any); ok && len(list) == 0 {
			delete(out.Result, key)
		}
	}
	after := b.area.look(t)
	for path := range merge(after, b.before) {
		if after[path] != b.before[path] {
			out.Files[strings.Trim(strconv.Quote(path), `"`)] = orGone(after[path])
		}
	}
	b.untouched = len(out.Files) == 0
	return out.withoutChance(c)
}

func orGone(text string) string {
	if text == "" {
		return "gone"
	}
	return text
}

func merge(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// withoutChance names the random part of a temporary name.
func (m *made) withoutChance(c besideCall) *made {
	if !strings.HasSuffix(c.Module, ".tempfile") {
		return m
	}
	if msg, ok := m.Result["msg"].(string); ok {
		m.Result["msg"] = regexp.MustCompile(`/(ansible\.|pre-)[a-z0-9_]{8}`).ReplaceAllString(msg, "/${1}RANDOM")
	}
	path, ok := m.Result["path"].(string)
	if msg, failed := m.Result["msg"].(string); failed && !ok {
		m.Result["msg"] = regexp.MustCompile(`[a-z0-9_]{8}(\W*)$`).ReplaceAllString(msg, "RANDOM$1")
		return m
	}
	text, err := json.Marshal(m)
	if err != nil {
		return m
	}
	base := strings.TrimPrefix(strings.TrimPrefix(filepath.Base(path), "ansible."), "pre-")
	for _, part := range regexp.MustCompile(`[a-z0-9_]{8}`).FindAllString(base, -1) {
		text = bytes.ReplaceAll(text, []byte(part), []byte("RANDOM"))
	}
	out := &made{}
	if json.Unmarshal(text, out) != nil {
		return m
	}
	return out
}

// dropped are keys whose values belong to a file system, a process or the moment.
var dropped = strings.Fields("invocation exception ctime atime inode dev blocks block_size version attr_flags attributes mimetype charset delta start end elapsed _ansible_failed_by")

// plainResult takes out of a result what differs from run to run.
func plainResult(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if !slices.Contains(dropped, k) {
				out[k] = plainResult(k, x)
			}
		}
		if v["state"] == "directory" || v["isdir"] == true {
			delete(out, "size")
			delete(out, "nlink")
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = plainResult(key, x)
		}
		if key == "files" {
			slices.SortFunc(out, func(a, b any) int { return strings.Compare(modules.PyJSON(a), modules.PyJSON(b)) })
		}
		return out
	case float64:
		at := time.Unix(int64(v), 0)
		switch {
		case key == "mtime" && time.Since(at).Abs() < time.Hour:
			return "now"
		case key == "uid" || key == "gid":
			return ownID(key, int(v))
		case key == "owner": // of a diff
			return ownID("uid", int(v))
		case key == "group":
			return ownID("gid", int(v))
		}
	case string:
		if head, rest, ok := strings.Cut(v, "\nCommand "); ok { // a set in Python: in any order
			parts := strings.Split(rest, "\nCommand ")
			for i, part := range parts {
				parts[i] = strings.TrimSpace(part)
			}
			slices.Sort(parts)
			v = head + "\n" + strings.Join(parts, "\n")
		}
		return brief(ownName(key, temporaryNames().ReplaceAllString(v, "$$TMP")))
	}
	return v
}

func ownID(key string, id int) any {
	if key == "uid" && id == os.Geteuid() || key == "gid" && id == os.Getegid() {
		return "me"
	}
	return float64(id)
}

func ownName(key, name string) string {
	if u, err := nss.Current(); err == nil && (key == "owner" || key == "pw_name") && name == u.Name {
		return "me"
	}
	if g, err := nss.GroupOf(os.Getegid()); err == nil && (key == "group" || key == "gr_name") && name == g.Name {
		return "me"
	}
	return name
}

var temporaryNames = func() func() *regexp.Regexp {
	re := regexp.MustCompile(`[^ '"]*(\.ansible_tmp|ansible-moduletmp-|\.hark-|/hark-|/tmp/tmp|/crontab[0-9a-z_]{8}|/missing/tmp)[^ '"]*|\(_ssl\.c:\d+\)|\((ansible\.(legacy|builtin)\.\w+|basic\.py)\)| Valid booleans include: .*`)
	return func() *regexp.Regexp { return re }
}()

// compare makes a call with hark's module and reports what is not as wanted: "equal", "accepted" or "differs".
func (b *beside) compare(t *testing.T, c besideCall) string {
	if m, ok := b.registry.Get(c.Module); ok && c.Check && m.NoCheck { // the session skips it
		if c.Want.Result["skipped"] != true && c.Want.Result["failed"] != true {
			t.Errorf("%s is skipped in check mode, and Ansible's module is not: %v", c.Module, c.Want.Result)
		}
		return "equal"
	}
	got := b.ours(t, c)
	lines := slices.Concat(differing("", c.Want.Result, got.Result), differingFiles(c.Want.Files, got.Files))
	if c.Want.Result["crash"] != nil && got.Result["failed"] == true { // the module failed to fail
		lines = differingFiles(c.Want.Files, got.Files)
	}
	if c.Want.Result["late"] == true && got.Result["late"] == true {
		lines = nil
	}
	var left []string
	for _, l := range lines {
		accepted, whole := b.accepts(c, l)
		if whole {
			left = nil
			break
		}
		if !accepted {
			left = append(left, l)
		}
	}
	switch {
	case len(left) > 0:
		t.Errorf("%s %s check=%v diff=%v twice=%v\n\t%s", c.Module, c.Args, c.Check, c.Diff, c.Twice, strings.Join(left, "\n\t"))
		return "differs"
	case len(lines) > 0:
		return "accepted"
	}
	return "equal"
}

// accepts reports whether a difference is kept, and whether with it all of the call's.
func (b *beside) accepts(c besideCall, line string) (accepted, whole bool) {
	for _, r := range b.rules {
		if r.fits(c, line) {
			accepted, whole = true, whole || r.whole
		}
	}
	return accepted, whole
}

// differing says what differs in results, a line each.
func differing(at string, want, got any) []string {
	w, isW := want.(map[string]any)
	g, isG := got.(map[string]any)
	if !isW || !isG {
		if reflect.DeepEqual(want, got) {
			return nil
		}
		return []string{fmt.Sprintf("%s: %s, want %s", at, modules.PyJSON(got), modules.PyJSON(want))}
	}
	var out []string
	keys := maps.Clone(w)
	maps.Copy(keys, g)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		out = append(out, differing(strings.TrimPrefix(at+"."+k, "."), w[k], g[k])...)
	}
	return out
}

func differingFiles(want, got map[string]string) []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(merge(want, got))) {
		if want[path] != got[path] {
			out = append(out, fmt.Sprintf("file %s: %s, want %s", path, got[path], want[path]))
		}
	}
	return out
}

// rule accepts differences of a module that an expression fits; a whole one with them all others of the call.
type rule struct {
	module string
	line   *regexp.Regexp
	whole  bool
}

func (r rule) fits(c besideCall, line string) bool {
	return (r.module == "*" || strings.HasSuffix(c.Module, "."+r.module)) && r.line.MatchString(line)
}

// acceptedRules reads accepted.txt: module | expression for a difference | reason. A module that ends with ! makes the
// rule a whole one.
func acceptedRules(t *testing.T) []rule {
	t.Helper()
	text, err := os.ReadFile("testdata/beside/accepted.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []rule
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, " | ")
		if len(parts) != 3 || parts[2] == "" {
			t.Fatalf("accepted.txt: %q is not: module | expression | reason", line)
		}
		re, err := regexp.Compile(parts[1])
		if err != nil {
			t.Fatal(err)
		}
		module, whole := strings.CutSuffix(parts[0], "!")
		all = append(all, rule{module, re, whole})
	}
	return all
}

// callsFile has a call a line. What root may do others may not: each has a file.
func callsFile() string {
	if os.Geteuid() == 0 {
		return "testdata/beside/root.jsonl"
	}
	return "testdata/beside/user.jsonl"
}

func readCalls(t *testing.T) []besideCall {
	t.Helper()
	f, err := os.Open(callsFile())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var calls []besideCall
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var c besideCall
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		calls = append(calls, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return calls
}

func writeCalls(t *testing.T, calls []besideCall) {
	t.Helper()
	var out bytes.Buffer
	for _, c := range calls {
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(text, '\n'))
	}
	if err := os.WriteFile(callsFile(), out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
