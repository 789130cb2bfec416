package inventory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/search"
	"hark/playbook/syntax"
)

// plugin is a kind of source: whether it accepts a source, and how it reads one.
type plugin struct {
	name  string
	wants func(r *reading, path string) bool
	parse func(ctx context.Context, r *reading, path string) error
}

func plugins() []plugin {
	return []plugin{
		{"host_list", wantsHostList, parseHostList},
		{"advanced_host_list", wantsHostList, parseAdvancedHostList},
		{"script", wantsScript, parseScript},
		{"auto", wantsAuto, parseAuto},
		{"yaml", wantsYAML, parseYAML},
		{"ini", wantsINI, parseINI},
		{"toml", wantsTOML, parseTOML},
		{"constructed", wantsConfig, parseConstructed},
		{"generator", wantsConfig, parseGenerator},
		{"hark", wantsAgents, parseAgents},
	}
}

var defaultPlugins = []string{"host_list", "script", "auto", "yaml", "ini", "toml"}

// reading reads sources into a tree.
type reading struct {
	o       *Options
	notices *notices
	tree    *tree
	vars    *variables
	done    []string // the sources that were read
}

// all reads sources and reports whether any of them could be.
func (r *reading) all(ctx context.Context, sources []string) (parsed bool, err error) {
	for _, s := range sources {
		if s == "" {
			continue
		}
		ok, err := r.source(ctx, cleanSource(s))
		if err != nil {
			return false, err
		}
		parsed = parsed || ok
	}
	return parsed, nil
}

// templates renders for plug-ins.
func (r *reading) templates() templates { return templates{r.o.Templates} }

func (r *reading) enabled(ctx context.Context) []plugin {
	names := r.o.Plugins
	if names == nil {
		names = defaultPlugins
	}
	known := plugins()
	out := []plugin{{"hark", wantsAllAgents, parseAgents}} // its source is no file, so no other plug-in could accept it
	for _, name := range names {
		short := modules.ShortName(name)
		i := slices.IndexFunc(known, func(p plugin) bool { return p.name == short })
		if i < 0 && r.o.Foreign != nil && r.o.Foreign.Has(ctx, name) {
			out = append(out, foreignPlugin(name))
			continue
		}
		if i < 0 {
			r.notices.warn("Failed to load inventory plugin, skipping %s", name)
			continue
		}
		p := known[i]
		p.name = name
		out = append(out, p)
	}
	return out
}

// cleanSource makes a path absolute; lists of hosts stay as they are.
func cleanSource(s string) string {
	if strings.Contains(s, ",") || s == AgentsSource {
		return s
	}
	return search.Clean(s, "")
}

var defaultIgnored = []string{".pyc", ".pyo", ".swp", ".bak", "~", ".rpm", ".md", ".txt", ".rst", ".orig", ".ini",
	".cfg", ".retry"}

// ignored returns which entries of a directory are no sources.
func (r *reading) ignored() (func(name string) bool, error) {
	exts := r.o.IgnoreExtensions
	if exts == nil {
		exts = defaultIgnored
	}
	forms := []string{`^\.`, `^host_vars$`, `^group_vars$`, `^vars_plugins$`}
	forms = append(forms, r.o.IgnorePatterns...)
	for _, e := range exts {
		forms = append(forms, regexp.QuoteMeta(e)+"$")
	}
	re, err := regexp.Compile(strings.Join(forms, "|"))
	if err != nil {
		return nil, failf("cannot use the patterns of ignored inventory files: %s", err)
	}
	return re.MatchString, nil
}

// source reads one source; false means that no plug-in could read it, and that it has warned.
func (r *reading) source(ctx context.Context, path string) (bool, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return r.dir(ctx, path)
	}
	r.tree.source = &source{file: path, dir: sourceDir(path)}
	failures, ok, err := r.tryPlugins(ctx, path)
	if err != nil {
		return false, err
	}
	if ok {
		r.done = append(r.done, path)
		return true, nil
	}
	r.tree.source = nil // hosts that are added later come from nowhere
	if _, err := os.Stat(path); path == "/etc/ansible/hosts" && err != nil {
		return false, nil
	}
	for _, text := range failures {
		r.notices.warn("%s", text)
	}
	if r.o.FailAnyUnparsed {
		return false, failf("Completely failed to parse inventory source %s", path)
	}
	r.notices.warn(dialect.InventoryNotParsed.Format, path)
	return false, nil
}

