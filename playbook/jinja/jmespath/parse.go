package jmespath

import (
	"fmt"
	"strings"

	"hark/modules/py/value"
)

// expr is a compiled expression.
type expr struct {
	eval func(v value.Value) (value.Value, error)
	// field is the name of an expression that is just a name, which may turn out to be that of a function.
	field string
	// reference marks &expression, an argument of functions.
	reference bool
}

type parser struct {
	source string
	tokens []token
	at     int
	depth  int
}

// maxDepth bounds nested expressions.
const maxDepth = 300

// power returns how strongly a token binds what is on its left.
func power(kind string) int {
	switch kind {
	case "pipe":
		return 1
	case "or":
		return 2
	case "and":
		return 3
	case "eq", "gt", "lt", "gte", "lte", "ne":
		return 5
	case "flatten":
		return 9
	case "star":
		return 20
	case "filter":
		return 21
	case "dot":
		return 40
	case "not":
		return 45
	case "lbrace":
		return 50
	case "lbracket":
		return 55
	case "lparen":
		return 60
	}
	return 0
}

// projectionStop is the power below which a token ends a projection.
const projectionStop = 10

func (p *parser) token() token { return p.tokens[p.at] }

func (p *parser) is(kind string) bool { return p.token().kind == kind }

// ahead returns the kind of the token after the current one.
func (p *parser) ahead() string {
	if p.at+1 < len(p.tokens) {
		return p.tokens[p.at+1].kind
	}
	return "eof"
}

// advance goes to the next token; the last one, eof, stays.
func (p *parser) advance() token {
	t := p.token()
	if p.at+1 < len(p.tokens) {
		p.at++
	}
	return t
}

func (p *parser) failAt(t token, msg string) error {
	return failf("%s: Parse error at column %d, token \"%s\" (%s), for expression:\n\"%s\"\n%s^",
		msg, t.start, t.text, strings.ToUpper(t.kind), p.source, strings.Repeat(" ", t.start+1))
}

func (p *parser) incomplete() error {
	return failf("Invalid jmespath expression: Incomplete expression:\n\"%s\"\n%s^", p.source,
		strings.Repeat(" ", len([]rune(p.source))+1))
}

// unexpected is the error of the current token where another is wanted.
func (p *parser) unexpected(wanted string) error {
	if p.is("eof") {
		return p.incomplete()
	}
	return p.failAt(p.token(), fmt.Sprintf("Expecting: %s, got: %s", wanted, p.token().kind))
}

func (p *parser) match(kind string) error {
	if !p.is(kind) {
		return p.unexpected(kind)
	}
	p.advance()
	return nil
}

// parse reads an expression up to a token that binds no stronger than min.
func (p *parser) parse(min int) (expr, error) {
	if p.depth++; p.depth > maxDepth {
		return expr{}, failf("Invalid jmespath expression: nested too deeply")
	}
	defer func() { p.depth-- }()
	left, err := p.first()
	for err == nil && min < power(p.token().kind) {
		left, err = p.rest(left)
	}
	return left, err
}

// first reads what can begin an expression.
func (p *parser) first() (expr, error) {
	t := p.advance()
	switch t.kind {
	case "literal":
		return constant(t.value), nil
	case "unquoted_identifier":
		return field(t.text), nil
	case "quoted_identifier":
		if p.is("lparen") {
			open := p.token()
			open.start = 0
			return expr{}, p.failAt(open, "Quoted identifier not allowed for function names.")
		}
		return field(t.text), nil
	case "star":
		right := identity()
		var err error
		if !p.is("rbracket") {
			right, err = p.projected(power("star"))
		}
		return valueProjection(identity(), right), err
	case "filter":
		return p.filter(identity())
	case "lbrace":
		return p.multiHash()
	case "lparen":
		e, err := p.parse(0)
		if err != nil {
			return expr{}, err
		}
		e.field = ""
		return e, p.match("rparen")
	case "flatten":
		right, err := p.projected(power("flatten"))
		return projection(flatten(identity()), right), err
	case "not":
		e, err := p.parse(power("not"))
		return not(e), err
	case "lbracket":
		return p.bracket()
	case "current":
		return identity(), nil
	case "expref":
		e, err := p.parse(0)
		e.reference, e.field = true, ""
		return e, err
	case "eof":
		return expr{}, p.incomplete()
	}
	return expr{}, p.failAt(t, "invalid token")
}

// bracket reads what follows a bracket at the beginning of an expression.
func (p *parser) bracket() (expr, error) {
	switch {
	case p.is("number"), p.is("colon"):
		return p.index(identity())
	case p.is("star") && p.ahead() == "rbracket":
		return p.listProjection(identity())
	}
	return p.multiList()
}

// listProjection reads the rest of [*].
func (p *parser) listProjection(left expr) (expr, error) {
	if err := p.match("star"); err != nil {
		return expr{}, err
	}
	if err := p.match("rbracket"); err != nil {
		return expr{}, err
	}
	right, err := p.projected(power("star"))
	return projection(left, right), err
}

