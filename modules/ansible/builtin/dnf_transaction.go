package builtin

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

// bring installs, upgrades or removes: the program first prints what it would do, which is the result, and then does
// it.
func (d *dnf) bring() (modules.Result, error) {
	installed, err := d.installed()
	if err != nil {
		return modules.Result{}, err
	}
	steps, notes := d.steps(installed)
	var results, failures []any
	results = append(results, notes...)
	if d.args.UpdateCache {
		if res, err := d.refresh(); err != nil || res.Failed {
			return res, err
		}
	}
	var pending [][]string
	for _, step := range steps {
		argv := append([]string{step[0]}, d.changing(step[0])...)
		argv = append(argv, step[1:]...)
		out, err := d.call(append([]string{"--assumeno"}, argv...)...)
		if err != nil {
			return modules.Result{}, err
		}
		wrong, msg := d.refused(step, out)
		failures = append(failures, wrong...)
		if msg != "" {
			return undone(msg, failures, nil), nil
		}
		if planned := plan(out.Stdout); len(planned) > 0 {
			pending = append(pending, argv)
			results = append(results, planResults(planned, installed, d.args.DownloadOnly)...)
		}
	}
	if len(failures) > 0 {
		return undone("Failed to install some of the specified packages", failures, results), nil
	}
	res := modules.Result{Data: value.DictOf("msg", "", "rc", int64(0), "results", list(results))}
	if len(pending) == 0 {
		res.Msg = "Nothing to do"
		return res, nil
	}
	res.Changed = true
	if d.env.Check {
		res.Msg = "Check mode: No changes made, but would have if not in check mode"
		return res, nil
	}
	for _, argv := range pending {
		out, err := d.call(append([]string{"-y"}, argv...)...)
		if err != nil {
			return modules.Result{}, err
		}
		if out.Rc != 0 {
			return undone(unknown(out), nil, nil), nil
		}
	}
	return res, nil
}

// undone returns the result of a call that failed.
func undone(msg string, failures, results []any) modules.Result {
	return modules.Result{Failed: true, Msg: msg,
		Data: value.DictOf("failures", list(failures), "rc", int64(1), "results", list(results))}
}

// unknown words a failure of the transaction itself.
func unknown(out tool.Output) string {
	text := problem(out)
	if strings.Contains(text, "GPG") {
		return "Failed to validate GPG signature: " + text
	}
	return "Unknown Error occurred: " + text
}

// list is never nil.
func list(items []any) []any {
	if items == nil {
		return []any{}
	}
	return items
}

// build is an installed package.
type build struct{ name, epoch, version, release, arch string }

func (b build) String() string {
	if b.epoch != "0" && b.epoch != "(none)" {
		return fmt.Sprintf("%s-%s:%s-%s.%s", b.name, b.epoch, b.version, b.release, b.arch)
	}
	return fmt.Sprintf("%s-%s-%s.%s", b.name, b.version, b.release, b.arch)
}

// installed returns the packages that the system has.
func (d *dnf) installed() ([]build, error) {
	argv := []string{"rpm"}
	if d.args.alone() {
		argv = append(argv, "--root", d.args.InstallRoot)
	}
	argv = append(argv, "-qa", "--qf", `%{NAME}\t%{EPOCH}\t%{VERSION}\t%{RELEASE}\t%{ARCH}\n`)
	out, err := tool.Must(d.ctx, d.env, modules.Command{Argv: argv, Env: tool.Plain()})
	var all []build
	for _, line := range strings.Split(out.Stdout, "\n") {
		if f := strings.Split(line, "\t"); len(f) == 5 {
			all = append(all, build{f[0], f[1], f[2], f[3], f[4]})
		}
	}
	return all, err
}

