package builtin

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// requirement is one thing to install: a package with version specifiers, or an address, which has no name.
type requirement struct {
	text  string
	name  string // normalized (PEP 503)
	specs []specifier
}

type specifier struct{ op, version string }

var (
	requirementPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*(?:\(([^)]*)\)|([^;@]*))\s*(;.*)?$`)
	})
	specifierPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*(===|~=|==|!=|<=|>=|<|>)\s*([^\s,]+)\s*$`)
	})
	separators        = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[-_.]+`) })
	repositoryPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(svn|git|hg|bzr)\+`) })
)

// fromRepository reports whether a name is an address of version control.
func fromRepository(name string) bool { return repositoryPattern().MatchString(name) }

// joinNames makes whole names of what Ansible's splitting at commas broke: "a>1", "<2" is one, and so is "a[x", "y]".
func joinNames(given []string) []string {
	var names, parts []string
	brackets := false
	for _, part := range strings.Split(strings.Join(given, ","), ",") {
		isName := !strings.ContainsAny(firstByte(strings.TrimSpace(part)), "<>=!~")
		if isName && !brackets && len(parts) > 0 {
			names = append(names, strings.Join(parts, ","))
			parts = nil
		}
		if strings.Contains(part, "[") {
			brackets = true
		}
		if strings.Contains(part, "]") {
			brackets = false
		}
		parts = append(parts, part)
	}
	if joined := strings.Join(parts, ","); len(given) > 0 {
		names = append(names, joined)
	}
	return names
}

func firstByte(s string) string {
	if s == "" {
		return ""
	}
	return s[:1]
}

// parseRequirement reads a requirement (PEP 508). Its text is as setuptools prints it: without spaces, the specifiers
// sorted.
func parseRequirement(given string) requirement {
	m := requirementPattern().FindStringSubmatch(given)
	if m == nil {
		return requirement{text: given}
	}
	r := requirement{name: strings.ToLower(separators().ReplaceAllString(m[1], "-"))}
	if versions := strings.TrimSpace(m[3] + m[4]); versions != "" {
		for _, one := range strings.Split(versions, ",") {
			s := specifierPattern().FindStringSubmatch(one)
			if s == nil {
				return requirement{text: given}
			}
			r.specs = append(r.specs, specifier{s[1], s[2]})
		}
	}
	var written []string
	for _, s := range r.specs {
		written = append(written, s.op+s.version)
	}
	slices.Sort(written)
	r.text = m[1] + extras(m[2]) + strings.Join(written, ",")
	if marker := strings.TrimSpace(strings.TrimPrefix(m[5], ";")); marker != "" {
		r.text += "; " + marker
	}
	return r
}

func extras(brackets string) string {
	if brackets == "" {
		return ""
	}
	list := strings.Split(strings.Trim(brackets, "[]"), ",")
	for i, x := range list {
		list[i] = strings.TrimSpace(x)
	}
	slices.Sort(list)
	return "[" + strings.Join(list, ",") + "]"
}

// installedVersions reads pip's list: name==version on each line.
func installedVersions(freeze string) map[string]string {
	all := map[string]string{}
	for _, line := range strings.Split(freeze, "\n") {
		if name, version, ok := strings.Cut(line, "=="); ok {
			all[strings.ToLower(separators().ReplaceAllString(name, "-"))] = version
		}
	}
	return all
}

// satisfied reports whether the requirement is among the installed versions.
func (r requirement) satisfied(installed map[string]string) bool {
	version, there := installed[r.name]
	if !there || r.name == "" {
		return false
	}
	for _, s := range r.specs {
		if !s.allows(version) {
			return false
		}
	}
	return true
}