// rest reads what follows left.
func (p *parser) rest(left expr) (expr, error) {
	t := p.advance()
	switch t.kind {
	case "dot":
		if p.is("star") {
			p.advance()
			right, err := p.projected(power("dot"))
			return valueProjection(left, right), err
		}
		right, err := p.afterDot(power("dot"))
		return chain(left, right), err
	case "pipe":
		right, err := p.parse(power("pipe"))
		return chain(left, right), err
	case "or":
		right, err := p.parse(power("or"))
		return either(left, right), err
	case "and":
		right, err := p.parse(power("and"))
		return both(left, right), err
	case "eq", "ne", "lt", "lte", "gt", "gte":
		right, err := p.parse(power(t.kind))
		return comparison(t.text, left, right), err
	case "lparen":
		return p.call(left)
	case "filter":
		return p.filter(left)
	case "flatten":
		right, err := p.projected(power("flatten"))
		return projection(flatten(left), right), err
	case "lbracket":
		if p.is("number") || p.is("colon") {
			return p.index(left)
		}
		return p.listProjection(left)
	}
	return expr{}, p.failAt(t, "invalid token")
}

func (p *parser) call(left expr) (expr, error) {
	if left.field == "" {
		name := p.tokens[max(p.at-2, 0)]
		return expr{}, p.failAt(name, "Invalid function name '"+name.text+"'")
	}
	var args []expr
	for !p.is("rparen") {
		arg, err := p.parse(0)
		if err != nil {
			return expr{}, err
		}
		if p.is("comma") {
			p.advance()
		}
		args = append(args, arg)
	}
	p.advance()
	return call(left.field, args), nil
}

// filter reads the rest of [?condition].
func (p *parser) filter(left expr) (expr, error) {
	condition, err := p.parse(0)
	if err != nil {
		return expr{}, err
	}
	if err := p.match("rbracket"); err != nil {
		return expr{}, err
	}
	right := identity()
	if !p.is("flatten") {
		right, err = p.projected(power("filter"))
	}
	return filtered(left, condition, right), err
}

// index reads a number or a slice in brackets; a slice is a projection.
func (p *parser) index(left expr) (expr, error) {
	if !p.is("colon") && p.ahead() != "colon" {
		n := p.advance().int()
		return chain(left, element(n)), p.match("rbracket")
	}
	var parts [3]value.Value
	for at := 0; !p.is("rbracket"); {
		switch t := p.advance(); t.kind {
		case "colon":
			if at++; at == 3 {
				return expr{}, p.failAt(t, "syntax error")
			}
		case "number":
			parts[at] = value.Int(t.int())
		default:
			return expr{}, p.failAt(t, "syntax error")
		}
	}
	p.advance()
	right, err := p.projected(power("star"))
	return projection(chain(left, slice(parts)), right), err
}

func (p *parser) multiList() (expr, error) {
	var all []expr
	for {
		e, err := p.parse(0)
		if err != nil {
			return expr{}, err
		}
		all = append(all, e)
		if p.is("rbracket") {
			p.advance()
			return listOf(all), nil
		}
		if err := p.match("comma"); err != nil {
			return expr{}, err
		}
	}
}

func (p *parser) multiHash() (expr, error) {
	var keys []string
	var all []expr
	for {
		key := p.token()
		if key.kind != "quoted_identifier" && key.kind != "unquoted_identifier" {
			return expr{}, p.unexpected("['quoted_identifier', 'unquoted_identifier']")
		}
		p.advance()
		if err := p.match("colon"); err != nil {
			return expr{}, err
		}
		e, err := p.parse(0)
		if err != nil {
			return expr{}, err
		}
		keys, all = append(keys, key.text), append(all, e)
		if p.is("comma") {
			p.advance()
		} else if p.is("rbrace") {
			p.advance()
			return hashOf(keys, all), nil
		}
	}
}

// projected reads what is done with each element of a projection.
func (p *parser) projected(min int) (expr, error) {
	switch t := p.token(); {
	case power(t.kind) < projectionStop:
		return identity(), nil
	case t.kind == "lbracket", t.kind == "filter":
		return p.parse(min)
	case t.kind == "dot":
		p.advance()
		return p.afterDot(min)
	default:
		return expr{}, p.failAt(t, "syntax error")
	}
}

func (p *parser) afterDot(min int) (expr, error) {
	switch t := p.token(); t.kind {
	case "quoted_identifier", "unquoted_identifier", "star":
		return p.parse(min)
	case "lbracket":
		p.advance()
		return p.multiList()
	case "lbrace":
		p.advance()
		return p.multiHash()
	default:
		return expr{}, p.failAt(t, "Expecting: ['quoted_identifier', 'unquoted_identifier', 'lbracket', 'lbrace'], got: "+
			t.kind)
	}
}
