package builtin

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

type knownHostsArgs struct {
	Name  string  `arg:"name,required,alias=host" doc:"The host."`
	Key   *string `arg:"key" doc:"Its line, as in the file."`
	Path  string  `arg:"path,type=path,default=~/.ssh/known_hosts" doc:"The file."`
	Hash  bool    `arg:"hash_host,default=no" doc:"Whether to hide the host's name in the file."`
	State string  `arg:"state,default=present,choices=absent|present" doc:"Whether the host shall be in the file."`
}

// KnownHosts is ansible.builtin.known_hosts.
var KnownHosts = modules.Define("ansible.builtin.known_hosts", "Adds or removes hosts that ssh knows", runKnownHosts,
	modules.Operands("name"),
	modules.StartsInCheck("ssh-keygen"),
	modules.Edits("path"),
	modules.Documented(`- ansible.builtin.known_hosts: {name: git.example.org, key: "{{ lookup('file', 'git.example.org.pub') }}"}
`,
		modules.Return{Name: "name", Type: "str", When: "always", Doc: "The host."},
		modules.Return{Name: "path", Type: "str", When: "always", Doc: "The file."},
	))

func runKnownHosts(ctx context.Context, env *modules.Env, a knownHostsArgs) (modules.Result, error) {
	data := value.DictOf("name", a.Name, "key", nil, "path", a.Path, "hash_host", a.Hash, "state", a.State)
	if a.Key != nil {
		data.Put("key", *a.Key)
	}
	k := &knownHosts{ctx: ctx, env: env, host: strings.ToLower(a.Name), path: a.Path, present: a.State == "present"}
	if err := k.take(a); err != nil {
		return modules.Result{}, err
	}
	if err := k.search(); err != nil {
		return modules.Result{}, err
	}
	before, after, header := k.contents()
	res := modules.Result{Data: data, Diff: []modules.Diff{{Raw: value.DictOf(
		"before", before, "after", after, "before_header", header, "after_header", a.Path,
	)}}}
	if !k.present && k.line == 0 && k.key != "" {
		return res, nil
	}
	res.Changed = k.replace || k.found != k.present
	var err error
	switch {
	case env.Check:
		res.Data = nil
	case !res.Changed:
	case k.key == "" && !k.present:
		err = k.forget()
	default:
		err = k.write(after)
	}
	return res, err
}

// knownHosts is one call of the module.
type knownHosts struct {
	ctx        context.Context
	env        *modules.Env
	host, path string
	key        string // the line to be, with its newline; "" if none was given
	present    bool

	// found reports whether the host is in the file, replace that its key there is another one or of another type,
	// line where a key of that type stands, from 1; 0 if nowhere.
	found, replace bool
	line           int
	unread         error // why the file could not be read: only who writes it needs its content
}

