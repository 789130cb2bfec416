package view

import (
	"fmt"
	"strings"
)

// xmlNode is an element with text or with children, printed the way Ansible's reports are: indented by tabs,
// text on the line of its element.
type xmlNode struct {
	tag      string
	attrs    []xmlAttr
	body     string
	children []xmlNode
}

type xmlAttr struct{ name, value string }

func (n xmlNode) text(depth int) string {
	indent := strings.Repeat("\t", depth)
	var b strings.Builder
	b.WriteString(indent + "<" + n.tag)
	for _, a := range n.attrs {
		fmt.Fprintf(&b, " %s=\"%s\"", a.name, escapeXML(a.value))
	}
	switch {
	case len(n.children) > 0:
		b.WriteString(">\n")
		for _, c := range n.children {
			b.WriteString(c.text(depth + 1))
		}
		b.WriteString(indent + "</" + n.tag + ">\n")
	case n.body != "":
		b.WriteString(">" + escapeXML(n.body) + "</" + n.tag + ">\n")
	default:
		b.WriteString("/>\n")
	}
	return b.String()
}

// escapeXML leaves out the characters that XML 1.0 cannot hold in any form.
func escapeXML(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, s)
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}
