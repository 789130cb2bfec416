package facts

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/py/value"
)

// local reads the host's own facts: *.fact files that are JSON or INI, or programs that print it.
func local(p *probe) {
	out := map[string]any{}
	p.set("local", out)
	if p.factPath == "" || !fsx.Exists(p.factPath) {
		return
	}
	files, _ := filepath.Glob(filepath.Join(p.factPath, "*.fact"))
	sort.Strings(files)
	for _, file := range files {
		name := strings.ReplaceAll(filepath.Base(file), ".fact", "")
		v, problem := localFact(p, file)
		if problem != "" {
			p.warn(problem)
			v = problem
		}
		out[name] = v
	}
}

func localFact(p *probe, file string) (v any, problem string) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Sprintf("Could not stat fact (%s): %s", file, err)
	}
	text := content(file)
	if info.Mode()&0o100 != 0 {
		out, err := p.env.Exec(p.ctx, modules.Command{Argv: []string{file}, Timeout: p.limit})
		if err != nil {
			return nil, fmt.Sprintf("Could not execute fact script (%s): %s", file, err)
		}
		if out.Rc != 0 || out.TimedOut {
			return nil, fmt.Sprintf("Failure executing fact script (%s), rc: %d, err: %s", file, out.Rc, out.Stderr)
		}
		text = string(out.Stdout)
	}
	if !utf8.ValidString(text) {
		if info.Mode()&0o100 == 0 { // Ansible's get_file_content gives nothing then
			return map[string]any{}, ""
		}
		return nil, fmt.Sprintf("error loading fact - output of running %q was not utf-8", file)
	}
	if v, err := value.ParseJSON(text, value.KindUnsafe); err == nil {
		return v, ""
	}
	v, ok, err := iniFact(text)
	switch {
	case err != nil:
		return nil, fmt.Sprintf("error loading facts as ini - please check content: %s (%v)", file, err)
	case !ok:
		return nil, "error loading facts as JSON or ini - please check content: " + file
	}
	return v, ""
}

var (
	iniSection = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[([^\]]+)\]`) })
	iniName    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\(([^)]+)\)s`) })
	iniOption  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([^:=\s][^:=]*?)\s*[:=]\s*(.*)$`) })
)

// iniFact reads sections of options, as Python's configparser: names in lower case, the options of DEFAULT in every
// section, lines that are indented belong to the value before, %(name)s is another option and %% a %. It is false for
// what is no such text; the error is of a % that stands for nothing.
func iniFact(text string) (map[string]any, bool, error) {
	sections := map[string]map[string]any{}
	var order []string
	var section, option string
	for _, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
		case line[0] == ' ' || line[0] == '\t':
			if option == "" {
				return nil, false, nil
			}
			sections[section][option] = sections[section][option].(string) + "\n" + trimmed
		case iniSection().MatchString(trimmed):
			section, option = iniSection().FindStringSubmatch(trimmed)[1], ""
			if sections[section] == nil {
				sections[section] = map[string]any{}
				order = append(order, section)
			}
		default:
			m := iniOption().FindStringSubmatch(trimmed)
			if m == nil || section == "" {
				return nil, false, nil
			}
			option = strings.ToLower(m[1])
			sections[section][option] = m[2]
		}
	}
	out := map[string]any{}
	for _, name := range order {
		if name == "DEFAULT" {
			continue
		}
		for key, val := range sections["DEFAULT"] {
			if _, ok := sections[name][key]; !ok {
				sections[name][key] = val
			}
		}
		full := make(map[string]any, len(sections[name]))
		for _, key := range slices.Sorted(maps.Keys(sections[name])) {
			text, err := iniValue(sections[name], key, 0)
			if err != nil {
				return nil, true, err
			}
			full[key] = text
		}
		out[name] = full
	}
	return out, true, nil
}

// mostNested is how deep options may stand in each other, as in configparser.
const mostNested = 10

// iniValue returns an option with those in it that it names.
func iniValue(options map[string]any, key string, depth int) (string, error) {
	rest := options[key].(string)
	if depth > mostNested {
		return "", fmt.Errorf("Recursion limit exceeded in value substitution: option '%s' contains an interpolation key "+
			"which cannot be substituted in %d steps. Raw value: '%s'", //lint:ignore ST1005 the words that users see
			key, mostNested, rest)
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(rest, "%")
		out.WriteString(before)
		switch name := iniName().FindStringSubmatch(after); {
		case !found:
			return out.String(), nil
		case strings.HasPrefix(after, "%"):
			out.WriteByte('%')
			rest = after[1:]
		case name == nil:
			return "", fmt.Errorf("'%%' must be followed by '%%' or '(', found: '%%%s'", after)
		case options[strings.ToLower(name[1])] == nil:
			return "", fmt.Errorf("Bad value substitution: option '%s' contains an interpolation key '%s' which is not a "+
				"valid option name. Raw value: '%s'", //lint:ignore ST1005 the words that users see
				key, strings.ToLower(name[1]), options[key])
		default:
			text, err := iniValue(options, strings.ToLower(name[1]), depth+1)
			if err != nil {
				return "", err
			}
			out.WriteString(text)
			rest = after[len(name[0]):]
		}
	}
}

// facter and ohai ask other tools for their facts, where they are installed.
func facter(p *probe) {
	if out, ok := p.run("facter", "--puppet", "--json"); ok {
		foreign(p, "facter_", out)
	}
}

func ohai(p *probe) {
	if out, ok := p.run("ohai"); ok {
		foreign(p, "ohai_", out)
	}
}

func foreign(p *probe, prefix, text string) {
	found, err := value.ParseJSON(text, value.KindUnsafe)
	if err != nil {
		return
	}
	facts, _ := found.(*value.Dict)
	facts.Each(func(k, v value.Value) bool { p.set(prefix+modules.Str(k), v); return true })
}
