package builtin

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/httpx"
	"hark/modules/py/value"
)

type deb822Args struct {
	AllowDowngrade  *bool       `arg:"allow_downgrade_to_insecure" doc:"Whether packages that were signed may come unsigned."`
	AllowInsecure   *bool       `arg:"allow_insecure" doc:"Whether the repository may be unsigned."`
	AllowWeak       *bool       `arg:"allow_weak" doc:"Whether weak signatures count."`
	Architectures   []string    `arg:"architectures" doc:"Architectures to fetch."`
	ByHash          *bool       `arg:"by_hash" doc:"Whether lists are fetched by their hash."`
	CheckDate       *bool       `arg:"check_date" doc:"Whether the host's clock can be relied on."`
	CheckValidUntil *bool       `arg:"check_valid_until" doc:"Whether outdated lists are refused."`
	Components      []string    `arg:"components" doc:"Components of the suites."`
	DateMaxFuture   *int        `arg:"date_max_future" doc:"Seconds that lists may be from the future."`
	Enabled         *bool       `arg:"enabled" doc:"Whether the repository is used."`
	Exclude         []string    `arg:"exclude,since=2.21" doc:"Packages not to take from it."`
	Include         []string    `arg:"include,since=2.21" doc:"The only packages to take from it."`
	InreleasePath   *string     `arg:"inrelease_path" doc:"Where its InRelease file lies."`
	Languages       []string    `arg:"languages" doc:"Languages of descriptions to fetch."`
	Name            string      `arg:"name,required" doc:"Name of the repository, from which those of the files are made."`
	PDiffs          *bool       `arg:"pdiffs" doc:"Whether lists are updated by their differences."`
	SignedBy        *string     `arg:"signed_by" doc:"The key: its address, a file, fingerprints, or the armored key itself."`
	Suites          []string    `arg:"suites" doc:"Suites, or a path that ends with a slash."`
	Targets         []string    `arg:"targets" doc:"What to fetch."`
	Trusted         *bool       `arg:"trusted" doc:"Whether it counts as signed, or not, whatever it is."`
	Types           []string    `arg:"types,default=deb,choices=deb|deb-src" doc:"Kinds of packages."`
	URIs            []string    `arg:"uris" doc:"Addresses of the repository."`
	Mode            value.Value `arg:"mode,default=0644" doc:"Permissions of the file."`
	State           string      `arg:"state,default=present,choices=absent|present" doc:"Whether it shall be there."`
	InstallDebian   bool        `arg:"install_python_debian,since=2.20,default=no" doc:"Of no meaning here: no Python is needed."`
}

