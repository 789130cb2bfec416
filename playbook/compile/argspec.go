package compile

import (
	"os"
	"strings"

	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/syntax"
)

// ArgSpec is what a play's variables are checked against before its first task, since ansible-core 2.20.
type ArgSpec struct {
	Name, Path string
	Options    *value.Dict
}

// argSpec returns the argument spec that the play names with validate_argspec; nil if it names none.
func (k *keywords) argSpec() *ArgSpec {
	v := k.get("validate_argspec")
	at := k.p.self.attrs["validate_argspec"]
	if v == nil || !value.IsTrue(v) {
		return nil
	}
	spec := &ArgSpec{}
	var wrong string
	if name, isText := value.Text(v); isText {
		spec.Name = name
	} else if k.p.own("name") != nil {
		spec.Name = k.text("name")
	}
	if spec.Name == "" {
		wrong = "A play name is required when validate_argspec is True. Alternatively, set validate_argspec to the name " +
			"of an argument spec. "
	}
	tried := specFiles(k.p.self.place.File)
	for _, path := range tried {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			spec.Path = path
			break
		}
	}
	if spec.Path == "" {
		wrong += "A playbook meta file is required. Considered:\n  - " + strings.Join(tried, "\n  - ")
	}
	l := k.p.project.loader
	if wrong = strings.TrimSuffix(wrong, " "); wrong != "" {
		k.refuse(at, wrong, l.Errorf(k.p.self.place, "%s", wrong))
		return nil
	}
	n, err := l.Node(spec.Path)
	if err != nil {
		k.err = err
		return nil
	}
	all := n.Get("argument_specs")
	if all != nil {
		n = all
	}
	if own := n.Get(spec.Name); all != nil && own != nil {
		spec.Options, _ = value.Under(own.Value, "options").(*value.Dict)
		n = own
	}
	if spec.Options == nil {
		wrong = "No argument spec named '" + spec.Name + "' in " + spec.Path + ". Minimally expected:\nargument_specs:\n  " +
			spec.Name + ":\n    options: {}"
		k.refuse(at, wrong, l.Errorf(syntax.Place{File: spec.Path, Line: n.Mark.Line, Column: n.Mark.Column}, "%s", wrong))
		return nil
	}
	return spec
}

// refuse records that a keyword is wrong, and why.
func (k *keywords) refuse(at syntax.Attr, why string, cause *syntax.Error) {
	const outer = "Error processing keyword 'validate_argspec'"
	head := outer + ".\nOrigin: <unknown>\n\n" + value.Printed(at.Value)
	if _, isText := value.Text(at.Value); isText {
		head = k.p.project.loader.Errorf(at.Place, outer+".").Msg
	}
	k.err = &syntax.Error{Place: at.Place, Msg: outer + ": " + why + "\n\n" + head + "\n\n<<< caused by >>>\n\n" +
		cause.Msg}
}

// specFiles returns where the argument specs of a playbook may be.
func specFiles(book string) []string {
	extensions := []string{".yml", ".yaml", ".json"}
	base := book
	for _, ext := range extensions {
		if strings.HasSuffix(book, ext) {
			base = strings.TrimSuffix(book, ext)
			break
		}
	}
	var out []string
	for _, ext := range append(extensions, "") {
		out = append(out, base+".meta"+ext)
	}
	return out
}

// validating returns the implicit task that checks the variables of the play.
func (p *Play) validating(spec *ArgSpec) *block {
	b := &block{o: p.top()}
	o := p.top()
	o.isTask, o.parent, o.when = true, b.o, p.conditional
	if len(p.self.tags) == 0 {
		o.tags = []value.Value{value.Str("always")}
	}
	where := value.DictOf("type", value.Str("play"), "name", value.Str(spec.Name), "argument_spec_name",
		value.Str(spec.Name), "path", value.Str(spec.Path))
	args := value.DictOf("argument_spec", spec.Options, "validate_args_context", where)
	src := &syntax.Task{Name: "Validating arguments against arg spec " + spec.Name, Action: modules.ValidateArgumentSpec,
		Args: args, Attrs: syntax.Attrs{}}
	b.body = []item{{task: &task{o: o, src: src, action: modules.ValidateArgumentSpec}}}
	return b
}
