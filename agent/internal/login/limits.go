// Package login knows what a login gives the processes of a user beside what the user database says: the resource
// limits of pam_limits. It starts no login, and writes nothing.
package login

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/nss"
)

// PAM is the directory of pam_limits.
const PAM = "/etc/security"

// Limits returns what pam_limits sets for a user. It reads the files at each call: they are small, and what one task
// changes counts for the next. Hosts without these files have no such limits.
func Limits(dir string, u *nss.User) ([]modules.Limit, error) {
	w := wanted{user: u, found: map[int]*ranked{}}
	drops, err := filepath.Glob(filepath.Join(dir, "limits.d", "*.conf"))
	if err != nil {
		return nil, err
	}
	slices.Sort(drops)
	for _, file := range append([]string{filepath.Join(dir, "limits.conf")}, drops...) {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // pam_limits goes on, too
		}
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(line, "#")
			none, err := w.line(strings.Fields(line))
			if err != nil {
				return nil, fmt.Errorf("cannot find the limits of %s: %w", u.Name, err)
			}
			if none {
				return nil, nil
			}
		}
	}
	return w.limits(), nil
}

// OfService returns the limits of the agent's own processes: those of a login if the agent is a service of root, else
// none beside what it has.
func OfService() ([]modules.Limit, error) {
	if os.Geteuid() != 0 || os.Getenv("INVOCATION_ID") == "" {
		return nil, nil
	}
	u, err := nss.Current()
	if err != nil {
		return nil, nil // a user of no database has no login
	}
	return Limits(PAM, u)
}

// rank orders the domains of lines: a line that names the user holds against one for all, wherever it stands.
type rank int

const (
	named rank = iota + 1
	grouped
	everybody
	nobody
)

// ranked is a limit with the ranks of the lines that set its sides.
type ranked struct {
	modules.Limit
	soft, hard rank
}

// wanted gathers the limits of a user.
type wanted struct {
	user   *nss.User
	groups []int
	found  map[int]*ranked
}

// line takes a line: domain, type, item and value. none reports that the user shall have no limits.
func (w *wanted) line(words []string) (none bool, err error) {
	if len(words) != 4 && (len(words) != 2 || words[1] != "-") {
		return false, nil
	}
	r, err := w.rank(words[0])
	switch {
	case err != nil || r == nobody:
		return false, err
	case len(words) == 2:
		return r != everybody, nil
	}
	res, ok := resources()[strings.ToLower(words[2])]
	if !ok {
		return false, nil // maxlogins, priority and others are no limits of a process
	}
	val, ok := res.value(strings.ToLower(words[3]))
	if !ok {
		return false, nil
	}
	l := w.found[res.number]
	if l == nil {
		l = &ranked{modules.Limit{Resource: res.number, Soft: modules.InheritedLimit, Hard: modules.InheritedLimit}, nobody,
			nobody}
		w.found[res.number] = l
	}
	kind := strings.ToLower(words[1])
	if (kind == "soft" || kind == "-") && l.soft >= r {
		l.Soft, l.soft = val, r
	}
	if (kind == "hard" || kind == "-") && l.hard >= r {
		l.Hard, l.hard = val, r
	}
	return false, nil
}

// rank returns how a domain concerns the user: by name, as member of a group, or as everybody.
func (w *wanted) rank(domain string) (rank, error) {
	group, isGroup := strings.CutPrefix(domain, "@")
	from, to, isRange := strings.Cut(domain, ":")
	switch {
	case domain == w.user.Name:
		return named, nil
	case rootByNameOnly() && w.user.UID == 0:
		return nobody, nil
	case domain == "*":
		return everybody, nil
	case isGroup:
		in, err := w.member(group)
		if err != nil || !in {
			return nobody, err
		}
		return grouped, nil
	case isRange && inRange(w.user.UID, from, to):
		return named, nil
	}
	return nobody, nil
}

// rootByNameOnly reports whether lines for groups and for everybody pass root by, as they do in Debian and what is made
// of it.
func rootByNameOnly() bool {
	_, err := os.Stat("/etc/debian_version")
	return err == nil
}

// member reports whether the user is in a group: a name, or numbers as 100:200.
func (w *wanted) member(group string) (bool, error) {
	if w.groups == nil {
		ids, err := w.user.Groups()
		if err != nil {
			return false, err
		}
		w.groups = ids
	}
	from, to, isRange := strings.Cut(group, ":")
	if !isRange {
		g, err := nss.GroupNamed(group)
		if err != nil {
			return false, nil // a group that is not there has no members
		}
		return slices.Contains(w.groups, g.GID), nil
	}
	return slices.ContainsFunc(w.groups, func(id int) bool { return inRange(id, from, to) }), nil
}

// inRange reports whether an id is between two that may be missing. ":7" is 7 alone.
func inRange(id int, from, to string) bool {
	low, err := strconv.Atoi(cmp.Or(from, to))
	high, err2 := strconv.Atoi(cmp.Or(to, strconv.Itoa(math.MaxInt)))
	return err == nil && err2 == nil && low <= id && id <= high
}

// limits returns what was found, by number.
func (w *wanted) limits() []modules.Limit {
	var out []modules.Limit
	for _, l := range w.found {
		out = append(out, l.Limit)
	}
	slices.SortFunc(out, func(a, b modules.Limit) int { return cmp.Compare(a.Resource, b.Resource) })
	return out
}

// resource is a limit of Linux: its number, and how many of the kernel's units the unit of limits.conf has.
type resource struct {
	number int
	unit   uint64
}

func resources() map[string]resource {
	return map[string]resource{
		"cpu": {0, 60}, "fsize": {1, 1024}, "data": {2, 1024}, "stack": {3, 1024}, "core": {4, 1024}, "rss": {5, 1024},
		"nproc": {6, 1}, "nofile": {7, 1}, "memlock": {8, 1024}, "as": {9, 1024}, "locks": {10, 1}, "sigpending": {11, 1},
		"msgqueue": {12, 1}, "nice": {13, 0}, "rtprio": {14, 1},
	}
}

// infinity is the kernel's word for no limit.
const infinity = 1<<64 - 1

// value reads a value. A nice value counts from 20 downwards.
func (r resource) value(text string) (uint64, bool) {
	if slices.Contains([]string{"-", "-1", "unlimited", "infinity"}, text) && (r.unit != 0 || text != "-1") {
		return infinity, true
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return 0, false
	case r.unit == 0:
		return uint64(20 - max(-20, min(19, n))), true
	case n < 0:
		return 0, false
	case uint64(n) >= infinity/r.unit:
		return infinity, true
	}
	return uint64(n) * r.unit, true
}
