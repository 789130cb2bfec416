package general

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/beevik/etree"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/internal/xmltree"
	"hark/modules/py/value"
)

type xmlArgs struct {
	Path         string            `arg:"path,type=path,alias=dest|file" doc:"The document."`
	XMLString    string            `arg:"xmlstring" doc:"The document itself, instead of a path."`
	XPath        *string           `arg:"xpath" doc:"What is meant."`
	Namespaces   map[string]string `arg:"namespaces,default={}" doc:"The namespaces of the prefixes in xpath."`
	State        string            `arg:"state,default=present,choices=absent|present,alias=ensure" doc:"Whether it shall be there."`
	Value        value.Value       `arg:"value" doc:"The text of the elements, or of their attribute."`
	Attribute    value.Value       `arg:"attribute" doc:"The attribute that is meant, by its name."`
	AddChildren  []value.Value     `arg:"add_children,type=raw" doc:"Elements to add: names, or mappings of a name to a text, or to attributes and, under _, a list of children."`
	SetChildren  []value.Value     `arg:"set_children,type=raw" doc:"The elements that shall be there, and no others."`
	Count        bool              `arg:"count,default=no" doc:"Count what xpath selects."`
	PrintMatch   bool              `arg:"print_match,default=no" doc:"Tell the paths of what xpath selects."`
	PrettyPrint  bool              `arg:"pretty_print,default=no" doc:"Indent what is written."`
	Content      *string           `arg:"content,choices=attribute|text" doc:"Tell the texts or the attributes of what xpath selects."`
	InputType    string            `arg:"input_type,default=yaml,choices=xml|yaml" doc:"Whether children are given as YAML or as XML."`
	Backup       bool              `arg:"backup,default=no" doc:"Whether to keep the file that was there."`
	StripCDATA   bool              `arg:"strip_cdata_tags,default=no" doc:"Make plain text of CDATA sections."`
	InsertBefore bool              `arg:"insertbefore,default=no" doc:"Add children before the first element that xpath selects."`
	InsertAfter  bool              `arg:"insertafter,default=no" doc:"Add children after the last element that xpath selects."`
}

// XML is community.general.xml.
var XML = modules.Define("community.general.xml", "Change and read XML documents", runXML,
	modules.Edits("path"),
	modules.WithRules(xmlRules()),
	modules.Documented(`- community.general.xml: {path: /opt/app/config.xml, xpath: /config/port, value: "8080"}
- community.general.xml: {path: /opt/app/config.xml, xpath: "/config/user[@name='guest']", state: absent}
- community.general.xml:
    path: /opt/app/server.xml
    xpath: /Server/x:Service
    namespaces: {x: "http://example.com/server"}
    add_children: [{Connector: {port: "8443", _: [Upgrade]}}]
- community.general.xml: {path: /opt/app/config.xml, xpath: /config/port, content: text}
  register: port
`,
		modules.Return{Name: "actions", Type: "dict", When: "xpath is given", Doc: "xpath, namespaces and state."},
		modules.Return{Name: "count", Type: "int", When: "count, or content", Doc: "How many were found."},
		modules.Return{Name: "matches", Type: "list", When: "content, or print_match", Doc: "Texts or attributes by the names of their elements."},
		modules.Return{Name: "msg", Type: "str", When: "count, print_match or content", Doc: "What was found."},
		modules.Return{Name: "xmlstring", Type: "str", When: "xmlstring is given", Doc: "The document as it became."},
		modules.Return{Name: "backup_file", Type: "str", When: "backup and a change", Doc: "The copy of what was there."},
	))

func xmlRules() modules.Rules {
	xpath := []string{"xpath"}
	return modules.Rules{
		By: map[string][]string{"add_children": xpath, "attribute": {"value"}, "content": xpath, "set_children": xpath, "value": xpath},
		If: []modules.RequiredIf{
			{Param: "count", Value: true, Names: xpath}, {Param: "print_match", Value: true, Names: xpath},
			{Param: "insertbefore", Value: true, Names: xpath}, {Param: "insertafter", Value: true, Names: xpath},
		},
		OneOf: [][]string{
			{"path", "xmlstring"},
			{"add_children", "content", "count", "pretty_print", "print_match", "set_children", "value"},
		},
		Exclusive: [][]string{
			{"add_children", "content", "count", "print_match", "set_children", "value"},
			{"path", "xmlstring"},
			{"insertbefore", "insertafter"},
		},
	}
}