// has reports whether a spec names an installed package: its name, with or without version and architecture.
func has(installed []build, spec string) bool {
	return slices.ContainsFunc(installed, func(b build) bool {
		nvr := b.name + "-" + b.version + "-" + b.release
		names := []string{b.name, b.name + "-" + b.version, nvr, b.epoch + ":" + nvr,
			b.name + "-" + b.epoch + ":" + b.version + "-" + b.release}
		return slices.Contains(names, spec) || slices.Contains(names, strings.TrimSuffix(spec, "."+b.arch))
	})
}

// newer reports whether a newer version is installed than the spec names.
func newer(installed []build, spec string) bool {
	for _, b := range installed {
		rest, ok := strings.CutPrefix(spec, b.name+"-")
		if !ok || rest == "" || rest[0] < '0' || rest[0] > '9' {
			continue
		}
		version, release, whole := strings.Cut(strings.TrimSuffix(rest, "."+b.arch), "-")
		if !whole {
			continue // as in Ansible, a version without release is taken as it is
		}
		if c := compareVersions(b.version, version); c > 0 || c == 0 && compareVersions(b.release, release) > 0 {
			return true
		}
	}
	return false
}

// plainName reports whether a spec is a package's name or version, which can be compared with what is installed.
func plainName(spec string) bool {
	return !strings.ContainsAny(spec, "@/*?[<>=( ") && !strings.HasSuffix(spec, ".rpm")
}

// steps returns the commands that are needed: a verb and specs. notes are results that are known before.
func (d *dnf) steps(installed []build) (steps [][]string, notes []any) {
	add := func(verb string, specs []string) {
		if len(specs) > 0 {
			steps = append(steps, append([]string{verb}, specs...))
		}
	}
	var install, upgrade, remove []string
	switch d.state {
	case "absent":
		for _, spec := range d.names {
			if plainName(spec) && !has(installed, spec) {
				continue
			}
			remove = append(remove, spec)
		}
		add("remove", remove)
		if d.args.Autoremove && len(d.names) == 0 {
			steps = append(steps, []string{"autoremove"})
		}
	case "latest":
		for _, spec := range d.names {
			there := plainName(spec) && has(installed, spec)
			switch {
			case spec == "*":
				steps = append(steps, []string{"upgrade"})
			case there:
				upgrade = append(upgrade, spec)
			case d.args.UpdateOnly:
				notes = append(notes, "Packages providing "+spec+" not installed due to update_only specified")
			default:
				install = append(install, spec)
			}
		}
		add("upgrade", upgrade)
		add("install", install)
	default:
		for _, spec := range d.names {
			if strings.HasSuffix(spec, ".rpm") {
				notes = append(notes, "Installed "+spec)
			}
			older := plainName(spec) && newer(installed, spec)
			if plainName(spec) && has(installed, spec) || older && !d.args.AllowDowngrade {
				continue
			}
			install = append(install, spec)
		}
		add("install", install)
	}
	return steps, notes
}

var noGroup = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[Gg]roup '([^']+)' (?:is not available|does not exist)`)
})

// refused reads what the program says against a step: failures are specs that match nothing, msg ends the module.
func (d *dnf) refused(step []string, out tool.Output) (failures []any, msg string) {
	all := out.Stdout + "\n" + out.Stderr
	for _, spec := range step[1:] {
		if !strings.Contains(all, "No match for argument: "+spec) && !strings.Contains(all, "No package "+spec+" available") {
			continue
		}
		if step[0] != "remove" {
			failures = append(failures, "No package "+spec+" available.")
		}
	}
	aborted := strings.Contains(all, "Operation aborted") || strings.Contains(all, "Exiting on user command") ||
		strings.Contains(all, "Operation cancelled")
	if len(failures) > 0 || out.Rc == 0 || aborted || len(plan(out.Stdout)) > 0 {
		return failures, ""
	}
	text := problem(out)
	if m := noGroup().FindStringSubmatch(all); m != nil {
		return nil, "No group " + m[1] + " available."
	}
	switch {
	case strings.Contains(text, "Problem") || strings.Contains(text, "conflicting requests"):
		return nil, "Depsolve Error occurred: " + text
	case strings.Contains(text, "Failed to download metadata") || strings.Contains(text, "Failed to synchronize"):
		return nil, "Failed to synchronize repodata: " + text
	}
	return nil, "Unknown Error occurred: " + text
}

