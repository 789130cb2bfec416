package general

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/beevik/etree"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/xmltree"
	"hark/modules/py/value"
)

// setValue gives the elements of xpath, or their attribute, a value; what is not there is made.
func (d *document) setValue() error {
	a := d.args
	found, err := d.isNode(d.tree.Root(), *a.XPath)
	if err == nil && !found {
		err = d.spawn(d.tree.Root(), *a.XPath)
	}
	var ended *modules.Ended
	if err != nil && !errors.As(err, &ended) {
		return tool.Fail(nil, "%sXpath %s causes a failure: %s\n  -- tree is %s", d.namespaceHint(), *a.XPath, err, d.dump())
	}
	if err != nil {
		return err
	}
	nodes, err := d.selected(" tree is " + d.dump())
	if err != nil {
		return err
	}
	text, ok := value.Text(a.Value)
	if !ok {
		return tool.Fail(nil, "Argument must be bytes or unicode, got '%s'", modules.ClassName(a.Value))
	}
	name, _ := value.Text(a.Attribute)
	if name != "" {
		if name, err = d.clark(name); err != nil {
			return err
		}
	}
	for _, n := range nodes {
		if e, ok := n.(*etree.Element); ok {
			if err := assign(e, name, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// assign sets an attribute, or the text where no attribute is named.
func assign(e *etree.Element, name, value string) error {
	if name != "" {
		return xmltree.SetAttribute(e, name, value)
	}
	if text, ok := xmltree.Text(e); !ok || text != value {
		xmltree.SetText(e, value)
	}
	return nil
}

// namespaceHint tells users why an expression without prefixes finds nothing.
func (d *document) namespaceHint() string {
	if !xmltree.Declares(d.tree.Root()) || strings.Contains(*d.args.XPath, ":") {
		return ""
	}
	return "XML document has namespace(s) defined, but no namespace prefix(es) used in xpath!\n"
}

const (
	xmlName   = `[a-zA-Z-][a-zA-Z0-9_\-\.]*`
	xmlNames  = xmlName + `|` + xmlName + `:` + xmlName
	xmlString = `('(?:.*)'|"(?:.*)")`
)

var (
	stepElement     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*)/(` + xmlNames + `)$`) })
	stepElementText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(.*)/(` + xmlNames + `)/text\(\)=` + xmlString + `$`)
	})
	stepAttribute    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*)/@(` + xmlNames + `)$`) })
	stepAttributeIs  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*)/@(` + xmlNames + `)=` + xmlString + `$`) })
	stepWithFilter   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*)/(` + xmlNames + `)\[(.*)\]$`) })
	stepTextOfParent = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*)/text\(\)=` + xmlString + `$`) })
)

// spawn makes what a simple expression selects, from its last step backwards.
func (d *document) spawn(from *etree.Element, expr string) error {
	expr = strings.TrimSpace(expr)
	unquote := func(s string) *string { s = s[1 : len(s)-1]; return &s }
	if m := stepElement().FindStringSubmatch(expr); m != nil {
		return d.spawnElement(from, m[1], m[2], nil, "")
	}
	if m := stepElementText().FindStringSubmatch(expr); m != nil {
		return d.spawnElement(from, m[1], m[2], unquote(m[3]), "")
	}
	if m := stepAttribute().FindStringSubmatch(expr); m != nil {
		return d.spawnAttribute(from, m[1], m[2], nil)
	}
	if m := stepAttributeIs().FindStringSubmatch(expr); m != nil {
		return d.spawnAttribute(from, m[1], m[2], unquote(m[3]))
	}
	if m := stepWithFilter().FindStringSubmatch(expr); m != nil {
		return d.spawnElement(from, m[1], m[2], nil, m[3])
	}
	if m := stepTextOfParent().FindStringSubmatch(expr); m != nil {
		return d.spawnText(from, m[1], *unquote(m[2]))
	}
	return tool.Fail(nil, "Can't process Xpath %s in order to spawn nodes! tree is %s", expr, d.dump())
}

// parents are the elements in which something shall be made, made themselves if need be.
func (d *document) parents(from *etree.Element, expr string) ([]*etree.Element, error) {
	ok, err := d.isNode(from, expr)
	if err == nil && !ok {
		err = d.spawn(from, expr)
	}
	if err != nil {
		return nil, err
	}
	found, err := xmltree.Select(from, expr, d.args.Namespaces)
	var list []*etree.Element
	for _, m := range found {
		if e, ok := m.Node.(*etree.Element); ok && !m.Value {
			list = append(list, e)
		}
	}
	return list, err
}

// spawnElement makes one element, with what its filter asks for. It comes to stand in the last of the parents, as in Ansible.
func (d *document) spawnElement(from *etree.Element, parent, name string, text *string, filter string) error {
	parents, err := d.parents(from, parent)
	if err != nil {
		return err
	}
	if name, err = d.clark(name); err != nil {
		return err
	}
	e, err := xmltree.NewElement(name, nil)
	if err != nil {
		return err
	}
	if text != nil && *text != "" {
		xmltree.SetText(e, *text)
	}
	for _, p := range parents {
		xmltree.Append(p, e)
		if filter == "" {
			continue
		}
		for _, part := range strings.Split(filter, " and ") {
			if err := d.spawn(e, "./"+strings.TrimSpace(part)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *document) spawnAttribute(from *etree.Element, parent, name string, value *string) error {
	parents, err := d.parents(from, parent)
	if err != nil {
		return err
	}
	if name, err = d.clark(name); err != nil {
		return err
	}
	for _, e := range parents {
		if value == nil {
			value = new(string)
		}
		if err := xmltree.SetAttribute(e, name, *value); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) spawnText(from *etree.Element, parent, text string) error {
	parents, err := d.parents(from, parent)
	for _, e := range parents {
		if err := assign(e, "", text); err != nil {
			return err
		}
	}
	return err
}

// clark is a name with its prefix resolved, in Clark's notation.
func (d *document) clark(name string) (string, error) {
	prefix, local, ok := strings.Cut(name, ":")
	if !ok {
		return name, nil
	}
	uri, known := d.args.Namespaces[prefix]
	if !known {
		return "", errors.New(modules.Repr(prefix)) // what Python says of a missing key
	}
	return "{" + uri + "}" + local, nil
}
