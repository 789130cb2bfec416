package galaxy

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"hark/modules/py/value"
	"hark/modules/treesync"
)

// byDirectives chooses files by the key manifest of galaxy.yml: lines as in Python's MANIFEST.in.
func (out *manifest) byDirectives(dir string, m *Meta, v value.Value) error {
	lines, err := directivesOf(m, v)
	if err != nil {
		return err
	}
	all, err := everything(dir)
	if err != nil {
		return err
	}
	chosen := map[string]bool{}
	for _, line := range lines {
		if err := direct(line, all, chosen); err != nil {
			return failf("Invalid manifest directive: %v", err)
		}
	}
	dirs := map[string]bool{}
	for name := range chosen {
		for at := filepath.Dir(name); at != "."; at = filepath.Dir(at) {
			dirs[at] = true
		}
	}
	for at := range dirs {
		out.entries = append(out.entries, entry{name: at, dir: true})
	}
	for name := range chosen {
		sum, err := treesync.Sum(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		out.entries = append(out.entries, entry{name: name, sum: sum})
	}
	sort.Slice(out.entries, func(i, j int) bool { return out.entries[i].name < out.entries[j].name })
	return nil
}

func directivesOf(m *Meta, v value.Value) ([]string, error) {
	d, _ := v.(*value.Dict)
	if d == nil {
		d = value.NewDict()
	}
	for _, k := range d.Keys() {
		if key := text(k); key != "directives" && key != "omit_default_directives" {
			return nil, failf(`Invalid "manifest" provided: ManifestControl.__init__() got an unexpected keyword argument '%s'`,
				key)
		}
	}
	own, omit := value.Under(d, "directives"), value.Under(d, "omit_default_directives")
	if own != nil && !value.IsNone(own) && !isList(own) {
		return nil, failf(`"manifest.directives" must be a list, got: %s`, value.NativeType(own))
	}
	if _, isBool := omit.(value.Bool); omit != nil && !value.IsNone(omit) && !isBool {
		return nil, failf(`"manifest.omit_default_directives" is expected to be a boolean, got: %s`, value.NativeType(omit))
	}
	var mine []string
	for _, line := range items(own) {
		mine = append(mine, text(line))
	}
	if value.IsTrue(omit) {
		if len(mine) == 0 {
			return nil, failed(`"manifest.omit_default_directives" was set to True, but no directives were defined in ` +
				`"manifest.directives". ` +
				`This would produce an empty collection artifact.`)
		}
		return mine, nil
	}
	lines := []string{"include meta/*.yml", "include *.txt *.md *.rst COPYING LICENSE", "recursive-include tests **",
		"recursive-include docs **.rst **.yml **.yaml **.json **.j2 **.txt",
		"recursive-include roles **.yml **.yaml **.json **.j2",
		"recursive-include playbooks **.yml **.yaml **.json", "recursive-include changelogs **.yml **.yaml",
		"recursive-include plugins */**.py"}
	for _, kind := range strings.Fields("become cache callback cliconf connection httpapi inventory lookup netconf " +
		"shell vars strategy test filter") {
		lines = append(lines, "recursive-include plugins/"+kind+" **.yml **.yaml")
	}
	lines = append(lines, "recursive-include plugins/modules **.ps1 **.yml **.yaml",
		"recursive-include plugins/module_utils **.ps1 **.psm1 **.cs")
	lines = append(lines, mine...)
	return append(lines, "exclude galaxy.yml galaxy.yaml MANIFEST.json FILES.json "+m.name.namespace+"-"+m.name.name+
		"-*.tar.gz",
		"recursive-exclude tests/output **", "global-exclude /.* /__pycache__"), nil
}

// everything returns the files under a directory, by their names in it.
func everything(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		out = append(out, rel)
		return err
	})
	return out, err
}

// direct carries one line out.
func direct(line string, all []string, chosen map[string]bool) error {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	action, words := words[0], words[1:]
	base := ""
	if strings.HasPrefix(action, "recursive-") || action == "graft" || action == "prune" {
		if len(words) == 0 {
			return failf("'%s' expects a directory", action)
		}
		base, words = words[0], words[1:]
	}
	add := false
	switch action {
	case "include", "global-include", "recursive-include", "graft":
		add = true
	case "exclude", "global-exclude", "recursive-exclude", "prune":
	default:
		return failf("unknown action '%s'", action)
	}
	if action == "graft" || action == "prune" {
		words = []string{"**"}
	} else if len(words) == 0 {
		return failf("'%s' expects <pattern1> <pattern2> ...", action)
	}
	for _, word := range words {
		re, err := patternOf(word, base, strings.HasPrefix(action, "global-"))
		if err != nil {
			return err
		}
		for _, name := range all {
			if !re.MatchString(name) {
				continue
			}
			if add {
				chosen[name] = true
			} else {
				delete(chosen, name)
			}
		}
	}
	return nil
}

// patternOf returns a pattern as distlib reads it: * and ? stop at no slash of a pattern below a directory, ** never.
func patternOf(word, base string, anywhere bool) (*regexp.Regexp, error) {
	var b strings.Builder
	rest := word
	for len(rest) > 0 {
		switch {
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			rest = rest[2:]
			continue
		case rest[0] == '*':
			b.WriteString("[^/]*")
		case rest[0] == '?':
			b.WriteString("[^/]")
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
		rest = rest[1:]
	}
	switch {
	case anywhere && strings.HasPrefix(word, "/"):
		return regexp.Compile("(^|/)" + strings.TrimPrefix(b.String(), "/") + "(/|$)")
	case anywhere:
		return regexp.Compile("(^|/)" + b.String() + "$")
	case base != "":
		return regexp.Compile("^" + regexp.QuoteMeta(strings.Trim(base, "/")) + "/(.*/)?" + b.String() + "$")
	}
	return regexp.Compile("^" + b.String() + "$")
}

// ignoredBy reports whether one of the expressions matches the beginning of a name.
func ignoredBy(list []*regexp.Regexp, name string) bool {
	return slices.ContainsFunc(list, func(r *regexp.Regexp) bool { return r.MatchString(name) })
}
