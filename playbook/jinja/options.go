package jinja

import (
	"context"
	"fmt"
	"sort"

	"hark/modules/py/value"
)

// Syntax is how tags look and what whitespace around them is kept. NewSyntax gives Jinja's usual.
type Syntax struct {
	BlockStart, BlockEnd       string
	VariableStart, VariableEnd string
	CommentStart, CommentEnd   string
	// LineStatement and LineComment are prefixes of lines that are tags; "" for none.
	LineStatement, LineComment string
	// TrimBlocks removes the first newline after a block; LstripBlocks the whitespace before one on its line.
	TrimBlocks, LstripBlocks bool
	// KeepTrailingNewline keeps a single newline at the end of the template.
	KeepTrailingNewline bool
	// NewlineSequence replaces newlines in the text of the template; "" is "\n".
	NewlineSequence string
}

// NewSyntax is Jinja's syntax.
func NewSyntax() Syntax {
	return Syntax{
		BlockStart: "{%", BlockEnd: "%}",
		VariableStart: "{{", VariableEnd: "}}",
		CommentStart: "{#", CommentEnd: "#}",
	}
}

// rules returns the beginnings of tags, the longest first.
func (s *Syntax) rules() []rule {
	rules := []rule{
		{tokCommentBegin, s.CommentStart, "comment_begin"},
		{tokBlockBegin, s.BlockStart, "block_begin"},
		{tokVariableBegin, s.VariableStart, "variable_begin"},
	}
	if s.LineStatement != "" {
		rules = append(rules, rule{tokLineStatementBegin, s.LineStatement, "linestatement_begin"})
	}
	if s.LineComment != "" {
		rules = append(rules, rule{tokLineCommentBegin, s.LineComment, "linecomment_begin"})
	}
	sort.SliceStable(rules, func(i, j int) bool {
		if len(rules[i].prefix) != len(rules[j].prefix) {
			return len(rules[i].prefix) > len(rules[j].prefix)
		}
		return rules[i].name > rules[j].name
	})
	return rules
}

// check refuses a syntax that no lexer could work with.
func (s *Syntax) check() error {
	for _, d := range []string{s.BlockStart, s.BlockEnd, s.VariableStart, s.VariableEnd, s.CommentStart, s.CommentEnd} {
		if d == "" {
			return fmt.Errorf("cannot use an empty delimiter for tags")
		}
	}
	return nil
}

// Options are how a template is compiled.
type Options struct {
	// Env has the filters, tests and globals. Nil has none.
	Env    *Env
	Syntax Syntax
	// Name is the template's name, for errors and for relative loading; "" for a string of a playbook.
	Name string
	// Do and LoopControls switch the extensions of these names on.
	Do, LoopControls bool
	// Finalize is applied to each value that is printed; nil changes nothing.
	Finalize func(v value.Value) (value.Value, error)
	// Concat makes the result out of what was printed, also for macros and captured blocks; nil makes text.
	Concat func(nodes []value.Value) (value.Value, error)
	// Defer, if set, makes undefined values travel: a filter, test or call that is given one is not run and gives it,
	// and what fails is an undefined value too, whose error Defer words. It answers nil where the evaluation must
	// end.
	Defer func(kind, name string, err error) error
	// Constant, if set, makes of a text in an expression what it stands for.
	Constant func(ctx context.Context, s Scope, text string) (value.Value, error)
	// Limits bound an evaluation; a zero field is the default.
	Limits Limits
}

// Limits bound what one evaluation may use.
type Limits struct {
	// Depth is how deep macros, blocks and includes may be nested.
	Depth int
	// Output is the size of the printed text in bytes.
	Output int
}

// The default limits. They are far from what templates need and near enough to save the machine.
const (
	defaultSteps  = 25_000_000
	defaultDepth  = 200
	defaultOutput = 64 << 20
)

func (l Limits) withDefaults() Limits {
	if l.Depth == 0 {
		l.Depth = defaultDepth
	}
	if l.Output == 0 {
		l.Output = defaultOutput
	}
	return l
}

// Budget is what one piece of work may spend on evaluations: steps are loop rounds, calls, filters and printed text.
// An evaluation that leads to others, as that of a variable does, shares its budget with them.
type Budget struct{ Steps int }

// NewBudget returns the usual budget.
func NewBudget() *Budget { return &Budget{Steps: defaultSteps} }
