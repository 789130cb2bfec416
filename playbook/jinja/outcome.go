package jinja

import (
	"strconv"
	"strings"

	"hark/modules/py/value"
)

// Outcome is a variable, with the keys to it, whose value an expression may have: x.y of `a and x.y`.
type Outcome struct {
	Expr string
	Path []string
}

// Outcomes returns the variables whose value a bare expression may have, as it is: those between which and, or, if and
// the filter default choose. truth is what the value of the expression counts as; the first that has the value of the
// expression gave it.
func (t *Template) Outcomes(truth bool) []Outcome {
	if t == nil || t.x == nil {
		return nil
	}
	return outcomes(nil, t.x, truth)
}

func outcomes(list []Outcome, x expr, truth bool) []Outcome {
	switch x := x.(type) {
	case *binaryExpr:
		switch {
		case x.op != "and" && x.op != "or":
		case (x.op == "or") == truth: // the left one decides: it is true in or, false in and
			return outcomes(outcomes(list, x.left, truth), x.right, truth)
		default:
			return outcomes(outcomes(list, x.right, truth), x.left, truth)
		}
	case *condExpr:
		list = outcomes(list, x.then, truth)
		if x.otherwise != nil {
			list = outcomes(list, x.otherwise, truth)
		}
	case *filterExpr:
		if x.x != nil && (x.name == "default" || x.name == "d") {
			list = outcomes(list, x.x, truth)
			if len(x.args.pos) > 0 {
				list = outcomes(list, x.args.pos[0], truth)
			}
		}
	default:
		if path, ok := pathOf(x); ok {
			list = append(list, Outcome{Expr: pathExpr(path), Path: path})
		}
	}
	return list
}

// pathOf returns the variable and the keys that an expression consists of; false if it is anything else.
func pathOf(x expr) ([]string, bool) {
	switch x := x.(type) {
	case *nameExpr:
		return []string{x.name}, true
	case *attrExpr:
		path, ok := pathOf(x.x)
		return append(path, x.name), ok
	case *itemExpr:
		path, ok := pathOf(x.x)
		c, isConst := x.key.(*constExpr)
		if !ok || !isConst {
			return nil, false
		}
		if n, isInt := value.AsInt(c.v); isInt {
			return append(path, strconv.FormatInt(n, 10)), n >= 0
		}
		key, isText := value.Text(c.v)
		return append(path, key), isText
	}
	return nil, false
}

// pathExpr returns an expression of a path.
func pathExpr(path []string) string {
	var b strings.Builder
	b.WriteString(path[0])
	for _, key := range path[1:] {
		if _, err := strconv.Atoi(key); err == nil {
			b.WriteString("[" + key + "]")
		} else {
			b.WriteString("[" + value.ReprText(key) + "]")
		}
	}
	return b.String()
}
