package modtest

import (
	"bufio"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gopkg.in/yaml.v3"

	"hark/modules"
)

// rehearsal has cases and examples of modules run in check mode only, with marks that TraceCheckMode finds in what
// the tracer saw.
var rehearsal = flag.Bool("rehearse", false, "run modules only in check mode, for a tracer")

// tracePrefix is where a module's calls begin and end in a trace: the name of a file that is not there.
const tracePrefix = "/hark-rehearsal/"

// traced runs f with marks around it.
func traced(m *modules.Module, f func()) {
	_ = syscall.Access(tracePrefix+"begin/"+m.Name, 0)
	defer func() { _ = syscall.Access(tracePrefix+"end/"+m.Name, 0) }()
	f()
}

// unclaimed returns the programs of a list that a module does not declare as those that it starts in check mode.
func unclaimed(m *modules.Module, started []string) []string {
	return slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(started))), func(program string) bool {
		return m.StartsWhenChecked(program)
	})
}

// recorded has the Exec of an Env note which programs it starts.
func recorded(env *modules.Env,
	exec func(context.Context, modules.Command) (modules.Output, error)) (started func() []string) {
	var mu sync.Mutex
	var names []string
	env.Exec = func(ctx context.Context, c modules.Command) (modules.Output, error) {
		mu.Lock()
		names = append(names, c.Program())
		mu.Unlock()
		return exec(ctx, c)
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(names)
	}
}

// Examples runs the examples of a module in check mode, on a host whose programs print nothing and from which no
// network is reached.
func Examples(t *testing.T, m *modules.Module, o Options) {
	t.Helper()
	var tasks []map[string]any
	if err := yaml.Unmarshal([]byte(m.Examples), &tasks); err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		for key, given := range task {
			if short := key[strings.LastIndexByte(key, '.')+1:]; short != ShortName(m) {
				continue
			}
			args, _ := given.(map[string]any)
			if text, ok := given.(string); ok {
				args = map[string]any{"_raw_params": text}
			}
			c := &testCase{Name: "example", Args: args, Check: true}
			b := newBench(t, c, m.Name, o)
			b.env.Environ = append(b.env.Environ, "http_proxy=http://127.0.0.1:1", "https_proxy=http://127.0.0.1:1",
				"ftp_proxy=http://127.0.0.1:1")
			started := recorded(b.env, func(context.Context, modules.Command) (modules.Output, error) {
				return modules.Output{}, nil
			})
			traced(m, func() { b.call(t, m) })
			if more := unclaimed(m, started()); len(more) > 0 {
				t.Errorf("the example %v starts %v in check mode, which is not declared", args, more)
			}
		}
	}
}

// TraceCheckMode runs the test binary again under strace, with the cases and examples of a package's modules in check
// mode only. No module may start a program that it does not declare (modules.StartsInCheck) or write anywhere but in
// a scratch directory. cases is the name of the test that runs the cases.
func TraceCheckMode(t *testing.T, cases string, list []*modules.Module) {
	t.Helper()
	if *rehearsal {
		t.Skip("this is what is traced")
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatalf("%v: the tracer is strace (apt-get install strace)", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := realDir(t)
	scratch, log := filepath.Join(dir, "tmp"), filepath.Join(dir, "trace")
	if err := os.Mkdir(scratch, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), strace, "-f", "--seccomp-bpf", "-qq", "-s", "4096", "-o", log, "-e",
		"trace=%file,fchmod,fchown,ftruncate,clone,clone3,fork,vfork",
		self, "-test.run", "^"+cases+"$", "-rehearse")
	cmd.Env = append(os.Environ(), "TMPDIR="+scratch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := judge(t, log, list)
	for _, m := range list {
		if !m.NoCheck && !m.Session && !m.Foreign && !seen[m.Name] {
			t.Errorf("%s was not traced: it has neither cases nor examples", m.Name)
		}
	}
}

// A line of strace: the process, the call, its arguments and what it gave.
var traceLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (-?\d+)`) })

// judge reads a trace. It gives the modules that it found.
func judge(t *testing.T, log string, list []*modules.Module) map[string]bool {
	t.Helper()
	file, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	j := &jury{programs: map[string]bool{}, known: map[string]bool{}, seen: map[string]bool{}, list: list}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	whole := unfinished{}
	for lines.Scan() {
		j.meet(lines.Text())
		if what := j.line(whole.join(lines.Text())); what != "" {
			t.Error(what)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return j.seen
}

// unfinished are calls whose beginning strace has printed, by process.
type unfinished map[string]string

// join returns a line of its own for a call that strace told in two.
func (u unfinished) join(line string) string {
	pid, rest, _ := strings.Cut(line, " ")
	if begun, cut := strings.CutSuffix(line, " <unfinished ...>"); cut {
		u[pid] = begun
		return ""
	}
	if _, end, resumed := strings.Cut(rest, " resumed>"); resumed && strings.HasPrefix(strings.TrimSpace(rest), "<... ") {
		line = u[pid] + end
		delete(u, pid)
	}
	return line
}

// jury judges what was traced.
type jury struct {
	list     []*modules.Module
	now      *modules.Module // whose call it is
	programs map[string]bool // processes that run a program of the host's: what these do is not the module's doing
	known    map[string]bool // processes that were met
	forking  []string        // processes that make another one, the last one last
	seen     map[string]bool
}

var forks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d+) +(?:clone3?|v?fork)\(.*?(?:= (\d+)|(<unfinished \.\.\.>))`)
})

