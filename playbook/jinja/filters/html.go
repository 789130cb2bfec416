package filters

import (
	"html"
	"regexp"
	"strings"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

var (
	htmlComment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<!--.*?-->`) })
	htmlTag     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<.*?>`) })
)

func stripTags(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, err := value.ToStr(in)
	s = htmlTag().ReplaceAllString(htmlComment().ReplaceAllString(s, ""), "")
	return value.Str(html.UnescapeString(strings.Join(strings.Fields(s), " "))), err
}

func xmlAttr(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_xmlattr", value.Opt("autospace", value.Bool(true)))
	if err != nil {
		return nil, err
	}
	space, err := value.Truth(a[0])
	if err != nil {
		return nil, err
	}
	if !value.IsMapping(in) {
		return nil, noAttribute(in, "items")
	}
	d, err := value.ToDict(in)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range d.Len() {
		k, v := d.At(i)
		if _, undefined := v.(*value.Undefined); undefined || value.IsNone(v) {
			continue
		}
		name, err := value.ToStr(k)
		if err != nil {
			return nil, err
		}
		if strings.ContainsAny(name, " \t\n\f\r/>=") {
			return nil, value.ValueErrorf("Invalid character in attribute name: %s", value.ReprText(name))
		}
		text, err := value.ToStr(v)
		if err != nil {
			return nil, err
		}
		out = append(out, value.EscapeHTML(name)+`="`+value.EscapeHTML(text)+`"`)
	}
	s := strings.Join(out, " ")
	if space && s != "" {
		s = " " + s
	}
	return value.Str(s), nil
}

// htmlJSON is JSON that may stand in HTML.
func htmlJSON(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_tojson", value.Opt("indent", none))
	if err != nil {
		return nil, err
	}
	out, err := dumpJSON(in, value.JSONOptions{Sorted: true}, []jinja.Kwarg{{Name: "indent", V: a[0]}})
	if err != nil {
		return nil, err
	}
	s, _ := value.Text(out)
	return value.Markup(strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "'", `\u0027`).Replace(s)), nil
}

func forceEscape(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, err := value.ToStr(in)
	return value.Markup(value.EscapeHTML(s)), err
}
