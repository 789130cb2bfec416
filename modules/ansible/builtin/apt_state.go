package builtin

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// spec is a package as the user names it.
type spec struct {
	text    string // as written
	name    string
	compare string // "", = or >=
	version string
}

var comparison = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`>?=`) })

func parseSpec(text string) spec {
	at := comparison().FindStringIndex(text)
	if at == nil {
		return spec{text: text, name: text}
	}
	return spec{text: text, name: text[:at[0]], compare: text[at[0]:at[1]], version: text[at[1]:]}
}

// expand replaces wildcards in names by the packages that match; missing is the first that matches nothing.
func (a *apt) expand(specs []spec) (out []spec, missing string, err error) {
	var known []string
	for _, s := range specs {
		if !strings.ContainsAny(s.name, "*?[]!") {
			out = append(out, s)
			continue
		}
		if known == nil {
			names, err := a.ask("apt-cache", "pkgnames")
			if err != nil {
				return nil, "", err
			}
			known = strings.Fields(string(names.Stdout))
		}
		before := len(out)
		for _, name := range known {
			if ok, err := path.Match(s.name, name); ok && err == nil {
				out = append(out, spec{text: name, name: name})
			}
		}
		if len(out) == before {
			return nil, s.name, nil
		}
	}
	return out, "", nil
}

// status is what the host and its sources say of a package.
type status struct {
	known     bool // to apt
	virtual   bool // only provided by others
	installed string
	files     bool     // on the disk, if only its configuration
	candidate string   // "" if there is none
	versions  []string // that can be installed, the best first
}

// look asks dpkg about packages and, if their versions matter, apt-cache: of all at once, since apt builds its cache
// anew for each call where none is kept, as in containers.
func (a *apt) look(specs ...spec) (map[string]status, error) {
	found, err := a.disk(specs...)
	if err != nil {
		return nil, err
	}
	argv := []string{"apt-cache"}
	if a.args.Release != nil {
		argv = append(argv, "-t", *a.args.Release)
	}
	argv = append(argv, "policy")
	fixed := len(argv)
	for _, p := range specs {
		if found[p.name].installed == "" || p.compare != "" || a.args.State == "latest" {
			argv = append(argv, p.name)
		}
	}
	if len(argv) == fixed {
		return found, nil
	}
	out, err := a.ask(argv...)
	if err != nil {
		return nil, err
	}
	offers := readPolicies(string(out.Stdout))
	for _, name := range argv[fixed:] {
		text, ok := offers[name]
		if !ok {
			base, _, _ := strings.Cut(name, ":") // apt leaves the architecture away if it is the host's
			text = offers[base]
		}
		s := found[name]
		s.readPolicy(text)
		found[name] = s
	}
	return found, nil
}

// disk asks dpkg only. The packages are by their names as they are in the specs.
func (a *apt) disk(specs ...spec) (map[string]status, error) {
	found := map[string]status{}
	if len(specs) == 0 {
		return found, nil
	}
	argv := []string{"dpkg-query", "--show", "--showformat",
		`${Package}\t${Architecture}\t${db:Status-Status}\t${Version}\n`}
	for _, p := range specs {
		argv = append(argv, p.name)
	}
	out, err := a.ask(argv...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out.Stdout)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 4 || f[2] == "not-installed" {
			continue
		}
		for _, name := range []string{f[0], f[0] + ":" + f[1]} {
			s := found[name]
			s.known, s.files = true, true
			if f[2] == "installed" {
				s.installed = f[3]
			}
			found[name] = s
		}
	}
	return found, nil
}

// readPolicies splits what `apt-cache policy` prints by names. It takes a name that it does not know for a regular
// expression and names all that match.
func readPolicies(text string) map[string]string {
	byName, name := map[string]string{}, ""
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, " ") {
			name = strings.TrimSuffix(line, ":\n")
			continue
		}
		byName[name] += line
	}
	return byName
}

var tableRow = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ (?:\*\*\*|   ) (\S+) -?\d+`) })

// readPolicy reads what `apt-cache policy` prints below the name of a package.
func (s *status) readPolicy(text string) {
	for _, line := range strings.Split(text, "\n") {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "Candidate: "); ok {
			s.known = true
			if version != "(none)" {
				s.candidate = version
			}
		}
		if m := tableRow().FindStringSubmatch(line); m != nil {
			s.versions = append(s.versions, m[1])
		}
	}
	if s.known && s.candidate == "" && len(s.versions) == 0 {
		s.virtual = true
	}
}

// providers returns the packages that provide a virtual one.
func (a *apt) providers(name string) ([]string, error) {
	out, err := a.ask("apt-cache", "showpkg", name)
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut("\n"+string(out.Stdout), "\nPackage: "+name+"\n")
	rest, _, _ = strings.Cut(rest, "\nPackage: ") // of another one: see readPolicies
	_, rest, _ = strings.Cut(rest, "Reverse Provides: \n")
	var names []string
	for _, line := range strings.Split(rest, "\n") {
		if f := strings.Fields(line); len(f) > 0 && !slices.Contains(names, f[0]) {
			names = append(names, f[0])
		}
	}
	return names, nil
}

// verdict is what a spec means on this host: whether the package is installed, whether in a version that fits, and
// which version could be installed ("" none, anyVersion for virtual packages).
type verdict struct {
	installed, fits bool
	installable     string
}

const anyVersion = "*"

func (a *apt) judge(p spec, s status) (verdict, error) {
	best := s.candidate
	if p.compare == "=" {
		best = firstMatch(s.versions, p.version)
	}
	v := verdict{installed: s.installed != ""}
	if !v.installed {
		v.installable = best
		return v, nil
	}
	fits := func(version string) (bool, error) { return true, nil }
	switch p.compare {
	case "=":
		fits = func(version string) (bool, error) { return matches(version, p.version), nil }
	case ">=":
		fits = func(version string) (bool, error) {
			out, err := a.ask("dpkg", "--compare-versions", version, "ge", p.version)
			return out.Rc == 0, err
		}
	}
	var err error
	if v.fits, err = fits(s.installed); err != nil || best == "" || best == s.installed {
		return v, err
	}
	ok, err := fits(best)
	if ok {
		v.installable = best
	}
	return v, err
}

func matches(version, pattern string) bool {
	// Only * and ? and [...] are special: no version holds a slash, so path.Match matches as fnmatch does.
	ok, err := path.Match(pattern, version)
	return ok && err == nil
}

func firstMatch(versions []string, pattern string) string {
	for _, v := range versions {
		if matches(v, pattern) {
			return v
		}
	}
	return ""
}
