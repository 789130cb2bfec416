//go:build e2e

package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// volatile are the values that differ from run to run of the same engine.
var volatile = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`"(start|end)": "[-0-9: .]+"`), `"$1": "TIME"`},
	{regexp.MustCompile(`"delta": "[0-9:.]+"`), `"delta": "DELTA"`},
	{regexp.MustCompile(`'(start|end)': '[-0-9: .]+'`), `'$1': 'TIME'`},
	{regexp.MustCompile(`'delta': '[0-9:.]+'`), `'delta': 'DELTA'`},
	{regexp.MustCompile(`"(atime|mtime|ctime)": [0-9.]+`), `"$1": 0.0`},
	{regexp.MustCompile(`"(inode|dev|device_type|pid|child_pid)": [0-9]+`), `"$1": 0`},
	{regexp.MustCompile(`[0-9]+\.[0-9-]+@[0-9:]+~`), `BACKUP~`}, // before jobs: the pid in it may look like one
	{regexp.MustCompile(`j?[0-9]{6,}\.[0-9]+`), `JOB`},
	{regexp.MustCompile(`"src": "[^"]*(ansible-tmp|\.ansible/tmp|hark)[^"]*"`), `"src": "TMP"`},
	{regexp.MustCompile(`[^ "']*/ansible-local-[^ "'/]*/tmp[a-z0-9_]+`), `TMP`},
	{regexp.MustCompile(`(ansible\.)[a-z0-9_]{8}`), `${1}RANDOM`},
	{regexp.MustCompile(`"elapsed": [0-9]+`), `"elapsed": 0`},
	{regexp.MustCompile(`"(version)": "?[0-9]{6,}"?`), `"$1": "N"`},
}

// normaliser replaces the case's own directory and what is volatile.
func normaliser(work string) func(string) string {
	real, err := filepath.EvalSymlinks(work)
	if err != nil {
		real = work
	}
	return func(s string) string {
		s = strings.ReplaceAll(s, real, "WORK")
		s = strings.ReplaceAll(s, work, "WORK")
		for _, v := range volatile {
			s = v.re.ReplaceAllString(s, v.to)
		}
		return s
	}
}

var entryStart = regexp.MustCompile(`^(ok|changed|skipping|failed|fatal|included|FAILED - RETRYING|ASYNC [A-Z ]+)[:,]? `)

// ordered brings the entries of each task into one order: Ansible prints hosts as their workers finish.
func (c testCase) ordered(text string) string {
	var out, entries []string
	lines := strings.Split(text, "\n")
	sortListed(lines)
	flush := func() {
		c.sortEntries(entries)
		out = append(out, entries...)
		entries = nil
	}
	for _, line := range lines {
		line = hostsInOrder(line)
		switch {
		case entryStart.MatchString(line):
			entries = append(entries, line)
		case line == "" || len(entries) == 0:
			flush()
			out = append(out, line)
		default:
			entries[len(entries)-1] += "\n" + line
		}
	}
	flush()
	return strings.Join(out, "\n")
}

var listedHosts = regexp.MustCompile(`^    hosts \(([0-9]+)\):$`)

// sortListed sorts the hosts of --list-hosts and the like: for ansible-playbook they are a set of Python's.
func sortListed(lines []string) {
	for i, line := range lines {
		m := listedHosts.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if n, err := strconv.Atoi(m[1]); err == nil && i+1+n <= len(lines) {
			sort.Strings(lines[i+1 : i+1+n])
		}
	}
}

var includedFor = regexp.MustCompile(`^(included: .* for )([^=]+?)( => .*)?$`)

// hostsInOrder sorts the hosts of an "included:" line: Ansible names them as their workers finish.
func hostsInOrder(line string) string {
	m := includedFor.FindStringSubmatch(line)
	if m == nil {
		return line
	}
	hosts := strings.Split(m[2], ", ")
	sort.Strings(hosts)
	return m[1] + strings.Join(hosts, ", ") + m[3]
}

var hostOf = regexp.MustCompile(`\[([^\]]+)\]`)

func (c testCase) sortEntries(entries []string) {
	key := func(s string) string {
		if c.settings["sort"] == "items" {
			return s
		}
		if m := hostOf.FindString(strings.SplitN(s, "\n", 2)[0]); m != "" {
			return m
		}
		return s
	}
	sort.SliceStable(entries, func(i, j int) bool { return key(entries[i]) < key(entries[j]) })
}

// tree is every file below dir: its mode and its content.
func tree(t *testing.T, dir string, norm func(string) string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		files[norm(rel)] = describe(path, info, norm)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func describe(path string, info fs.FileInfo, norm func(string) string) string {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(path)
		return "-> " + norm(target)
	case info.IsDir():
		return info.Mode().String()
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%v\n%s", info.Mode(), norm(string(text)))
}

func writeFile(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if strings.HasPrefix(string(text), "#!") {
		mode = 0o755
	}
	if err := os.WriteFile(path, text, mode); err != nil {
		t.Fatal(err)
	}
}
