// Package pages reads what pages of documentation tell people to type: the blocks of code in Markdown, and the
// commands in them with what they are said to print. It knows as much of Markdown as that takes.
package pages

import (
	"regexp"
	"strings"
	"sync"
)

// Block is a block of code.
type Block struct {
	Line  int    // of its first line in the page, from 1
	Info  string // what stands behind the fence, such as "yaml"; "" of one that is indented
	Lines []string
}

// Blocks are the blocks of code of a page, in order: fenced ones, also within lists, and paragraphs that are indented
// by four.
func Blocks(markdown string) []Block {
	var all []Block
	var open *Block
	fence, blank := "", true
	for i, line := range strings.Split(markdown, "\n") {
		text := strings.TrimLeft(line, " ")
		switch {
		case fence != "" && strings.TrimSpace(line) == "```":
			all, open, fence = append(all, *open), nil, ""
		case fence != "":
			open.Lines = append(open.Lines, strings.TrimPrefix(line, strings.TrimSuffix(fence, "```")))
		case strings.HasPrefix(text, "```"):
			if open != nil {
				all = append(all, *open)
			}
			fence = line[:len(line)-len(text)] + "```"
			open = &Block{Line: i + 2, Info: strings.TrimPrefix(text, "```")}
		case strings.HasPrefix(line, "    ") && (open != nil || blank):
			if open == nil {
				open = &Block{Line: i + 1}
			}
			open.Lines = append(open.Lines, line[4:])
		case open != nil:
			all, open = append(all, *open), nil
		}
		blank = text == ""
	}
	if open != nil {
		all = append(all, *open)
	}
	return all
}

// Command is a line to type, with what the page shows of its output.
type Command struct {
	Line  int
	Text  string
	Shown []string
}

// Commands are those of a block in which each is written behind a prompt: "$ ", and between that and the next what it
// prints.
func (b Block) Commands() []Command {
	var all []Command
	for i, line := range b.Lines {
		if text, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, Command{Line: b.Line + i, Text: text})
		} else if len(all) > 0 {
			last := &all[len(all)-1]
			last.Shown = append(last.Shown, line)
		}
	}
	return all
}

// Missing is the first of the shown lines that an output has not, in their order; "" if it has all. "..." in a line
// is any text, and a line of it any lines. Blanks at the ends of lines count for nothing, nor does the width of columns: it
// depends on what else is in them.
func (c Command) Missing(output string) string {
	lines := strings.Split(output, "\n")
	for _, shown := range c.Shown {
		shown = narrow(shown)
		if shown == "" || shown == "..." {
			continue
		}
		want := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(shown), `\.\.\.`, ".*") + "$")
		for len(lines) > 0 && !want.MatchString(narrow(lines[0])) {
			lines = lines[1:]
		}
		if len(lines) == 0 {
			return shown
		}
		lines = lines[1:]
	}
	return ""
}

var columnGap = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`  +`) })

// narrow returns a line with two blanks between its columns.
func narrow(line string) string { return columnGap().ReplaceAllString(strings.TrimSpace(line), "  ") }

// fileName is how the first line of a block names the file that the block is.
var fileName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^# ([\w./-]+)$`) })

// File is the name of the file that the block is, which its first line says in a comment; "" if it is none.
func (b Block) File() string {
	if b.Info == "" || strings.HasPrefix(b.Info, "console") || len(b.Lines) == 0 {
		return ""
	}
	if m := fileName().FindStringSubmatch(b.Lines[0]); m != nil {
		return m[1]
	}
	return ""
}
