// Package level chooses the language level of a run, and writes the page for people about what differs between
// levels. What differs is in modules/dialect.
package level

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hark/playbook/plan"
)

// Names returns the levels as users give them, oldest first.
func Names() []string {
	var names []string
	for _, l := range plan.Levels() {
		names = append(names, l.String())
	}
	return names
}

// Parse reads a level.
func Parse(text string) (plan.Level, error) {
	names := Names()
	if i := slices.Index(names, text); i >= 0 {
		return plan.Levels()[i], nil
	}
	last := len(names) - 1
	return plan.Level214, fmt.Errorf("there is no language level %q, only %s and %s", text,
		strings.Join(names[:last], ", "), names[last])
}

// OfCore returns the level of a release of ansible-core, such as 2.17.4: the newest that is not later. Of none, "",
// it is the newest of all.
func OfCore(version string) plan.Level {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	if major != "2" || err != nil {
		n = math.MaxInt
	}
	of := plan.Level214
	for _, l := range plan.Levels() {
		if _, since, _ := l.Core(); since <= n {
			of = l
		}
	}
	return of
}

var release = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^__version__ = ['"]([^'"]+)['"]`) })

// CoreIn returns the release of the ansible-core whose package lies in a directory, "" if none does. Nothing is run.
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
