package jinja

import "hark/modules/py/value"

// The tree. Expressions are evaluated, statements executed; every node knows its line.

type expr interface{ exprLine() int }

type stmt interface{ stmtLine() int }

type pos struct{ line int32 }

func (p pos) exprLine() int { return int(p.line) }
func (p pos) stmtLine() int { return int(p.line) }

// Expressions.
type (
	constExpr struct {
		pos
		v value.Value
	}
	nameExpr struct {
		pos
		name string
	}
	// nsRef is the target ns.attr of a set.
	nsRef struct {
		pos
		name, attr string
	}
	tupleExpr struct {
		pos
		items []expr
	}
	listExpr struct {
		pos
		items []expr
	}
	dictExpr struct {
		pos
		keys, vals []expr
	}
	// binaryExpr is + - * / // % **, and, or.
	binaryExpr struct {
		pos
		op          string
		left, right expr
	}
	// unaryExpr is -, + and not.
	unaryExpr struct {
		pos
		op string
		x  expr
	}
	concatExpr struct {
		pos
		items []expr
	}
	compareExpr struct {
		pos
		first expr
		ops   []operand
	}
	condExpr struct {
		pos
		test, then, otherwise expr // otherwise may be nil
	}
	attrExpr struct {
		pos
		x    expr
		name string
	}
	itemExpr struct {
		pos
		x, key expr
	}
	sliceExpr struct {
		pos
		start, stop, step expr // any may be nil
	}
	callExpr struct {
		pos
		fn   expr
		args callArgs
	}
	filterExpr struct {
		pos
		x    expr // nil for the body of a block
		name string
		args callArgs
	}
	testExpr struct {
		pos
		x    expr
		name string
		args callArgs
	}
)

type operand struct {
	op string // == != < <= > >= in notin
	x  expr
}

type callArgs struct {
	pos     []expr
	names   []string
	kw      []expr
	star    expr // *args
	starred expr // **kw
}

// Statements.
type (
	// outputStmt prints; text of the template is a textExpr.
	outputStmt struct {
		pos
		items []expr
	}
	textExpr struct {
		pos
		text string
	}
	forStmt struct {
		pos
		target    expr
		iter      expr
		test      expr // nil without if
		body      []stmt
		orElse    []stmt
		recursive bool
	}
	ifStmt struct {
		pos
		test   expr
		body   []stmt
		elifs  []*ifStmt
		orElse []stmt
	}
	withStmt struct {
		pos
		targets, values []expr
		body            []stmt
	}
	setStmt struct {
		pos
		target, x expr
	}
	setBlockStmt struct {
		pos
		target expr
		filter *filterExpr
		body   []stmt
	}
	filterStmt struct {
		pos
		filter *filterExpr
		body   []stmt
	}
	// scopeStmt is the body of autoescape, which has an own scope and no other effect here.
	scopeStmt struct {
		pos
		body []stmt
	}
	macroStmt struct {
		pos
		name     string // "" for the body of a call block
		params   []*nameExpr
		defaults []expr // of the last parameters
		body     []stmt
	}
	callStmt struct {
		pos
		call  *callExpr
		macro *macroStmt
	}
	blockStmt struct {
		pos
		name             string
		scoped, required bool
		body             []stmt
	}
	extendsStmt struct {
		pos
		template expr
	}
	includeStmt struct {
		pos
		template      expr
		ignoreMissing bool
		withContext   bool
	}
	importStmt struct {
		pos
		template    expr
		target      string
		withContext bool
	}
	fromStmt struct {
		pos
		template       expr
		names, aliases []string
		withContext    bool
	}
	doStmt struct {
		pos
		x expr
	}
	loopControl struct {
		pos
		leave bool // break, else continue
	}
)
