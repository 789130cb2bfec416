package terminal

import (
	"bytes"
	"testing"
)

func TestTheTerminalObeysNobodyElse(t *testing.T) {
	for text, want := range map[string]string{
		"plain \t\r\n äöü 漢":               "plain \t\r\n äöü 漢",
		"\x1b[0;32mok: [h]\x1b[0m":         "\x1b[0;32mok: [h]\x1b[0m",
		"\x1b[38:5:1m\x1b[K":               "\x1b[38:5:1m\x1b[K",
		"\x1b]0;title\x07":                 `\x1b]0;title\x07`,
		"\x1b]52;c;cm0gLXJm\x1b\\":         `\x1b]52;c;cm0gLXJm\x1b\`,
		"\x1b[2A\x1b[2Kok: [h]":            `\x1b[2A\x1b[2Kok: [h]`,
		"\x1b[31;\x1b[1m":                  `\x1b[31;` + "\x1b[1m",
		"\u009b2A \u009d0;title\u009c":     `\x9b2A \x9d0;title\x9c`,
		"a\x00b\x08c\x7fd":                 `a\x00b\x08c\x7fd`,
		"latin \xe4, cut \xc2":             "latin \xe4, cut \xc2",
		"\x1b":                             `\x1b`,
		"no-break\u00a0space \u202e text ": "no-break\u00a0space \\u202e text ",
		"\x1b[8mhidden\x1b[0m":             `\x1b[8mhidden` + "\x1b[0m",
		"\x1b[0;08;31mx":                   `\x1b[0;08;31mx`,
		"\x1b[38;5;8mgrey\x1b[48;5;8;1m":   "\x1b[38;5;8mgrey\x1b[48;5;8;1m",
		"\x1b[38;2;8;8;8mx":                "\x1b[38;2;8;8;8mx",
		"\x1b[38;5;8;8mx":                  `\x1b[38;5;8;8mx`,
		"a\u200bb\u2066c\ufeff\u061c":      `a\u200bb\u2066c\ufeff\u061c`,
		"می\u200cخواهم 👩\u200d👧":           "می\u200cخواهم 👩\u200d👧",
		"\U000e0041":                       `\ue0041`,
	} {
		var out bytes.Buffer
		if n, err := (Visible{&out}).Write([]byte(text)); n != len(text) || err != nil || out.String() != want {
			t.Errorf("%q is shown as %q (%d, %v), want %q", text, out.String(), n, err, want)
		}
	}
}
