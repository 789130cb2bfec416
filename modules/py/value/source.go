package value

import (
	"regexp"
	"strings"
)

// Source is text of a playbook, an inventory, a file of variables, a template or the command line (AnsibleUnicode).
// It may be a template, an expression or a condition; from level 2.19 on no other text is. So no text becomes one by
// a conversion: SourceText and KindSource make it, and packaging/check holds who may call them, the readers of these
// files. The zero Source is the empty text.
type Source struct{ text string }

// SourceText returns a text as a reader of source gives it. Nothing that a host, a lookup or a template has made may
// be given to it.
func SourceText(s string) Source { return Source{s} }

// Type returns the name of Ansible's class.
func (Source) Type() string { return "AnsibleUnicode" }

// Text returns the text itself.
func (s Source) Text() string { return s.text }

// Trimmed is s without blanks around it.
func (s Source) Trimmed() Source { return Source{strings.TrimSpace(s.text)} }

// Braced returns an expression as the template that is nothing else.
func (s Source) Braced() Source { return Source{"{{" + s.text + "}}"} }

// ReplaceAll returns the text of s with f's in place of the parts that match.
func (s Source) ReplaceAll(match *regexp.Regexp, f func(part Source) string) string {
	return match.ReplaceAllStringFunc(s.text, func(part string) string { return f(Source{part}) })
}

// Equal is for those who compare.
func (s Source) Equal(other Source) bool { return s == other }
