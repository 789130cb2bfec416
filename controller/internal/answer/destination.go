package answer

import (
	"path/filepath"
	"regexp"
	"strings"

	"hark/playbook/jinja/templar"
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
)

// mayWrite checks where a step of a host's fetches to. What the playbook says of dest must hold, but for its templates, whose values only the
// host knows: an agent that lies about them reaches what the rest of dest leaves open, and no more. under makes a path of
// the playbook absolute.
func mayWrite(step *plan.Step, under func(string) string, host, dest string) bool {
	v, ok := step.Args.Get("dest")
	if !ok {
		return step.ArgsExpr != "" || len(step.Defaults) > 0
	}
	text, _ := value.Text(v)
	if !templar.IsTemplate(v) {
		rel, err := filepath.Rel(under(text), dest)
		return err == nil && filepath.IsLocal(rel)
	}
	if !destPattern(under, text).MatchString(dest) {
		return false
	}
	if acts(step, "synchronize") {
		return true // dest is what the playbook says, and not the beginning of it
	}
	flat, given := step.Args.Get("flat")
	if given && (templar.IsTemplate(flat) || truth(flat)) {
		return true
	}
	return strings.Contains(dest, "/"+host+"/") // files that are not flat lie below their host's name
}

// inTemplate matches the parts of a text that are templates.
var inTemplate = regexp.MustCompile(`(?s)\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}`)

// destPattern matches the paths that a text with templates can come to: what stands between them must be there.
func destPattern(under func(string) string, text string) *regexp.Regexp {
	parts := inTemplate.Split(text, -1)
	var b strings.Builder
	b.WriteString("^")
	for i, part := range parts {
		if i > 0 {
			b.WriteString(".*")
		}
		if i == 0 && part != "" {
			slash := strings.HasSuffix(part, "/") && len(parts) > 1
			if part = under(part); slash && part != "/" {
				part += "/"
			}
		}
		// A path is compared as it is written shortest: what a step up takes away cannot be seen.
		if at := strings.LastIndex(part, "/../"); i > 0 && at >= 0 {
			part = part[at+3:]
		}
		if i == len(parts)-1 {
			part = strings.TrimRight(part, "/")
		}
		b.WriteString(regexp.QuoteMeta(strings.ReplaceAll(part, "//", "/")))
	}
	b.WriteString("(/.*)?$")
	return regexp.MustCompile(b.String())
}