// Deb822Repository is ansible.builtin.deb822_repository.
var Deb822Repository = modules.Define("ansible.builtin.deb822_repository",
	"Add and remove deb822 formatted repositories", runDeb822,
	modules.Is(modules.ReadsInCheck),
	modules.From(dialect.ModuleOptions221, func(s *modules.Spec) {
		s.Rules.Exclusive = [][]string{{"exclude", "include"}}
	}),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.builtin.deb822_repository:
    name: example
    uris: https://apt.example.org/debian
    suites: stable
    components: [main]
    signed_by: https://apt.example.org/key.asc
- ansible.builtin.deb822_repository: {name: example, state: absent}
`
		m.Returns = []modules.Return{
			{Name: "repo", Type: "str", When: "always", Doc: "The file's content, null if it shall not be there."},
			{Name: "dest", Type: "str", When: "always", Doc: "The file."},
			{Name: "key_filename", Type: "str", When: "always", Doc: "The key's file, null if there is none."},
		}
	}), modules.RunsPrograms)

// deb822 is one call of the module.
type deb822 struct {
	ctx     context.Context
	env     *modules.Env
	args    deb822Args
	slug    string
	changed bool
	// sources and keys are the directories of apt.
	sources, keys string
}

func runDeb822(ctx context.Context, env *modules.Env, a deb822Args) (modules.Result, error) {
	d := &deb822{ctx: ctx, env: env, args: a, sources: "/etc/apt/sources.list.d", keys: "/etc/apt/keyrings"}
	return d.bring()
}

func (d *deb822) bring() (modules.Result, error) {
	d.slug = slugOf(d.args.Name)
	if d.env.Release.Has(dialect.RepositoryNames) && !fsx.Exists(filepath.Join(d.sources, d.slug+".sources")) {
		d.slug = strings.ReplaceAll(d.args.Name, " ", "-") // files that are there keep the names of before
	}
	dest := filepath.Join(d.sources, d.slug+".sources")
	if d.args.State == "absent" {
		return d.remove(dest)
	}
	text, key, err := d.text()
	if err != nil {
		return modules.Result{}, err
	}
	if old, err := os.ReadFile(dest); err != nil || string(old) != text {
		d.changed = true
		if !d.env.Check {
			if err := fsx.WriteFile(dest, []byte(text), false); err != nil {
				return modules.Result{}, err
			}
		}
	}
	if err := d.permit(dest, d.args.Mode); err != nil {
		return modules.Result{}, err
	}
	return modules.Result{Changed: d.changed, Data: value.DictOf("repo", text, "dest", dest, "key_filename", key)}, nil
}

var (
	slugSpaces = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[_\s]+`) })
	slugOthers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9-]+`) })
)

// slugOf makes a file's name of a repository's.
func slugOf(name string) string {
	return slugOthers().ReplaceAllString(slugSpaces().ReplaceAllString(strings.ToLower(name), "-"), "")
}

func (d *deb822) remove(dest string) (modules.Result, error) {
	key := ""
	for i, path := range []string{dest, filepath.Join(d.keys, d.slug+".asc"), filepath.Join(d.keys, d.slug+".gpg")} {
		if i > 0 {
			key = path
		}
		if !fsx.Exists(path) {
			continue
		}
		d.changed = true
		if d.env.Check {
			continue
		}
		if err := os.Remove(path); err != nil {
			return modules.Result{}, fmt.Errorf("cannot remove %s: %w", path, err)
		}
	}
	return modules.Result{Changed: d.changed, Data: value.DictOf("repo", nil, "dest", dest, "key_filename", key)}, nil
}

// text returns the content of the file, its fields in the order of the arguments' names. key is the file of the key,
// nil for none.
func (d *deb822) text() (text string, key any, err error) {
	a := d.args
	var b strings.Builder
	field := func(name, value string) {
		if strings.Contains(value, "\n") {
			value = multiline(value)
		}
		if !strings.HasPrefix(value, "\n") && value != "" {
			value = " " + value
		}
		b.WriteString(name + ":" + value + "\n")
	}
	flag := func(name string, v *bool) {
		if v != nil {
			field(name, map[bool]string{true: "yes", false: "no"}[*v])
		}
	}
	list := func(name string, v []string) {
		if v != nil {
			field(name, strings.Join(v, " "))
		}
	}
	flag("Allow-Downgrade-To-Insecure", a.AllowDowngrade)
	flag("Allow-Insecure", a.AllowInsecure)
	flag("Allow-Weak", a.AllowWeak)
	list("Architectures", a.Architectures)
	flag("By-Hash", a.ByHash)
	flag("Check-Date", a.CheckDate)
	flag("Check-Valid-Until", a.CheckValidUntil)
	list("Components", a.Components)
	if a.DateMaxFuture != nil {
		field("Date-Max-Future", strconv.Itoa(*a.DateMaxFuture))
	}
	flag("Enabled", a.Enabled)
	list("Exclude", a.Exclude)
	list("Include", a.Include)
	if a.InreleasePath != nil {
		field("Inrelease-Path", *a.InreleasePath)
	}
	list("Languages", a.Languages)
	field("X-Repolib-Name", a.Name)
	flag("Pdiffs", a.PDiffs)
	if a.SignedBy != nil {
		value, file, err := d.signedBy(*a.SignedBy)
		if err != nil {
			return "", nil, err
		}
		if file {
			key = value
		}
		field("Signed-By", value)
	}
	list("Suites", a.Suites)
	list("Targets", a.Targets)
	flag("Trusted", a.Trusted)
	list("Types", a.Types)
	list("URIs", a.URIs)
	return b.String(), key, nil
}

// multiline writes a text of several lines as a field's value: each line indented, an empty one as a dot.
func multiline(v string) string {
	out := ""
	for _, line := range modules.Lines(strings.TrimSpace(v)) {
		text := strings.TrimSpace(line.(string))
		if text == "" {
			text = "."
		}
		out += "\n    " + text
	}
	return out
}

// signedBy returns the value of the field; file says that it is a file. A key that has an address is fetched into
// one.
func (d *deb822) signedBy(given string) (key string, file bool, err error) {
	if info, err := os.Stat(given); err == nil && info.Mode().IsRegular() {
		return given, true, nil
	}
	if u, err := url.Parse(given); err != nil || u.Scheme == "" {
		return given, false, nil
	}
	content, msg, err := httpx.Fetch(d.ctx, d.env, given, true)
	if err != nil {
		msg = err.Error()
	}
	if msg != "" {
		//lint:ignore ST1005 the words that users see
		return "", false, fmt.Errorf("Could not fetch signed_by key: %s", strings.TrimPrefix(msg, "Request failed: "))
	}
	if len(content) == 0 {
		return given, true, nil
	}
	path := filepath.Join(d.keys, d.slug+".gpg")
	if strings.Contains(string(content), "-----BEGIN PGP PUBLIC KEY BLOCK-----") {
		path = filepath.Join(d.keys, d.slug+".asc")
	}
	if old, err := os.ReadFile(path); err != nil || string(old) != string(content) {
		d.changed = true
		if !d.env.Check {
			if err := os.MkdirAll(d.keys, 0o755); err != nil {
				return "", false, fmt.Errorf("cannot make the directory of keys: %w", err)
			}
			if err := fsx.WriteFile(path, content, false); err != nil {
				return "", false, err
			}
		}
	}
	return path, true, d.permit(path, value.Str("0644"))
}

// permit sets the mode of a file.
func (d *deb822) permit(path string, mode value.Value) error {
	changed, err := fsx.Attrs{Path: path, Mode: mode}.Apply(d.env.Check, nil)
	d.changed = d.changed || changed
	return err
}
