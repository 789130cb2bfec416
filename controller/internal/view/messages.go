package view

import "strings"

var _ Messages = (*Display)(nil)

// Warn prints a warning, wrapped, once.
func (d *Display) Warn(text string) {
	wrapped := strings.Join(wrap("[WARNING]: "+text, d.o.Columns, true), "\n") + "\n"
	d.once("warning "+wrapped, message{text: wrapped, color: ColorWarn, stderr: true})
}

// WarnBlock prints a warning whose text has lines of its own, once.
func (d *Display) WarnBlock(text string) {
	d.once("warning "+text, message{text: "\n[WARNING]: \n" + text, color: ColorWarn, stderr: true})
}

// WarnSystem is Warn for what is wrong with the machine that hark runs on; system_warnings=no silences it.
func (d *Display) WarnSystem(text string) {
	if !d.o.NoSystemWarnings {
		d.Warn(text)
	}
}

// Deprecate prints that a feature will be removed, in a version if it is known, wrapped, once.
// With removed it says that it is gone already.
func (d *Display) Deprecate(text, version string, removed bool) {
	d.deprecate(deprecation{Text: text, Version: version}, removed)
}

// deprecation is one entry of a result's deprecations.
type deprecation struct{ Text, Version, Date, Collection string }

func (d *Display) deprecate(dep deprecation, removed bool) {
	if d.o.NoDeprecations && !removed {
		return
	}
	lines := wrap(dep.sentence(removed), d.o.Columns, false)
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	d.once("deprecation "+text, message{text: text, color: ColorDeprecate, stderr: true})
}

func (dep deprecation) sentence(removed bool) string {
	text := strings.TrimSpace(dep.Text)
	if text != "" && !strings.ContainsRune("!?.", rune(text[len(text)-1])) {
		text += "."
	}
	parts := []string{"[DEPRECATION WARNING]: " + text, "This feature will be removed"}
	help := "Deprecation warnings can be disabled by setting deprecation_warnings=False in ansible.cfg."
	if removed {
		parts = []string{"[DEPRECATED]: " + text, "This feature was removed"}
		help = "Please update your playbooks."
	}
	switch dep.Collection {
	case "":
	case "ansible.builtin":
		parts = append(parts, "from ansible-core")
	default:
		parts = append(parts, "from "+dep.Collection)
	}
	return strings.Join(append(parts, dep.when(), help), " ")
}

func (dep deprecation) when() string {
	switch {
	case dep.Date != "":
		return "in a release after " + dep.Date + "."
	case dep.Version != "":
		return "in version " + dep.Version + "."
	}
	return "in a future release."
}

// Error prints "ERROR! text" as it is, once.
func (d *Display) Error(text string) {
	text = "ERROR! " + text
	d.once("error "+text, message{text: text, color: ColorError, stderr: true})
}

// ErrorWrapped prints "[ERROR]: text" wrapped, once: what Ansible says of mistakes that are no exceptions.
func (d *Display) ErrorWrapped(text string) {
	wrapped := strings.Join(wrap("\n[ERROR]: "+text, d.o.Columns, true), "\n") + "\n"
	d.once("error "+wrapped, message{text: wrapped, color: ColorError, stderr: true})
}

// Verbose prints text if the verbosity is at least level, with the host in front if there is one.
func (d *Display) Verbose(level int, host, text string) {
	if d.o.Verbosity < level {
		return
	}
	if host != "" {
		text = "<" + host + "> " + text
	}
	d.show(message{text: text, color: ColorVerbose, stderr: d.o.VerboseToStderr})
}
