package move

import (
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/templar"
)

// judge judges a text by what it is for.
func (p *project) judge(s site) {
	if s.use == asCondition {
		p.condition(s)
		return
	}
	text, ok := value.Text(s.v)
	if !ok {
		return
	}
	if err := templar.Header(text); err != nil {
		p.found(s, "headers", Fails, "the header: "+strings.TrimPrefix(err.Error(), "Syntax error in template: "))
		return
	}
	if !s.file && !isTemplate(s.v) {
		p.literal(s, text)
		return
	}
	p.report.Templates++
	parts, err := templar.Outline(text)
	if err != nil {
		return // an error in both languages
	}
	for _, e := range parts {
		p.parts(s, e)
	}
	switch {
	case s.file:
	case len(parts) == 1 && parts[0].Kind != jinja.PartStatement && parts[0].Kind != jinja.PartText:
		p.whole(s, text, parts[0])
	default:
		p.composed(s, text, parts)
	}
}

// literal judges a text that is no template.
func (p *project) literal(s site, text string) {
	if s.use == asLoop && text != "" {
		p.found(s, "parts", Fails, "the loop goes over the text "+quoted(text)).Perhaps = !looksLikeData(text)
	}
}

// looksLikeData tells the texts that the classic language makes a list, a dict or a bool of.
func looksLikeData(text string) bool {
	return strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "{{") && !strings.HasPrefix(text, "{%") ||
		text == "True" || text == "False"
}

// whole judges a text that is one expression, whose value it is.
func (p *project) whole(s site, text string, e *jinja.Part) {
	k := p.kinds(e, 0)
	switch {
	case k.only(isRange):
		f := p.found(s, "storage", Fails, quoted(text)+" gives a range")
		f.Instead, f.Perhaps = "`... | list`", s.use != asLoop // filters take it
	case e.Kind == jinja.PartIf && k&isMissing != 0:
		p.found(s, "inline-if", Fails, quoted(text)+" has no else").Perhaps = true
	case k&isNone != 0 && saysNone(e):
		p.found(s, "none", Differs, quoted(text)+" may be None")
	case s.use == asEntry && e.Kind == jinja.PartFilter && len(e.Parts) == 2 && isOmit(e.Parts[1]):
		p.found(s, "omit", Differs, "the entry "+quoted(text)+" of a list may be left out")
	}
	if s.use != asLoop && s.use != asItems || !k.only(isText) {
		return
	}
	if defs := p.definitions(e); len(defs) > 0 {
		if text, _ := value.Text(value.OrNone(defs[0].v)); looksLikeData(strings.TrimSpace(text)) {
			p.found(s, "parts", Fails, "the loop goes over the text "+quoted(text)+" of "+p.where(defs[0]))
		}
	}
}

// saysNone tells that an expression has none written in it.
func saysNone(e *jinja.Part) bool {
	found := false
	e.Each(func(e *jinja.Part) { found = found || e.Kind == jinja.PartConst && value.IsNone(e.Const) })
	return found
}

// composed judges a text that is made of several parts, or by statements.
func (p *project) composed(s site, text string, parts []*jinja.Part) {
	switch {
	case enclosed(parts):
		p.found(s, "parts", Differs, quoted(text)+" is text around expressions that looks like a list or dict")
	case len(parts) == 1 && printsText(parts[0]) && printsBool(parts[0]):
		p.found(s, "parts", Differs, quoted(text)+" prints the words True or False").Instead = "`{{ condition }}` alone"
	}
}

// enclosed tells that a text stands within the brackets or braces of a list or dict.
func enclosed(parts []*jinja.Part) bool {
	first, last := parts[0], parts[len(parts)-1]
	if first.Kind != jinja.PartText || last.Kind != jinja.PartText {
		return false
	}
	begin, end := strings.TrimLeft(value.Printed(first.Const), " \n"), strings.TrimRight(value.Printed(last.Const), " \n")
	return strings.HasPrefix(begin, "[") && strings.HasSuffix(end, "]") || strings.HasPrefix(begin, "{") && strings.HasSuffix(end, "}")
}

