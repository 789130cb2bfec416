package jinja

import "hark/modules/py/value"

// PartKind is what a part of a template is.
type PartKind int

// The kinds of parts. What each holds in Parts is told in parentheses.
const (
	PartText      PartKind = iota // text between expressions, in Const
	PartConst                     // a constant
	PartName                      // a variable
	PartAttr                      // x.name (x)
	PartItem                      // x[key] (x, key)
	PartSlice                     // x[a:b], without x (what there is of its bounds)
	PartCall                      // f(...) (f, arguments)
	PartFilter                    // x | name(...) (x, arguments); x is missing in a block
	PartTest                      // x is name(...) (x, arguments)
	PartCompare                   // a == b < c (the operands)
	PartLogic                     // a and b, a or b: Name tells which (a, b)
	PartNot                       // not x (x)
	PartArith                     // + - * / // % **, also with one operand: Name is the sign
	PartConcat                    // a ~ b (the operands)
	PartIf                        // a if test else b (test, a, b); b may be missing
	PartList                      // a list or tuple (its items)
	PartDict                      // a dict (key, value, key, value ...)
	PartStatement                 // {% ... %} (its expressions and what stands in it)
)

// Part is a part of a template as its text shows it, for those who read templates without running them.
type Part struct {
	Kind  PartKind
	Name  string
	Const value.Value
	Parts []*Part
	// Keywords are the arguments with names.
	Keywords map[string]*Part
}

// Outline is what a template consists of, in order. Filters and tests need not be known.
func Outline(src string, s Syntax) ([]*Part, error) {
	body, err := parseTemplate(src, &Options{Syntax: s})
	if err != nil {
		return nil, err
	}
	return statementParts(body), nil
}

// OutlineExpr is the outline of a bare expression.
func OutlineExpr(src string, s Syntax) (*Part, error) {
	x, err := parseExpression(src, &Options{Syntax: s})
	if err != nil {
		return nil, err
	}
	return partOf(x), nil
}

func statementParts(body []stmt) []*Part {
	var out []*Part
	for _, st := range body {
		if print, ok := st.(*outputStmt); ok {
			out = append(out, partsOf(print.items...)...)
			continue
		}
		p := &Part{Kind: PartStatement}
		if block, ok := st.(*blockStmt); ok { // which eachPart leaves out
			p.Parts = statementParts(block.body)
		}
		eachPart(st, func(expr) {}, func(x expr) { p.Parts = append(p.Parts, partsOf(x)...) },
			func(inner []stmt) { p.Parts = append(p.Parts, statementParts(inner)...) })
		out = append(out, p)
	}
	return out
}

func partsOf(list ...expr) []*Part {
	var out []*Part
	for _, x := range list {
		if x != nil {
			out = append(out, partOf(x))
		}
	}
	return out
}

// partOf is the part that an expression is.
func partOf(x expr) *Part {
	p := &Part{}
	eachChild(x, func(c expr) { p.Parts = append(p.Parts, partOf(c)) })
	switch x := x.(type) {
	case *textExpr:
		p.Kind, p.Const = PartText, value.Str(x.text)
	case *constExpr:
		p.Kind, p.Const = PartConst, x.v
	case *nameExpr:
		p.Kind, p.Name = PartName, x.name
	case *attrExpr:
		p.Kind, p.Name = PartAttr, x.name
	case *itemExpr:
		p.Kind = PartItem
	case *callExpr:
		p.Kind = PartCall
		p.named(x.args, 1)
	case *filterExpr:
		p.Kind, p.Name = PartFilter, x.name
		p.named(x.args, min(1, len(partsOf(x.x))))
	case *testExpr:
		p.Kind, p.Name = PartTest, x.name
		p.named(x.args, 1)
	case *compareExpr:
		p.Kind = PartCompare
	case *binaryExpr:
		p.Kind, p.Name = PartArith, x.op
		if x.op == "and" || x.op == "or" {
			p.Kind = PartLogic
		}
	case *unaryExpr:
		p.Kind, p.Name = PartArith, x.op
		if x.op == "not" {
			p.Kind, p.Name = PartNot, ""
		}
	case *concatExpr:
		p.Kind = PartConcat
	case *condExpr:
		p.Kind = PartIf
	case *listExpr, *tupleExpr:
		p.Kind = PartList
	case *dictExpr:
		p.Kind = PartDict
	default: // slices
		p.Kind = PartSlice
	}
	return p
}

// named parts the arguments with names from the others; before is what stands before the arguments.
func (p *Part) named(a callArgs, before int) {
	for i, name := range a.names {
		if p.Keywords == nil {
			p.Keywords = map[string]*Part{}
		}
		p.Keywords[name] = p.Parts[before+len(a.pos)+i]
	}
	p.Parts = append(p.Parts[:before+len(a.pos):before+len(a.pos)], p.Parts[before+len(a.pos)+len(a.names):]...)
}

// Each calls f for a part and all that is in it, from the outside to the inside.
func (p *Part) Each(f func(*Part)) {
	f(p)
	for _, inner := range p.Parts {
		inner.Each(f)
	}
	for _, inner := range p.Keywords {
		inner.Each(f)
	}
}