func (r *reading) dir(ctx context.Context, path string) (bool, error) {
	ignored, err := r.ignored()
	if err != nil {
		return false, err
	}
	entries, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return false, failf("cannot read the inventory directory %s: %s", path, err)
	}
	parsed := false
	for _, e := range entries {
		if ignored(e.Name()) {
			continue
		}
		ok, err := r.source(ctx, filepath.Join(path, e.Name()))
		if err != nil {
			return false, err
		}
		parsed = parsed || ok
	}
	if parsed {
		return true, nil
	}
	if r.o.FailAnyUnparsed {
		return false, failf("Completely failed to parse inventory source %s", path)
	}
	r.notices.warn(dialect.InventoryNotParsed.Format, path)
	return false, nil
}

// sourceDir returns inventory_dir of a source.
func sourceDir(path string) string {
	if strings.Contains(path, ",") {
		if _, err := os.Stat(path); err != nil {
			return ""
		}
	}
	return filepath.Dir(path)
}

// tryPlugins tries each plug-in that accepts the source. What a failing plug-in added stays, as in Ansible.
func (r *reading) tryPlugins(ctx context.Context, path string) (failures []string, ok bool, err error) {
	list := r.enabled(ctx)
	if len(list) == 1 {
		return nil, false,
			failf("No inventory plugins available to generate inventory, make sure you have at least one enabled.")
	}
	for _, p := range list {
		err := ErrDeclined
		if p.wants(r, path) {
			err = p.parse(ctx, r, path)
		}
		switch {
		case ctx.Err() != nil:
			return nil, false, ctx.Err()
		case errors.Is(err, ErrDeclined) && p.name == "hark": // Ansible's output does not have it
		case errors.Is(err, ErrDeclined):
			r.notices.verbose(3, "%s declined parsing %s as it did not pass its verify_file() method", p.name, path)
		case err == nil:
			r.notices.verbose(3, "Parsed %s inventory source with %s plugin", path, p.name)
			return nil, true, nil
		default:
			failures = append(failures, r.failure(p.name, path, firstText(err)))
		}
	}
	return failures, false, nil
}

// failure returns the warning about a plug-in that cannot parse a source.
func (r *reading) failure(plugin, path, text string) string {
	if !r.o.Templates.Has(dialect.PlaybookWords) {
		return "\n* Failed to parse " + path + " with " + plugin + " plugin: " + text
	}
	origin := "<inventory plugin '" + plugin + "' with source '" + path + "'>"
	if plugin == "ini" {
		text, origin = "Failed to parse inventory: "+unplaced(text, path), path
	}
	text = strings.NewReplacer("ansible.parsing.yaml.objects.AnsibleSequence", taggedClass+"List",
		"ansible.parsing.yaml.objects.AnsibleMapping", taggedClass+"Dict",
		"ansible.parsing.yaml.objects.AnsibleUnicode", taggedClass+"Str").Replace(text)
	said := "Failed to parse inventory with '" + plugin + "' plugin"
	return said + ": " + text + "\n\n" + said + ".\n\n<<< caused by >>>\n\n" + text + "\nOrigin: " + origin + "\n"
}

// taggedClass is how the classes of values of files begin since dialect.PlaybookWords.
const taggedClass = "ansible.module_utils._internal._datatag._AnsibleTagged"

// unplaced returns a text without the file and line before it.
func unplaced(text, path string) string {
	rest, placed := strings.CutPrefix(text, path+":")
	line, what, ok := strings.Cut(rest, ": ")
	if _, err := strconv.Atoi(line); placed && ok && err == nil {
		return what
	}
	return text
}

// firstText returns the error's text; of several errors only the first.
func firstText(err error) string { return syntax.List(err)[0].Error() }