// printsBool tells that a statement prints True or False.
func printsBool(e *jinja.Part) bool {
	for _, inner := range e.Parts {
		text, _ := value.Text(value.OrNone(inner.Const))
		if text = strings.TrimSpace(text); inner.Kind == jinja.PartText && (text == "True" || text == "False") {
			return true
		}
		if inner.Kind == jinja.PartStatement && printsBool(inner) {
			return true
		}
	}
	return false
}

// parts judges what stands in an expression.
func (p *project) parts(s site, e *jinja.Part) {
	inLookup := map[*jinja.Part]bool{}
	e.Each(func(e *jinja.Part) {
		switch e.Kind {
		case jinja.PartCall:
			if fn := e.Parts[0]; fn.Kind == jinja.PartName && (fn.Name == "lookup" || fn.Name == "query" || fn.Name == "q") {
				for _, arg := range e.Parts[1:] {
					inLookup[arg] = true
				}
			}
		case jinja.PartConst:
			p.constant(s, e, inLookup[e])
		case jinja.PartName:
			p.name(s, e)
		case jinja.PartFilter:
			p.filter(s, e)
		case jinja.PartCompare:
			p.comparison(s, e)
		case jinja.PartList, jinja.PartDict:
			for _, item := range e.Parts {
				if isOmit(item) {
					p.found(s, "omit", Differs, "`omit` is in a list or dict")
				}
			}
		}
	})
}

// constant judges a text within an expression.
func (p *project) constant(s site, e *jinja.Part, inLookup bool) {
	text, ok := value.Text(e.Const)
	switch {
	case !ok:
	case text == "AnsibleUnicode" || text == "AnsibleUnsafeText" || text == "AnsibleSequence" || text == "AnsibleMapping":
		p.found(s, "types", Differs, "the name of a type, "+quoted(text))
	case !isTemplate(value.YAMLStr(text)):
	case inLookup || s.use == asCondition:
		p.found(s, "embedded", Warns, "the text "+quoted(text)+" within an expression holds a template")
	default:
		if _, err := templar.Outline(text); err == nil { // what is none stays text in both languages
			p.found(s, "trust", Differs, "the text "+quoted(text)+" within an expression is no template any more").Perhaps = true
		}
	}
}

func (p *project) name(s site, e *jinja.Part) {
	switch e.Name {
	case "play_hosts":
		p.found(s, "deprecations", Warns, "the variable `play_hosts`").Instead = "`ansible_play_batch`"
	case "ansible_version":
		p.found(s, "version", Differs, "`ansible_version`").Perhaps = true
	}
}

func (p *project) filter(s site, e *jinja.Part) {
	if e.Name != "default" && e.Name != "d" {
		return
	}
	flag := e.Keywords["boolean"]
	if len(e.Parts) > 2 {
		flag = e.Parts[2]
	}
	if flag != nil && flag.Kind == jinja.PartConst && kindOf(flag.Const) != isBool {
		p.found(s, "filter-default", Fails, "the second argument of default, "+printed(flag.Const)+", is no bool").Instead = "`true`"
	}
}

// comparison looks for numbers that were text.
func (p *project) comparison(s site, e *jinja.Part) {
	if len(e.Parts) != 2 {
		return
	}
	for i, side := range e.Parts {
		other := e.Parts[1-i]
		defs := p.definitions(side)
		if other.Kind != jinja.PartConst || len(defs) == 0 || p.kinds(side, 0) != isNumber || kindOf(other.Const)&(isText|isNumber) == 0 {
			continue
		}
		for _, d := range defs {
			if d.v == nil || !isTemplate(d.v) {
				return
			}
		}
		p.found(s, "native", Differs, quoted(side.Name)+" of "+p.where(defs[0])+" is a number and was text, and is compared with "+printed(other.Const))
	}
}
