package view

import (
	"strings"

	"hark/playbook/deprecation"
)

var _ Listener = (*Display)(nil)

// Warn prints a warning, wrapped, once.
func (d *Display) Warn(text string) {
	d.tell(func(l Listener) { l.Warn(text) })
	if d.o.Tagged {
		d.onceTagged("[WARNING]: ", text, ColorWarn, true)
		return
	}
	wrapped := strings.Join(wrap("[WARNING]: "+text, d.o.Columns, true), "\n") + "\n"
	d.once("warning "+wrapped, message{text: wrapped, color: ColorWarn, stderr: true})
}

// WarnBlock prints a warning whose text has lines of its own, once.
func (d *Display) WarnBlock(text string) {
	d.tell(func(l Listener) { l.WarnBlock(text) })
	if d.o.Tagged {
		d.onceTagged("[WARNING]: ", text, ColorWarn, true)
		return
	}
	d.once("warning "+text, message{text: "\n[WARNING]: \n" + text, color: ColorWarn, stderr: true})
}

// WarnSystem is Warn for what is wrong with the machine that hark runs on; system_warnings=no silences it.
func (d *Display) WarnSystem(text string) {
	if !d.o.NoSystemWarnings {
		d.Warn(text)
	}
}

// Deprecate prints that a feature will be removed, wrapped, once.
func (d *Display) Deprecate(n deprecation.Notice) {
	if d.o.NoDeprecations {
		return
	}
	d.tell(func(l Listener) { l.Deprecate(n) })
	if d.o.Tagged {
		d.onceTagged("[WARNING]: ",
			"Deprecation warnings can be disabled by setting `deprecation_warnings=False` in ansible.cfg.", ColorWarn, true)
		d.onceTagged("[DEPRECATION WARNING]: ", n.Tagged(), ColorDeprecate, true)
		return
	}
	text := strings.TrimSpace(strings.Join(wrap(n.Warning(), d.o.Columns, false), "\n"))
	d.once("deprecation "+text, message{text: text, color: ColorDeprecate, stderr: true})
}

// Error prints "ERROR! text" as it is, once; "[ERROR]: text" in the tagged language.
func (d *Display) Error(text string) {
	d.tell(func(l Listener) { l.Error(text) })
	if d.o.Tagged {
		d.onceTagged("[ERROR]: ", text, ColorError, true)
		return
	}
	text = "ERROR! " + text
	d.once("error "+text, message{text: text, color: ColorError, stderr: true})
}

// ErrorWrapped prints "[ERROR]: text" wrapped, once: what Ansible says of mistakes that are no exceptions.
func (d *Display) ErrorWrapped(text string) {
	d.tell(func(l Listener) { l.ErrorWrapped(text) })
	if d.o.Tagged {
		d.onceTagged("[ERROR]: ", text, ColorError, true)
		return
	}
	wrapped := strings.Join(wrap("\n[ERROR]: "+text, d.o.Columns, true), "\n") + "\n"
	d.once("error "+wrapped, message{text: wrapped, color: ColorError, stderr: true})
}

// onceTagged prints what a kind of message says, once: a line, or lines with an empty one behind them.
func (d *Display) onceTagged(kind, text string, c Color, stderr bool) {
	text = kind + strings.TrimSpace(text)
	if strings.Contains(text, "\n") {
		text += "\n\n"
	}
	d.once(text, message{text: text, color: c, stderr: stderr, rank: map[Color]string{ColorWarn: "WARNING",
		ColorError: "ERROR"}[c]})
}

// Verbose prints text if the verbosity is at least level, with the host in front if there is one.
func (d *Display) Verbose(level int, host, text string) {
	if d.o.Verbosity < level {
		return
	}
	d.tell(func(l Listener) { l.Verbose(level, host, text) })
	if host != "" {
		text = "<" + host + "> " + text
	}
	d.show(message{text: text, color: ColorVerbose, stderr: d.o.VerboseToStderr})
}
