package inventory

import "fmt"

// notices are what the user sees while an inventory is read and used. A nil func drops its part.
type notices struct {
	warning func(text string)
	detail  func(level int, text string)
	told    map[string]bool // the warnings that are shown only once
}

func (n *notices) warn(format string, a ...any) {
	if n.warning != nil {
		n.warning(fmt.Sprintf(format, a...))
	}
}

func (n *notices) warnOnce(text string) {
	if n.told[text] {
		return
	}
	if n.told == nil {
		n.told = map[string]bool{}
	}
	n.told[text] = true
	n.warn("%s", text)
}

func (n *notices) verbose(level int, format string, a ...any) {
	if n.detail != nil {
		n.detail(level, fmt.Sprintf(format, a...))
	}
}
