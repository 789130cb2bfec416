package view

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/playbook/deprecation"
)

func newTestDisplay(t *testing.T, o DisplayOptions) (d *Display, out, err *bytes.Buffer) {
	t.Helper()
	out, err = &bytes.Buffer{}, &bytes.Buffer{}
	o.Out, o.Err = out, err
	d, e := NewDisplay(o)
	if e != nil {
		t.Fatal(e)
	}
	return d, out, err
}

// Expected lines were printed by Python 3.11's textwrap.wrap(text, 20).
func TestWrapBreaksAsTextwrapDoes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"short", "short"},
		{"one two three four five six", "one two three four|five six"},
		{"a  b\tc\nd", "a  b    c d"},
		{"well-known hyphenated-words-are-broken here", "well-known|hyphenated-words-|are-broken here"},
		{"/a/very/long/path/that/has/no/blank and more", "/a/very/long/path/th|at/has/no/blank and|more"},
		{"a-very-long-word-with-hyphens/and/more/of/it-x", "a-very-long-word-|with-hyphens/and/mor|e/of/it-x"},
		{"an em--dash splits--words too", "an em--dash splits--|words too"},
		{"-f and --flag=x-y are kept", "-f and --flag=x-y|are kept"},
		{"ünïcödé wörds äre cöünted by chäräcter", "ünïcödé wörds äre|cöünted by chäräcter"},
		{"trailing blanks      ", "trailing blanks"},
	} {
		if got := strings.Join(wrap(c.text, 20, true), "|"); got != c.want {
			t.Errorf("wrap(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestBannerFillsTheLine(t *testing.T) {
	d, out, _ := newTestDisplay(t, DisplayOptions{})
	d.Banner("TASK [x] ")
	d.Banner("TASK [漢字]")
	d.Banner("TASK [" + strings.Repeat("x", 90) + "]")
	want := "\nTASK [x] " + strings.Repeat("*", 71) + "\n" +
		"\nTASK [漢字] " + strings.Repeat("*", 68) + "\n" +
		"\nTASK [" + strings.Repeat("x", 90) + "] ***\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestWarningsAreShownOnce(t *testing.T) {
	d, out, err := newTestDisplay(t, DisplayOptions{Colored: true})
	d.Warn("twice")
	d.Warn("twice")
	d.Deprecate(deprecation.Notice{Text: "old", Version: "2.99"})
	d.Deprecate(deprecation.Notice{Text: "old", Version: "2.99"})
	want := "\x1b[1;35m[WARNING]: twice\x1b[0m\n" +
		"\x1b[0;35m[DEPRECATION WARNING]: old. This feature will be removed in version 2.99. \x1b[0m\n" +
		"\x1b[0;35mDeprecation warnings can be disabled by setting deprecation_warnings=False in \x1b[0m\n" +
		"\x1b[0;35mansible.cfg.\x1b[0m\n"
	if diff := cmp.Diff(want, err.String()); diff != "" || out.Len() > 0 {
		t.Errorf("stdout %q, stderr %s", out, diff)
	}
}

func TestVerboseLinesNeedTheirVerbosity(t *testing.T) {
	d, out, _ := newTestDisplay(t, DisplayOptions{Verbosity: 2})
	d.Verbose(1, "", "one")
	d.Verbose(2, "host", "two")
	d.Verbose(3, "", "three")
	if out.String() != "one\n<host> two\n" {
		t.Errorf("printed %q", out)
	}
}

// TestLinesOfWindowsEndAsOthers: ansible-core 2.19.11 prints no return before a line end, 2.14.18 does.
func TestLinesOfWindowsEndAsOthers(t *testing.T) {
	for tagged, want := range map[bool]string{false: "a\r\nb\rc\n", true: "a\nb\rc\n"} {
		d, out, _ := newTestDisplay(t, DisplayOptions{Tagged: tagged})
		d.Print("", "a\r\nb\rc")
		if out.String() != want {
			t.Errorf("%q", out.String())
		}
	}
}

func TestLogHasNoColours(t *testing.T) {
	var log []string
	d, out, _ := newTestDisplay(t, DisplayOptions{Colored: true, Log: func(_, s string) { log = append(log, s) }})
	d.Print(ColorOK, "\nfine")
	d.show(message{text: "screen", screenOnly: true})
	d.show(message{text: "log", logOnly: true})
	if got := strings.Join(log, "|"); got != "fine|log" {
		t.Errorf("logged %q", got)
	}
	if out.String() != "\x1b[0;32m\x1b[0m\n\x1b[0;32mfine\x1b[0m\nscreen\n" {
		t.Errorf("printed %q", out)
	}
}

func TestStatusLineMakesWayForText(t *testing.T) {
	d, out, err := newTestDisplay(t, DisplayOptions{StatusLine: true})
	d.Status("1 of 3 hosts")
	d.Print(NoColor, "line")
	d.Status("")
	if out.String() != "line\n" || err.String() != "1 of 3 hosts\r\x1b[K1 of 3 hosts\r\x1b[K" {
		t.Errorf("stdout %q, stderr %q", out, err)
	}
	quiet, _, err := newTestDisplay(t, DisplayOptions{})
	quiet.Status("never seen")
	if err.Len() > 0 {
		t.Errorf("without a terminal there is a status line: %q", err)
	}
}

func TestUnknownColourIsAnError(t *testing.T) {
	if _, err := NewDisplay(DisplayOptions{Palette: Palette{ColorOK: "grue"}}); err == nil {
		t.Error("the palette was taken")
	}
	codes, err := Palette{ColorOK: "color208", ColorError: "rgb510", ColorSkip: "gray7"}.codes()
	want := map[Color]string{ColorOK: "38;5;208", ColorError: "38;5;202", ColorSkip: "38;5;239"}
	if diff := cmp.Diff(want, codes); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestUnknownViewIsAnError(t *testing.T) {
	if _, err := New("nonsense", Options{}); err == nil {
		t.Error("the view was made")
	}
}

func TestCut(t *testing.T) {
	for text, want := range map[string]string{
		"short":             "short",
		"exactly ten":       "exactly te",
		"two\nlines\x1b[2J": "two lines ",
		"漢字漢字漢字":            "漢字漢字漢",
		"1漢字漢字漢字":           "1漢字漢字",
	} {
		if got := cut(text, 10); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