// document is one call of the module.
type document struct {
	env  *modules.Env
	args xmlArgs
	tree *xmltree.Tree
	was  *xmltree.Tree
	// tell are further keys of the result.
	tell *value.Dict
}

func runXML(_ context.Context, env *modules.Env, a xmlArgs) (modules.Result, error) {
	raw := []byte(a.XMLString)
	source := a.Path
	if a.XMLString == "" {
		info, err := os.Stat(a.Path)
		if err == nil && info.Mode().IsRegular() {
			raw, err = os.ReadFile(a.Path)
		}
		switch {
		case os.IsNotExist(err) || err == nil && !info.Mode().IsRegular():
			return modules.Fail("The target XML source '%s' does not exist.", orNoPath(a.Path))
		case err != nil:
			return modules.Fail("%s", oserr.Path(err, a.Path))
		}
	} else if source == "" {
		source = "xml_string"
	}
	if a.XPath != nil {
		if err := xmltree.CheckExpression(*a.XPath); err != nil {
			return modules.Fail("Syntax error in xpath expression: %s (%s)", *a.XPath, err)
		}
	}
	tree, err := xmltree.Parse(raw, xmltree.Options{NoBlanks: a.PrettyPrint, PlainCDATA: a.StripCDATA})
	if err != nil {
		return modules.Fail("Error while parsing document: %s (%s)", source, err)
	}
	d := &document{env: env, args: a, tree: tree, was: tree.Copy(), tell: value.NewDict()}
	if a.XPath == nil {
		return d.reformat(raw)
	}
	if err := d.act(); err != nil {
		return modules.Result{}, err
	}
	return d.finish()
}

func orNoPath(path string) string {
	if path == "" {
		return "None"
	}
	return path
}

// act does what the arguments ask for, in Ansible's order.
func (d *document) act() error {
	a := d.args
	switch {
	case a.PrintMatch:
		return d.printMatch()
	case a.Count:
		return d.count()
	case a.Content != nil:
		return d.contents(*a.Content == "text")
	case a.State == "absent":
		return d.remove()
	case a.SetChildren != nil:
		return d.setChildren(a.SetChildren)
	case len(a.AddChildren) > 0:
		return d.addChildren(a.AddChildren)
	case a.Value != nil:
		return d.setValue()
	}
	if found, err := d.isNode(d.tree.Root(), *a.XPath); found || err != nil {
		return err
	}
	return d.spawn(d.tree.Root(), *a.XPath)
}

// isNode tells whether an expression selects nodes, and not values, or is a comparison that holds.
func (d *document) isNode(from *etree.Element, expr string) (bool, error) {
	found, err := xmltree.Select(from, expr, d.args.Namespaces)
	var scalar *xmltree.ScalarError
	if errors.As(err, &scalar) {
		if holds, ok := scalar.Value.(bool); ok {
			return holds, nil
		}
	}
	return len(found) > 0 && !found[0].Value, err
}

// changed tells whether the document says something else than before: white space between elements does not count.
func (d *document) changed() bool {
	plain := func(t *xmltree.Tree) string {
		again, err := xmltree.Parse([]byte(t.Print(xmltree.Format{})), xmltree.Options{NoBlanks: true, PlainCDATA: true})
		if err != nil {
			return t.Print(xmltree.Format{})
		}
		return xmltree.PrintNode(again.Root())
	}
	return plain(d.was) != plain(d.tree)
}

// finish writes the document if it changed, and tells of it.
func (d *document) finish() (modules.Result, error) {
	namespaces := value.NewDict()
	for _, prefix := range slices.Sorted(maps.Keys(d.args.Namespaces)) {
		namespaces.Put(prefix, d.args.Namespaces[prefix])
	}
	data := value.DictOf("actions", value.DictOf("xpath", *d.args.XPath, "namespaces", namespaces, "state", d.args.State), "changed", modules.Here)
	for _, name := range []string{"count", "matches", "msg", "backup_file"} {
		if v, told := d.tell.Get(name); told {
			data.Put(name, v)
		}
	}
	d.tell = data
	res := modules.Result{Changed: d.changed(), Data: d.tell}
	if d.args.XMLString != "" {
		d.tell.Put("xmlstring", d.written())
	}
	if !res.Changed {
		return res, nil
	}
	if d.env.Diff {
		indented := xmltree.Format{Declaration: true, Pretty: true}
		res.Diff = []modules.Diff{{Before: d.was.Print(indented), After: d.tree.Print(indented)}}
	}
	return res, d.write()
}