// meet looks for processes that are new. What a program of the host's starts is its own doing too. A process that
// speaks before the call has returned that made it is of the last one that is in such a call.
func (j *jury) meet(line string) {
	pid, rest, _ := strings.Cut(line, " ")
	if !j.known[pid] && len(j.forking) > 0 {
		j.programs[pid] = j.programs[j.forking[len(j.forking)-1]]
	}
	j.known[pid] = true
	if is := forks().FindStringSubmatch(line); is != nil && is[2] != "" {
		j.known[is[2]], j.programs[is[2]] = true, j.programs[pid]
	} else if is != nil {
		j.forking = append(j.forking, pid)
	}
	if rest = strings.TrimSpace(rest); strings.HasPrefix(rest, "<... clone") || strings.HasPrefix(rest, "<... vfork") ||
		strings.HasPrefix(rest, "<... fork") {
		j.forking = slices.DeleteFunc(j.forking, func(p string) bool { return p == pid })
		if child := rest[strings.LastIndexByte(rest, ' ')+1:]; !j.known[child] {
			j.known[child], j.programs[child] = true, j.programs[pid]
		}
	}
}

// line judges one call of the system; "" is no complaint.
func (j *jury) line(text string) string {
	is := traceLine().FindStringSubmatch(text)
	if is == nil {
		return ""
	}
	pid, call, args, failed := is[1], is[2], is[3], strings.HasPrefix(is[4], "-")
	if _, name, ok := strings.Cut(args, `"`+tracePrefix); ok {
		what, name, _ := strings.Cut(name[:strings.IndexByte(name, '"')], "/")
		j.now = nil
		if i := slices.IndexFunc(j.list, func(m *modules.Module) bool { return m.Name == name }); i >= 0 && what == "begin" {
			j.now, j.seen[name] = j.list[i], true
		}
		return ""
	}
	if j.programs[pid] {
		return ""
	}
	if call == "execve" && !failed {
		j.programs[pid] = true
	}
	if j.now == nil {
		return ""
	}
	return j.doing(call, args, failed)
}

var (
	quotedText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`) })
	scratchDir = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`/tmp/(.*/)?(hark-|\.ansible)[^/]*(/|$)`)
	})
)

// doing judges a call of the module that is on.
func (j *jury) doing(call, args string, failed bool) string {
	var paths []string
	for _, q := range quotedText().FindAllStringSubmatch(args, -1) {
		paths = append(paths, q[1])
	}
	switch call {
	case "execve", "execveat":
		if failed || len(paths) == 0 || j.now.StartsWhenChecked(filepath.Base(paths[0])) {
			return ""
		}
		return j.now.Name + " starts " + paths[0] + " in check mode, which is not declared"
	case "open", "openat", "openat2", "creat":
		if call != "creat" && !strings.Contains(args, "O_WRONLY") && !strings.Contains(args, "O_RDWR") &&
			!strings.Contains(args, "O_CREAT") {
			return ""
		}
	case "mkdir", "mkdirat", "mknod", "mknodat", "unlink", "unlinkat", "rmdir", "rename", "renameat", "renameat2", "link",
		"linkat", "symlink", "symlinkat",
		"chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "truncate", "utimensat", "utimes", "setxattr",
		"lsetxattr", "removexattr", "fchmod", "fchown", "ftruncate":
	default:
		return ""
	}
	for _, path := range paths {
		if filepath.IsAbs(path) && path != "/dev/null" && path != "/dev/ptmx" && !strings.HasPrefix(path, "/dev/pts/") &&
			!scratchDir().MatchString(path) {
			return j.now.Name + " writes in check mode: " + call + "(" + args + ")"
		}
	}
	return ""
}
