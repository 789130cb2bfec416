package move

import (
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/templar"
)

// condition judges an expression that must be a bool.
func (p *project) condition(s site) {
	p.report.Conditions++
	text, isString := value.Text(s.v)
	text = strings.TrimSpace(text)
	switch {
	case value.IsNone(s.v): // a keyword without a value is not there
	case isString && text == "":
		p.found(s, "empty", Fails, "an empty condition")
	case isString && templar.AllTemplate(text):
		p.delimited(s, text)
	case isString:
		p.expression(s, text)
	case kindOf(s.v) == isUnknown:
		p.report.Unknown++
	case kindOf(s.v) != isBool:
		p.found(s, "bool", Fails, "the condition is "+kindOf(s.v).String())
	}
}

// delimited judges a condition within {{ }}.
func (p *project) delimited(s site, text string) {
	parts, err := templar.Outline(text)
	if err != nil {
		return // an error in both languages
	}
	if len(parts) != 1 || parts[0].Kind == jinja.PartStatement {
		bare(p.found(s, "delimiters", Fails, "the condition "+quoted(text)+" is made of templates"), text)
		return
	}
	bare(p.found(s, "deprecations", Warns, "the condition "+quoted(text)+" stands in delimiters"), text)
	p.parts(s, parts[0])
	switch k := p.kinds(parts[0], 0); {
	case k&isUnknown != 0:
		p.report.Unknown++
	case k.only(isBool):
	case k.only(isText) && p.untrusted(parts[0]):
		p.found(s, "trust", Fails, "the condition "+quoted(text)+" is what a module returned, and is evaluated")
	case k.only(isNumber | isList | isDict | isNone | isRange):
		p.found(s, "bool", Fails, "the condition "+quoted(text)+" gives "+k.String())
	}
}

// untrusted tells that a text comes from a module.
func (p *project) untrusted(e *jinja.Part) bool {
	name, path, _ := pathOf(e)
	defs := p.vars[name]
	for _, d := range defs {
		if !d.result {
			return false
		}
	}
	return len(defs) > 0 && len(path) > 0
}

// expression judges a condition without delimiters around it.
func (p *project) expression(s site, text string) {
	e, err := templar.OutlineExpr(text)
	if err != nil {
		if isTemplate(s.v) {
			bare(p.found(s, "delimiters", Fails, "the condition "+quoted(text)+" has templates in it"), text)
		}
		return
	}
	p.parts(s, e)
	p.guessed(s, e)
	switch k := p.kinds(e, 0); {
	case k.only(isBool), k == isMissing:
	case k == isUnknown, k == isUnknown|isBool, k == isUnknown|isMissing:
		p.report.Unknown++
	case k.only(isBool | isText | isNumber | isList | isDict | isNone | isRange | isMissing | isUnknown):
		p.notBool(s, text, e, k&^isMissing)
	}
}

// bare has a finding say how its condition is written without delimiters, where that can be told.
func bare(f *Finding, text string) {
	if without := undelimited(text); without != "" {
		f.Instead = "`" + without + "`"
	}
}

// undelimited is a condition without the delimiters of the templates in it, and without the quotes around them: `'{{ a }}' == 'x'` is
// `a == 'x'`. It is "" where that is no expression, and where a template is a part of a text.
func undelimited(text string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		if !found {
			out.WriteString(text)
			break
		}
		inner, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return ""
		}
		quotedSo := func(q string) bool { return strings.HasSuffix(before, q) && strings.HasPrefix(after, q) }
		if quotedSo("'") || quotedSo(`"`) {
			before, after = before[:len(before)-1], after[1:]
		}
		if strings.Count(before, "'")%2+strings.Count(before, `"`)%2 > 0 {
			return ""
		}
		out.WriteString(before + strings.TrimSpace(inner))
		text = after
	}
	if _, err := templar.OutlineExpr(out.String()); err != nil {
		return ""
	}
	return out.String()
}

// notBool tells of a condition that is no bool, or not always one.
func (p *project) notBool(s site, text string, e *jinja.Part, k kinds) {
	perhaps := k&(isBool|isUnknown) != 0
	defs := p.definitions(e)
	if k.only(isText) && len(defs) > 0 && !defs[0].result && !empty(defs[0].v) {
		at := " is the text " + quotedValue(defs[0].v) + " of " + p.where(defs[0])
		f := p.found(s, "twice", Fails, "the condition "+quoted(text)+at)
		if looksBool(defs[0].v) {
			f.Row, f.Instead = rowOf("bool"), "`"+text+" | bool`"
		}
		return
	}
	f := p.found(s, "bool", Fails, "the condition "+quoted(text)+" gives "+(k&^isUnknown).String())
	if f.Perhaps = perhaps; perhaps {
		f.What = "the condition " + quoted(text) + " may give " + (k &^ (isUnknown | isBool)).String()
	}
	if f.Instead = instead(text, e, k); perhaps {
		f.Instead = "what is a bool in each case"
	}
}

// empty tells the text without a character.
func empty(v value.Value) bool {
	text, isString := value.Text(value.OrNone(v))
	return isString && text == ""
}

// instead is a condition that means what this one meant.
func instead(text string, e *jinja.Part, k kinds) string {
	if e.Kind == jinja.PartLogic || e.Kind == jinja.PartIf || e.Kind == jinja.PartConcat || e.Kind == jinja.PartArith {
		text = "(" + text + ")"
	}
	switch {
	case e.Kind == jinja.PartFilter && (e.Name == "length" || e.Name == "count"):
		return "`" + text + " > 0`"
	case k.only(isText | isList | isDict):
		return "`" + text + " | length > 0`"
	case k.only(isNumber):
		return "`" + text + " != 0`"
	case e.Kind == jinja.PartFilter && e.Name == "regex_search":
		return "`" + text + " is not none`, or the test `search`"
	}
	return "`" + text + " is truthy`"
}

// guessed looks for variables that are used before the same condition asks whether they are defined.
func (p *project) guessed(s site, e *jinja.Part) {
	used := map[string]bool{}
	var walk func(e *jinja.Part)
	walk = func(e *jinja.Part) {
		name, _, isVar := pathOf(e)
		switch {
		case e.Kind == jinja.PartTest && (e.Name == "defined" || e.Name == "undefined"):
			asked, path, ok := pathOf(e.Parts[0])
			if ok && len(path) == 0 && used[asked] && len(p.vars[asked]) == 0 {
				p.found(s, "guess", Fails, "the condition uses "+quoted(asked)+" before it asks whether that is defined").Perhaps = true
			}
			return
		case e.Kind == jinja.PartFilter && (e.Name == "default" || e.Name == "d") && len(e.Parts) > 0:
			if _, _, plain := pathOf(e.Parts[0]); plain {
				return
			}
		case isVar:
			used[name] = true
			return
		}
		for _, inner := range e.Parts {
			walk(inner)
		}
	}
	walk(e)
}