func (d *document) written() string {
	return d.tree.Print(xmltree.Format{Declaration: true, Pretty: d.args.PrettyPrint})
}

func (d *document) write() error {
	if d.args.Path == "" || d.env.Check {
		return nil
	}
	path := fsx.RealPath(d.args.Path)
	if d.args.Backup {
		backup, err := fsx.Backup(path, time.Now())
		if err != nil {
			return err
		}
		d.tell.Put("backup_file", backup)
	}
	return fsx.WriteFile(path, []byte(d.written()), false)
}

// reformat only indents. A text that is given always counts as changed, as in Ansible.
func (d *document) reformat(raw []byte) (modules.Result, error) {
	if !d.args.PrettyPrint {
		return modules.Fail("Don't know what to do")
	}
	if d.args.XMLString != "" {
		return modules.Result{Changed: true, Data: value.DictOf("xmlstring", d.written())}, nil
	}
	if d.written() == string(raw) {
		return modules.Result{}, nil
	}
	err := d.write()
	return modules.Result{Changed: true, Data: d.tell}, err
}

// selected are the nodes of xpath; a failure if there are none, in the words of words.
func (d *document) selected(words string) ([]etree.Token, error) {
	found, err := xmltree.Select(d.tree.Root(), *d.args.XPath, d.args.Namespaces)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0 || found[0].Value:
		return nil, tool.Fail(nil, "Xpath %s does not reference a node!%s", *d.args.XPath, words)
	}
	var list []etree.Token
	for _, m := range found {
		list = append(list, m.Node)
	}
	return list, nil
}

func (d *document) printMatch() error {
	found, err := xmltree.Select(d.tree.Root(), *d.args.XPath, d.args.Namespaces)
	if err != nil {
		return err
	}
	paths := []any{}
	for _, m := range found {
		if m.Value {
			return fmt.Errorf("cannot tell the path of %q: it selects values", *d.args.XPath)
		}
		paths = append(paths, xmltree.Path(m.Node))
	}
	d.tell.Put("matches", []any{})
	d.tell.Put("msg", fmt.Sprintf("selector '%s' match: %s", *d.args.XPath, modules.PyJSON(paths)))
	return nil
}

func (d *document) count() error {
	expr := *d.args.XPath
	if !strings.HasPrefix(expr, "//") {
		expr = "/" + expr // so that /a counts every a
	}
	n, err := xmltree.Number(d.tree.Root(), "count("+expr+")", d.args.Namespaces)
	d.tell.Put("count", int64(n))
	d.tell.Put("msg", fmt.Sprintf("found %d nodes", int64(n)))
	return err
}

// contents tells the texts or the attributes of elements.
func (d *document) contents(text bool) error {
	nodes, err := d.selected("")
	if err != nil {
		return err
	}
	matches := []any{}
	for _, n := range nodes {
		e, ok := n.(*etree.Element)
		if !ok {
			continue
		}
		var content any
		if text {
			if s, ok := xmltree.Text(e); ok {
				content = s
			}
		} else {
			attributes := value.NewDict()
			for _, a := range xmltree.Attributes(e) {
				attributes.Put(a.Name, a.Value)
			}
			content = attributes
		}
		matches = append(matches, value.DictOf(xmltree.Clark(e), content))
	}
	d.tell.Put("matches", matches)
	d.tell.Put("count", int64(len(matches)))
	d.tell.Put("msg", int64(len(matches)))
	return nil
}

// remove takes out what xpath selects. It is asked for anew each time, since what is taken out takes along what is in it.
func (d *document) remove() error {
	failed := func(err string) error {
		return tool.Fail(nil, "Couldn't delete xpath target: %s (%s)", *d.args.XPath, err)
	}
	found, err := xmltree.Select(d.tree.Root(), *d.args.XPath, d.args.Namespaces)
	if err != nil {
		return failed(err.Error())
	}
	for _, m := range found {
		e, _ := m.Node.(*etree.Element)
		switch {
		case m.Key != "":
			e.RemoveAttr(m.Key)
		case m.Value:
			return failed("Argument must be bytes or unicode, got 'NoneType'")
		case m.Node == etree.Token(d.tree.Root()):
			return failed("'NoneType' object has no attribute 'remove'")
		default:
			xmltree.Remove(m.Node)
		}
	}
	return nil
}

// dump is the document as failures show it: as Python prints bytes.
func (d *document) dump() string {
	text := d.tree.Print(xmltree.Format{Pretty: true, ASCII: true})
	return "b" + modules.Repr(strings.ToValidUTF8(text, "?"))
}