// row is one package of the table in which the program prints what it would do.
type row struct{ section, name, arch, version string }

// plan reads that table.
func plan(text string) []row {
	var rows []row
	section, name := "", ""
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Transaction Summary"):
			return rows
		case strings.HasSuffix(line, ":") && !strings.HasPrefix(line, " "):
			section, name = strings.TrimSuffix(line, ":"), ""
		case section == "" || !strings.HasPrefix(line, " ") || len(f) == 0 || f[0] == "replacing" ||
			sectionVerb(section) == "":
		case len(f) == 1:
			name = f[0] // too long for its column: the rest is on the next line
		case name != "" && len(f) >= 2:
			rows = append(rows, row{section, name, f[0], f[1]})
			name = ""
		case len(f) >= 4:
			rows = append(rows, row{section, f[0], f[1], f[2]})
		}
	}
	return rows
}

// sectionVerb returns what becomes of the packages of a section, "" for sections of groups and the like.
func sectionVerb(section string) string {
	for _, verb := range []string{"Installing", "Upgrading", "Updating", "Reinstalling", "Downgrading", "Removing"} {
		if strings.HasPrefix(section, verb) && !strings.HasSuffix(section, "Groups") &&
			!strings.HasSuffix(section, "groups") {
			return verb
		}
	}
	return ""
}

// planResults returns the results of a plan. What is upgraded counts as removed and installed.
func planResults(rows []row, installed []build, download bool) []any {
	var came, went []any
	word := "Installed: "
	if download {
		word = "Downloaded: "
	}
	for _, r := range rows {
		verb := sectionVerb(r.section)
		nevra := r.name + "-" + strings.TrimPrefix(r.version, "0:") + "." + r.arch
		if verb == "Removing" {
			went = append(went, "Removed: "+nevra)
			continue
		}
		came = append(came, word+nevra)
		if verb == "Installing" {
			continue
		}
		for _, b := range installed {
			if b.name == r.name && b.arch == r.arch {
				went = append(went, "Removed: "+b.String())
			}
		}
	}
	return append(came, went...)
}

// compareVersions orders versions as rpm does: by runs of digits and of letters; a tilde stands before everything, a
// caret after.
func compareVersions(a, b string) int {
	for a != "" || b != "" {
		a, b = strings.TrimLeftFunc(a, separator), strings.TrimLeftFunc(b, separator)
		for _, mark := range []struct {
			char   string
			before int
		}{{"~", -1}, {"^", 1}} {
			x, y := strings.HasPrefix(a, mark.char), strings.HasPrefix(b, mark.char)
			switch {
			case x && y:
				return compareVersions(a[1:], b[1:])
			case x && (mark.before < 0 || b == ""):
				return mark.before
			case y && (mark.before < 0 || a == ""):
				return -mark.before
			case x:
				return -1
			case y:
				return 1
			}
		}
		if a == "" || b == "" {
			return len(a) - len(b)
		}
		x, y := versionPart(a), versionPart(b)
		if digit(x[0]) != digit(y[0]) {
			if digit(x[0]) {
				return 1
			}
			return -1
		}
		a, b = a[len(x):], b[len(y):]
		if digit(x[0]) {
			x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if len(x) != len(y) {
				return len(x) - len(y)
			}
		}
		if c := strings.Compare(x, y); c != 0 {
			return c
		}
	}
	return 0
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func separator(r rune) bool {
	return r != '~' && r != '^' && (r > 127 || !digit(byte(r)) && !letter(byte(r)))
}

// versionPart returns the digits, or the letters, that a version begins with.
func versionPart(s string) string {
	i := 1
	for i < len(s) && digit(s[i]) == digit(s[0]) && (digit(s[i]) || letter(s[i])) {
		i++
	}
	return s[:i]
}
