// Package level knows the language levels: how one is chosen, and what differs between them. It decides nothing in the language: where
// something differs, the package asks the plan's level, and the table here tells people.
package level

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/playbook/plan"
)

// Names are the levels as users give them, oldest first.
func Names() []string { return []string{plan.Level214.String(), plan.Level219.String()} }

// Parse reads a level.
func Parse(text string) (plan.Level, error) {
	for _, l := range []plan.Level{plan.Level214, plan.Level219} {
		if l.String() == text {
			return l, nil
		}
	}
	return plan.Level214, fmt.Errorf("there is no language level %q, only %s", text, strings.Join(Names(), " and "))
}

// OfCore is the level of a release of ansible-core, such as 2.17.4; of none, "", it is the newest.
func OfCore(version string) plan.Level {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	if major == "2" && err == nil && n < 19 {
		return plan.Level214
	}
	return plan.Level219
}

var release = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^__version__ = ['"]([^'"]+)['"]`) })

// CoreIn is the release of the ansible-core whose package lies in a directory, "" if none does. Nothing is run.
func CoreIn(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "release.py"))
	if err != nil {
		return ""
	}
	found := release().FindSubmatch(text)
	if found == nil {
		return ""
	}
	return string(found[1])
}