var commaList = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\S+(\s+)?,(\s+)?`) })

// take checks the key that was given: ssh-keygen must find the host in it.
func (k *knownHosts) take(a knownHostsArgs) error {
	if a.Key == nil || *a.Key == "" {
		if k.present {
			return errors.New("No key specified when adding a host") //lint:ignore ST1005 the words that users see
		}
		return nil
	}
	k.key = *a.Key
	if a.Hash {
		k.key = hashHost(k.host, k.key)
	}
	if !strings.HasSuffix(k.key, "\n") {
		k.key += "\n"
	}
	if commaList().MatchString(k.host) {
		//lint:ignore ST1005 the words that users see
		return errors.New(
			"Comma separated list of names is not supported. Please pass a single name to lookup in the known_hosts file.")
	}
	f, err := os.CreateTemp("", "hark-*")
	if err != nil {
		//lint:ignore ST1005 the words that users see
		return fmt.Errorf("Failed to write to temporary file: %s", oserr.Bare(err))
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(k.key)
	if err = errors.Join(err, f.Close()); err != nil {
		//lint:ignore ST1005 the words that users see
		return fmt.Errorf("Failed to write to temporary file %s: %s", f.Name(), oserr.Bare(err))
	}
	out, err := tool.Host{Ctx: k.ctx, Env: k.env}.Run("ssh-keygen", "-F", k.host, "-f", f.Name())
	if _, ok := parseKnown(k.key); err == nil && (out.Stdout == "" || !ok) {
		return k.foreign(out)
	}
	return err
}

// foreign is what is said of a key that is not the host's; since ansible-core 2.22 with how ssh-keygen ended.
func (k *knownHosts) foreign(out tool.Output) error {
	ended := &modules.Ended{Result: modules.Result{Failed: true,
		Msg: "Host parameter does not match hashed host field in supplied key"}}
	if k.env.Release.Has(dialect.UnmatchedResults) {
		ended.Result.Data = value.DictOf("rc", int64(out.Rc))
		if out.Stderr != "" {
			ended.Result.Data.Put("stderr", out.Stderr)
		}
	}
	return ended
}

var foundLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`found: line (\d+)`) })

// search looks the host up in the file.
func (k *knownHosts) search() error {
	if !fsx.Exists(k.path) {
		return nil
	}
	out, err := tool.Host{Ctx: k.ctx, Env: k.env}.Run("ssh-keygen", "-F", k.host, "-f", k.path)
	switch {
	case err != nil:
		return err
	case out.Stdout == "" && out.Stderr == "" && (out.Rc == 0 || out.Rc == 1):
		return nil
	case out.Rc != 0:
		return fmt.Errorf("ssh-keygen failed (rc=%d, stdout='%s',stderr='%s')", out.Rc, out.Stdout, out.Stderr)
	}
	k.found = true
	if k.key == "" {
		return nil
	}
	k.replace = true
	mine, _ := parseKnown(k.key)
	at := 0
	for _, line := range strings.Split(out.Stdout, "\n") {
		if strings.HasPrefix(line, "#") {
			m := foundLine().FindStringSubmatch(line)
			if m == nil {
				return fmt.Errorf("failed to parse output of ssh-keygen for line number: '%s'", line)
			}
			at, _ = strconv.Atoi(m[1])
			continue
		}
		theirs, ok := parseKnown(line)
		if !ok {
			continue
		}
		if k.env.Has(dialect.KnownHostsMarks) && theirs.special() { // another line of the host, which stays
			if mine == theirs {
				k.line, k.replace = at, false
				return nil
			}
			continue
		}
		// Each hash of a name is another one.
		if strings.HasPrefix(mine.host, "|1|") && strings.HasPrefix(theirs.host, "|1|") {
			mine.host = theirs.host
		}
		if mine.kind == theirs.kind {
			k.line, k.replace = at, mine != theirs
			return nil
		}
	}
	return nil
}

// known is a line of the file without its comment.
type known struct{ marker, host, kind, key string }

// special reports whether the line is of an authority, or of a key that nobody may use any more.
func (k known) special() bool {
	return strings.HasPrefix(k.marker, "@cert-authority") || strings.HasPrefix(k.marker, "@revoke")
}

func parseKnown(line string) (known, bool) {
	f := strings.Fields(line)
	var k known
	if len(f) > 0 && f[0][0] == '@' {
		k.marker, f = f[0], f[1:]
	}
	if len(f) < 3 {
		return known{}, false
	}
	k.host, k.kind, k.key = f[0], f[1], f[2]
	return k, true
}

// hashHost hides the names of a line as ssh does: the salt, and with it the hash of the name.
func hashHost(host, key string) string {
	salt := make([]byte, 20)
	_, _ = rand.Read(salt) // never fails
	sum := hmac.New(sha1.New, salt)
	sum.Write([]byte(host))
	parts, at := strings.Fields(key), 0
	if len(parts) > 1 && parts[0][0] == '@' {
		at = 1
	}
	if at < len(parts) {
		parts[at] = "|1|" + base64.StdEncoding.EncodeToString(salt) + "|" + base64.StdEncoding.EncodeToString(sum.Sum(nil))
	}
	return strings.Join(parts, " ")
}

// contents returns the file as it is and as it will be.
func (k *knownHosts) contents() (before, after, header string) {
	raw, err := os.ReadFile(k.path)
	header = k.path
	switch {
	case os.IsNotExist(err):
		header = "/dev/null"
	case err != nil:
		//lint:ignore ST1005 the words that users see
		k.unread = fmt.Errorf("Failed to read %s: %s", k.path, oserr.Path(err, k.path))
	}
	before = universalNewlines(string(raw))
	lines := strings.SplitAfter(before, "\n")
	if (k.replace || !k.present) && k.line > 0 && k.line <= len(lines) {
		lines = append(lines[:k.line-1:k.line-1], lines[k.line:]...)
	}
	if k.present && (k.replace || k.line == 0) {
		lines = append(lines, k.key)
	}
	return before, strings.Join(lines, ""), header
}

// universalNewlines ends all lines as Python's open does for text.
func universalNewlines(text string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
}

// forget removes every key of the host.
func (k *knownHosts) forget() error {
	_, err := tool.Host{Ctx: k.ctx, Env: k.env}.Must("ssh-keygen", "-R", k.host, "-f", k.path)
	return err
}

func (k *knownHosts) write(content string) error {
	if k.unread != nil {
		return k.unread
	}
	f, err := os.CreateTemp(filepath.Dir(k.path), "tmp") // as Python does first, which says so in other words
	if err != nil {
		var at *os.PathError
		errors.As(err, &at)
		//lint:ignore ST1005 the words that users see
		return fmt.Errorf("Failed to write to file %s: %s", k.path, oserr.Path(err, at.Path))
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	return fsx.WriteFile(k.path, []byte(content), false)
}
