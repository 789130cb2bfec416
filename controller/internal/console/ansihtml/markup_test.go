package ansihtml_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"hark/controller/internal/console/ansihtml"
)

// allowed are the elements that a line may have.
var allowed = regexp.MustCompile(`^(<span class="[a-z0-9 ]+">|</span>|<i class="(ctl|cut)">|</i>|<mark>|</mark>)`)

// TestHostileTextStaysText: whatever a host prints, the page has no element and no attribute of its making, and
// nothing that is not seen.
func TestHostileTextStaysText(t *testing.T) {
	for _, text := range Hostile() {
		for _, made := range []string{string(ansihtml.Line(text, 1<<20)), string(ansihtml.Line(text, 7)),
			string(ansihtml.Marked(text, "script", 1<<20)), string(ansihtml.Begin(text, 1<<30))} {
			open := 0
			for rest := made; ; {
				i := strings.IndexByte(rest, '<')
				if i < 0 {
					break
				}
				element := allowed.FindString(rest[i:])
				if element == "" {
					t.Fatalf("%.80q became %.200q", text, made)
				}
				if open++; strings.HasPrefix(element, "</") {
					open -= 2
				}
				rest = rest[i+len(element):]
			}
			if open != 0 {
				t.Errorf("%.80q leaves elements open: %.200q", text, made)
			}
			if strings.ContainsAny(made, "\x00\x07\x08\x0b\x0c\r\x1b\x7f\u0085\u202e\u2066\u200b\ufeff") {
				t.Errorf("%.80q has what nobody sees: %.200q", text, made)
			}
		}
	}
}

// Hostile are texts by which hosts may try to get out of a line.
func Hostile() []string {
	all := []string{
		"<script>alert(1)</script>", "</pre><script src=//evil.example/x.js></script>", "<img src=x onerror=alert(1)>",
		"<svg onload=alert(1)>",
		"\"><script>", "' onmouseover='alert(1)", "</code></div></main>", "<!--", "-->", "<![CDATA[", "]]>", "&lt;script&gt;",
		"&#60;script&#62;",
		"<style>*{display:none}</style>", "<base href=//evil.example>",
		"<meta http-equiv=refresh content=0;url=//evil.example>", "<iframe src=javascript:alert(1)>",
		"javascript:alert(1)", "{{.}}", "{{template \"layout\"}}", "\x1b[2J\x1b[H", "\x1b]0;title\x07",
		"\x1b]8;;http://evil.example\x07click\x1b]8;;\x07", "\x1b[8mhidden\x1b[0m",
		"\x1b[31", "\x1b[" + strings.Repeat("1;", 100) + "m", "\x1b[38;5;999999999999999999999m", "\x1b[38;2;1m",
		"\x1bP+q\x1b\\", "\x9b31m", "\u202eevil\u202c", "\u2066x\u2069", "zero\u200bwidth",
		"\ufeffmark", strings.Repeat("e\u0301\u0323", 500), "\x00\x01\x02", "a\rb", "tab\there", "\xff\xfe\xc0\xaf",
		"\xed\xa0\x80", "\U000e0041\U000e0042", strings.Repeat("x", 100000), strings.Repeat("\x1b[31m", 5000),
		"data: x\n\nevent: over", "\u2028\u2029", "<scr\x00ipt>", "<\x1b[31mscript>", "<ScRiPt\u200b>",
	}
	return all
}

func TestColoursBecomeClasses(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                                 "plain",
		"\x1b[0;32mok: [web1]\x1b[0m":           `<span class="f2">ok: [web1]</span>`,
		"\x1b[1;35m[WARNING]\x1b[0m x":          `<span class="f5 b">[WARNING]</span> x`,
		"\x1b[31ma\x1b[44mb":                    `<span class="f1">a</span><span class="f1 g4">b</span>`,
		"\x1b[38;5;196mred\x1b[m":               `<span class="f9">red</span>`,
		"\x1b[38;2;0;150;0mgreen\x1b[39m plain": `<span class="f2">green</span> plain`,
		"a\x1b[Kb":                              `a<i class="ctl">\x1b</i>[Kb`,
	} {
		if got := string(ansihtml.Line(text, 1000)); got != want {
			t.Errorf("%q became\n%s, want\n%s", text, got, want)
		}
	}
}

// TestPlainIsWhatIsRead: the text of a line's HTML is the line without colours.
func TestPlainIsWhatIsRead(t *testing.T) {
	tags := regexp.MustCompile(`<[^>]*>`)
	for _, text := range []string{"a & b < c", "\x1b[0;33mchanged: [web1] => {\"x\": \"<b>\"}\x1b[0m", "über 日本"} {
		got := html.UnescapeString(tags.ReplaceAllString(string(ansihtml.Line(text, 1000)), ""))
		if got != ansihtml.Plain(text) {
			t.Errorf("%q reads %q, plain is %q", text, got, ansihtml.Plain(text))
		}
	}
}

func TestLongLinesAreCutWithAWord(t *testing.T) {
	made := string(ansihtml.Line(strings.Repeat("ä", 5_000_000), 1001))
	if len(made) > 1200 || !strings.Contains(made, "cut here: the line has 10000000 bytes") ||
		!strings.HasPrefix(made, "ää") {
		t.Errorf("%d bytes: %.60s … %s", len(made), made, made[max(0, len(made)-120):])
	}
}

func TestFoundPlacesAreMarked(t *testing.T) {
	for _, c := range []struct{ line, word, want string }{
		{"Fatal: no FATAL here", "fatal", "<mark>Fatal</mark>: no <mark>FATAL</mark> here"},
		{"a<b>c", "<B>", "a<mark>&lt;b&gt;</mark>c"},
		{"\xffx\xff", "x", `<i class="ctl">\xff</i><mark>x</mark><i class="ctl">\xff</i>`},
	} {
		if got := string(ansihtml.Marked(c.line, c.word, 1000)); got != c.want {
			t.Errorf("%q in %q: %s, want %s", c.word, c.line, got, c.want)
		}
	}
	long := strings.Repeat("x", 100000) + "needle" + strings.Repeat("y", 100000)
	if got := string(ansihtml.Marked(long, "needle", 1000)); !strings.Contains(got, "<mark>needle</mark>") ||
		len(got) > 1500 {
		t.Errorf("%d bytes: %.200s", len(got), got)
	}
}
