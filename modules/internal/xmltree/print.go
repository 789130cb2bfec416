package xmltree

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/beevik/etree"
)

// Format is how a document is written.
type Format struct {
	// Declaration begins with the XML declaration.
	Declaration bool
	// Pretty indents elements that hold no text.
	Pretty bool
	// ASCII writes other characters by their numbers.
	ASCII bool
}

// Print is the document as text.
func (t *Tree) Print(f Format) string {
	p := printer{Format: f}
	if f.Declaration {
		p.WriteString("<?xml version='1.0' encoding='UTF-8'?>\n")
	}
	after := false
	for _, c := range t.doc.Child {
		switch c := c.(type) {
		case *etree.Element:
			p.node(c, 0, f.Pretty)
			after = true
		case *etree.Comment:
			p.beside(c, after)
		case *etree.ProcInst:
			if c.Target != "xml" {
				p.beside(c, after)
			}
		case *etree.Directive:
			p.WriteString(doctype(c.Data, t.Root().Tag))
		}
	}
	if f.Pretty {
		p.WriteByte('\n')
	}
	return p.String()
}

// PrintNode is a node as text, in ASCII: as lxml has it with the text that comes after it.
func PrintNode(n etree.Token) string {
	p := printer{Format: Format{ASCII: true}}
	p.node(n, 0, false)
	for i := n.Index() + 1; n.Parent() != nil && i < len(n.Parent().Child) && isText(n.Parent().Child[i]); i++ {
		p.node(n.Parent().Child[i], 0, false)
	}
	return p.String()
}

type printer struct {
	strings.Builder
	Format
}

// beside writes what stands before or after the root.
func (p *printer) beside(n etree.Token, after bool) {
	if after && p.Pretty {
		p.WriteByte('\n')
	}
	p.node(n, 0, p.Pretty)
	if !after && p.Pretty {
		p.WriteByte('\n')
	}
}

func (p *printer) node(n etree.Token, level int, pretty bool) {
	switch n := n.(type) {
	case *etree.Element:
		p.element(n, level, pretty)
	case *etree.CharData:
		if n.IsCData() {
			p.WriteString("<![CDATA[" + n.Data + "]]>")
			return
		}
		p.text(textEscapes, n.Data)
	case *etree.Comment:
		p.WriteString("<!--" + n.Data + "-->")
	case *etree.ProcInst:
		p.WriteString("<?" + strings.TrimRight(n.Target+" "+n.Inst, " ") + trailing(n.Inst) + "?>")
	}
}

// trailing is the white space at the end of an instruction, which stays.
func trailing(inst string) string { return inst[len(strings.TrimRight(inst, " ")):] }

func (p *printer) element(e *etree.Element, level int, pretty bool) {
	p.WriteString("<" + e.FullTag())
	for _, declared := range []bool{true, false} { // declarations of namespaces come first
		for _, a := range e.Attr {
			if isDeclaration(a) == declared {
				p.WriteString(" " + a.FullKey() + `="`)
				p.text(valueEscapes, a.Value)
				p.WriteByte('"')
			}
		}
	}
	if len(e.Child) == 0 {
		p.WriteString("/>")
		return
	}
	p.WriteByte('>')
	for _, c := range e.Child {
		pretty = pretty && !isText(c)
	}
	for _, c := range e.Child {
		p.indent(level+1, pretty)
		p.node(c, level+1, pretty)
	}
	p.indent(level, pretty)
	p.WriteString("</" + e.FullTag() + ">")
}

func (p *printer) indent(level int, pretty bool) {
	if pretty {
		p.WriteString("\n" + strings.Repeat("  ", level))
	}
}

var (
	textEscapes  = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")
	valueEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\n", "&#10;", "\t", "&#9;", "\r", "&#13;")
)

func (p *printer) text(escapes *strings.Replacer, text string) {
	text = escapes.Replace(text)
	if !p.ASCII {
		p.WriteString(text)
		return
	}
	for _, r := range text {
		if r < 0x80 {
			p.WriteRune(r)
		} else {
			fmt.Fprintf(p, "&#%d;", r)
		}
	}
}

var doctypePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^DOCTYPE\s+([^\s\[]+)(?:\s+PUBLIC\s+(".*?"|'.*?')\s+(".*?"|'.*?')|\s+SYSTEM\s+(".*?"|'.*?'))?\s*(?:\[(.*)\])?\s*$`)
})

// doctype is a document type as libxml2 writes it; one that speaks of another element than the root is lost.
func doctype(data, root string) string {
	m := doctypePattern().FindStringSubmatch(data)
	if m == nil || m[1] != root {
		return ""
	}
	out := "<!DOCTYPE " + m[1]
	switch {
	case m[2] != "":
		out += " PUBLIC " + quoted(m[2]) + " " + quoted(m[3])
	case m[4] != "":
		out += " SYSTEM " + quoted(m[4])
	}
	if inner := strings.TrimSpace(m[5]); inner != "" {
		out += " [\n" + inner + "\n]"
	}
	return out + ">\n"
}

// quoted is a quoted text in double quotes, if it has none inside.
func quoted(text string) string {
	if inner := text[1 : len(text)-1]; !strings.Contains(inner, `"`) {
		return `"` + inner + `"`
	}
	return text
}
