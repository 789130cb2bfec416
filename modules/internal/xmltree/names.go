package xmltree

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/beevik/etree"
)

const xmlNamespace = "http://www.w3.org/XML/1998/namespace"

func isDeclaration(a etree.Attr) bool { return a.Space == "xmlns" || a.Space == "" && a.Key == "xmlns" }

// declares is the namespace that an element declares for a prefix, "" being the default one.
func declares(e *etree.Element, prefix string) (uri string, ok bool) {
	for _, a := range e.Attr {
		if isDeclaration(a) && declaredPrefix(a) == prefix {
			return a.Value, true
		}
	}
	return "", false
}

func declaredPrefix(a etree.Attr) string {
	if a.Space == "" {
		return ""
	}
	return a.Key
}

// lookup is the namespace that a prefix stands for at an element.
func lookup(e *etree.Element, prefix string) (uri string, ok bool) {
	if prefix == "xml" {
		return xmlNamespace, true
	}
	for ; e != nil; e = e.Parent() {
		if uri, ok := declares(e, prefix); ok {
			return uri, true
		}
	}
	return "", prefix == ""
}

// prefixOf is a prefix that stands for a namespace at an element; named leaves out the default namespace.
func prefixOf(e *etree.Element, uri string, named bool) (prefix string, ok bool) {
	for at := e; at != nil; at = at.Parent() {
		for _, a := range at.Attr {
			if !isDeclaration(a) || a.Value != uri || named && a.Space == "" {
				continue
			}
			if now, _ := lookup(e, declaredPrefix(a)); now == uri {
				return declaredPrefix(a), true
			}
		}
	}
	return "", false
}

// Clark is the name of an element in Clark's notation, {namespace}name.
func Clark(e *etree.Element) string { return clark(e, e.Space, e.Tag) }

func clark(e *etree.Element, prefix, name string) string {
	if uri, _ := lookup(e, prefix); uri != "" {
		return "{" + uri + "}" + name
	}
	return name
}

// splitClark parts a name in Clark's notation.
func splitClark(name string) (uri, local string, err error) {
	local = name
	if rest, ok := strings.CutPrefix(name, "{"); ok {
		uri, local, ok = strings.Cut(rest, "}")
		if !ok {
			local = ""
		}
	}
	for i, r := range local {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || r != '-' && r != '.' && !unicode.IsDigit(r)) {
			return "", "", said("Invalid tag name %s", pyText(name))
		}
	}
	if local == "" {
		return "", "", said("Invalid tag name %s", pyText(name))
	}
	return uri, local, nil
}

func pyText(s string) string {
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `\'`) + "'"
}

// Attribute is an attribute of an element.
type Attribute struct {
	// Name is in Clark's notation.
	Name, Value string
}

// Attributes are the attributes of an element, without the declarations of namespaces.
func Attributes(e *etree.Element) []Attribute {
	var list []Attribute
	for _, a := range e.Attr {
		if !isDeclaration(a) {
			list = append(list, Attribute{attributeName(e, a), a.Value})
		}
	}
	return list
}

func attributeName(e *etree.Element, a etree.Attr) string {
	if a.Space == "" {
		return a.Key // the default namespace is none of attributes
	}
	return clark(e, a.Space, a.Key)
}

// SetAttribute sets an attribute by its name in Clark's notation.
func SetAttribute(e *etree.Element, name, value string) error {
	for i, a := range e.Attr {
		if !isDeclaration(a) && attributeName(e, a) == name {
			e.Attr[i].Value = value
			return nil
		}
	}
	uri, local, err := splitClark(name)
	if err != nil {
		return err
	}
	e.CreateAttr(qualified(e, uri, local, true), value)
	return nil
}

// qualified is a name with the prefix of its namespace, which is declared where it is not known.
func qualified(e *etree.Element, uri, local string, named bool) string {
	if uri == "" {
		return local
	}
	prefix, ok := prefixOf(e, uri, named)
	if !ok {
		prefix = freePrefix(e)
		e.CreateAttr("xmlns:"+prefix, uri)
	}
	if prefix == "" {
		return local
	}
	return prefix + ":" + local
}

func freePrefix(e *etree.Element) string {
	for n := 0; ; n++ {
		prefix := "ns" + strconv.Itoa(n)
		if _, taken := lookup(e, prefix); !taken {
			return prefix
		}
	}
}

// NewElement is an element that is in no document yet, by its name in Clark's notation.
func NewElement(name string, attributes []Attribute) (*etree.Element, error) {
	uri, local, err := splitClark(name)
	if err != nil {
		return nil, err
	}
	e := etree.NewElement(local)
	if uri != "" {
		e.CreateAttr("xmlns:ns0", uri)
		e.Space = "ns0"
	}
	for _, a := range attributes {
		if err := SetAttribute(e, a.Name, a.Value); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// adopt takes off declarations of namespaces that an element and what is in it need no more where it came to stand.
func adopt(e *etree.Element) {
	var kept []etree.Attr
	for _, a := range e.Attr {
		if isDeclaration(a) && e.Parent() != nil {
			if prefix, ok := prefixOf(e.Parent(), a.Value, false); ok && rename(e, declaredPrefix(a), prefix, true) {
				continue
			}
		}
		kept = append(kept, a)
	}
	e.Attr = kept
	for _, c := range e.ChildElements() {
		adopt(c)
	}
}

// rename gives elements and attributes another prefix. It tells whether nothing needs the old one: attributes have no default namespace.
func rename(e *etree.Element, from, to string, top bool) bool {
	if _, again := declares(e, from); again && !top {
		return true
	}
	free := true
	if e.Space == from {
		e.Space = to
	}
	for i, a := range e.Attr {
		switch {
		case isDeclaration(a) || a.Space != from || from == "":
		case to == "":
			free = false
		default:
			e.Attr[i].Space = to
		}
	}
	for _, c := range e.ChildElements() {
		free = rename(c, from, to, false) && free
	}
	return free
}

// Declares tells whether an element declares a namespace.
func Declares(e *etree.Element) bool { return slices.ContainsFunc(e.Attr, isDeclaration) }
