package filters

import (
	"regexp"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// What urlize takes for an address: with a scheme or www, with a well-known end, or a number.
var (
	linkText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(` +
			`(https?://|www\.)(([\pL\pN_%-]+\.)+)?([a-z]{2,63}|xn--[\pL\pN_%]{2,59})` +
			`|([\pL\pN_%-]{2,63}\.)+(com|net|int|edu|gov|org|info|mil)` +
			`|(https?://)(\pN{1,3}(\.\pN{1,3}){3}|\[([\pNa-f]{0,4}:){2}([\pNa-f]{0,4}:?){1,6}\])` +
			`)(:\pN{1,5})?([/?#]\S*)?\n?$`)
	})
	mailText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\S+@[\pL\pN_][\pL\pN_.-]*\.[\pL\pN_]+\n?$`)
	})
	schemeText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([\pL\pN_.+-]{2,}:/{0,2})\n?$`) })
	openings   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([(<]|&lt;)+`) })
	closings   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([)>.,\n]|&gt;)+$`) })
	blanks     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s+`) })
)

// linker makes links of the words of a text.
type linker struct {
	limit   int    // of the text shown, -1 for none
	attrs   string // rel and target
	schemes []string
}

// urlize makes HTML links of the addresses in a text.
func urlize(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_urlize", value.Opt("trim_url_limit", value.None{}),
		value.Opt("nofollow", value.Bool(false)), value.Opt("target", value.None{}), value.Opt("rel", value.None{}),
		value.Opt("extra_schemes", value.None{}))
	if err != nil {
		return nil, err
	}
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	l, err := newLinker(a)
	if err != nil {
		return nil, err
	}
	text := value.EscapeHTML(s)
	var b strings.Builder
	last := 0
	for _, gap := range blanks().FindAllStringIndex(text, -1) {
		b.WriteString(l.word(text[last:gap[0]]) + text[gap[0]:gap[1]])
		last = gap[1]
	}
	b.WriteString(l.word(text[last:]))
	return value.Str(b.String()), nil
}

// newLinker reads the arguments: limit, nofollow, target, rel, schemes.
func newLinker(a []value.Value) (*linker, error) {
	l := &linker{limit: -1}
	if n, ok := value.AsInt(a[0]); ok && !value.IsNone(a[0]) {
		l.limit = int(n)
	}
	rel, _ := value.Text(a[3])
	parts := map[string]bool{"noopener": true}
	for _, p := range strings.Fields(rel) {
		parts[p] = true
	}
	if nofollow, err := value.Truth(a[1]); err != nil {
		return nil, err
	} else if nofollow {
		parts["nofollow"] = true
	}
	names := make([]string, 0, len(parts))
	for p := range parts {
		names = append(names, p)
	}
	sort.Strings(names)
	l.attrs = ` rel="` + value.EscapeHTML(strings.Join(names, " ")) + `"`
	if target, _ := value.Text(a[2]); target != "" {
		l.attrs += ` target="` + value.EscapeHTML(target) + `"`
	}
	return l, l.readSchemes(a[4])
}

func (l *linker) readSchemes(v value.Value) error {
	if value.IsNone(v) {
		return nil
	}
	items, err := value.Elements(v)
	if err != nil {
		return err
	}
	for _, item := range items {
		s, err := value.ToStr(item)
		if err != nil {
			return err
		}
		if !schemeText().MatchString(s) {
			return value.Errorf("FilterArgumentError", "%s is not a valid URI scheme prefix.", value.ReprText(s))
		}
		l.schemes = append(l.schemes, s)
	}
	return nil
}

func (l *linker) word(word string) string {
	head := openings().FindString(word)
	middle, tail := word[len(head):], ""
	if at := closings().FindStringIndex(middle); at != nil {
		middle, tail = middle[:at[0]], middle[at[0]:]
	}
	for _, pair := range [][2]string{{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}} {
		middle, tail = balance(middle, tail, pair[0], pair[1])
	}
	return head + l.link(middle) + tail
}

// balance takes closing brackets back from the tail for those that middle opens and does not close.
func balance(middle, tail, begin, end string) (string, string) {
	opened := strings.Count(middle, begin)
	if opened <= strings.Count(middle, end) {
		return middle, tail
	}
	for range min(opened, strings.Count(tail, end)) {
		at := strings.Index(tail, end) + len(end)
		middle, tail = middle+tail[:at], tail[at:]
	}
	return middle, tail
}

func (l *linker) link(s string) string {
	switch {
	case linkText().MatchString(s):
		to := s
		if !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") {
			to = "https://" + s
		}
		return `<a href="` + to + `"` + l.attrs + `>` + l.shown(s) + `</a>`
	case strings.HasPrefix(s, "mailto:") && mailText().MatchString(s[len("mailto:"):]):
		return `<a href="` + s + `">` + s[len("mailto:"):] + `</a>`
	case strings.Contains(s, "@") && !strings.HasPrefix(s, "www.") && !strings.Contains(s, ":") &&
		mailText().MatchString(s):
		return `<a href="mailto:` + s + `">` + s + `</a>`
	}
	for _, scheme := range l.schemes {
		if s != scheme && strings.HasPrefix(s, scheme) {
			return `<a href="` + s + `"` + l.attrs + `>` + s + `</a>`
		}
	}
	return s
}

// shown returns an address cut to the limit.
func (l *linker) shown(s string) string {
	if l.limit < 0 || utf8.RuneCountInString(s) <= l.limit {
		return s
	}
	return string([]rune(s)[:l.limit]) + "..."
}