// wantsFile is verify_file of ansible/plugins/inventory/__init__.py, which says why it declines. Other plug-ins ask it
// before or after they look at the name, as Ansible's do: -vvv shows it.
func wantsFile(r *reading, path string) bool {
	f, err := os.Open(path)
	if err != nil {
		r.notices.verbose(3, "Skipping due to inventory source not existing or not being readable by the current user")
		return false
	}
	return f.Close() == nil
}

func wantsConfig(r *reading, path string) bool {
	ext := filepath.Ext(path)
	return wantsFile(r, path) && (ext == ".config" || slices.Contains(extensions(r.o.VarsExtensions), ext))
}

func wantsYAML(r *reading, path string) bool {
	return wantsFile(r, path) && slices.Contains(extensions(r.o.YAMLExtensions), filepath.Ext(path))
}

func wantsINI(r *reading, path string) bool {
	return wantsFile(r, path) && !(filepath.Ext(path) == ".toml" && r.o.Templates.Has(dialect.TOMLInventories))
}

func wantsAuto(r *reading, path string) bool {
	return (strings.HasSuffix(path, ".yml") || strings.HasSuffix(path, ".yaml")) && wantsFile(r, path)
}

// parseAuto reads a file that names its plug-in.
func parseAuto(ctx context.Context, r *reading, path string) error {
	v, err := r.o.Loader.Value(path)
	if err != nil {
		return err
	}
	name := ""
	if d, ok := v.(*value.Dict); ok {
		given, _ := d.Get("plugin")
		name, _ = value.Text(value.OrNone(given))
	}
	if name == "" {
		return failf("no root 'plugin' key found, '%s' is not a valid YAML inventory plugin config file", path)
	}
	short := modules.ShortName(name)
	known := plugins()
	i := slices.IndexFunc(known, func(p plugin) bool { return p.name == short })
	err = ErrNoPlugin
	switch {
	case i >= 0 && !known[i].wants(r, path):
		err = ErrDeclined
	case i >= 0:
		r.notices.verbose(1, "Using inventory plugin '%s' to process inventory source '%s'", name, path)
		return known[i].parse(ctx, r, path)
	case r.o.Foreign != nil:
		err = foreignPlugin(name).parse(ctx, r, path)
	}
	switch {
	case errors.Is(err, ErrNoPlugin):
		return failf("inventory config '%s' specifies unknown plugin '%s'", path, name)
	case errors.Is(err, ErrDeclined):
		return failf("inventory source '%s' could not be verified by inventory plugin '%s'", path, name)
	}
	r.notices.verbose(1, "Using inventory plugin '%s' to process inventory source '%s'", moduleName(name), path)
	return err
}

// moduleName returns Python's name for the plug-in of a collection.
func moduleName(name string) string {
	parts := strings.SplitN(name, ".", 3)
	if len(parts) < 3 {
		return name
	}
	return "ansible_collections." + parts[0] + "." + parts[1] + ".plugins.inventory." + parts[2]
}

func wantsHostList(_ *reading, text string) bool {
	_, err := os.Stat(text)
	return strings.Contains(text, ",") && errors.Is(err, os.ErrNotExist)
}

func parseHostList(_ context.Context, r *reading, text string) error {
	return r.hostsOfList(text, func(h string) ([]string, int, error) {
		name, port, err := parseAddress(h, false)
		return []string{name}, port, err
	})
}

func parseAdvancedHostList(_ context.Context, r *reading, text string) error {
	return r.hostsOfList(text, expandHosts)
}

func (r *reading) hostsOfList(text string, names func(string) ([]string, int, error)) error {
	for _, h := range strings.Split(text, ",") {
		if h = strings.TrimSpace(h); h == "" {
			continue
		}
		list, port, err := names(h)
		var broken valueError
		if errors.As(err, &broken) {
			return failf("Invalid data from string, could not parse: %s", err)
		}
		if err != nil {
			r.notices.verbose(3, "Unable to parse address from hostname, leaving unchanged: %s", err)
			list, port = []string{h}, 0
		}
		for _, name := range list {
			if r.tree.hosts[name] != nil {
				continue
			}
			if _, err := r.tree.addHost(name, r.tree.groups["ungrouped"], port); err != nil {
				return failf("Invalid data from string, could not parse: %s", err)
			}
		}
	}
	return nil
}
