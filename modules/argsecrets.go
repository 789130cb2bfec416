package modules

import (
	"fmt"

	"hark/modules/py/value"
)

// secrets records the texts of a nolog parameter, before they are converted. Ansible finds here first that a value with
// sub-options has the wrong type.
func (c *checker) secrets(p *Param, args *value.Dict) {
	v := Argument(args, p.Name)
	if p.NoLog || p.NoLogIf != "" && value.SaysYes(Argument(args, p.NoLogIf)) {
		c.parsed.Secrets = appendLeaves(c.parsed.Secrets, v)
	}
	if p.Options == nil || value.IsNone(v) {
		return
	}
	list, isList := v.(*value.List)
	if !isList {
		list = value.NewList(v)
	}
	for _, item := range list.Items {
		if err := optionsIn(p, item); err != nil {
			c.errs = append(c.errs, err)
			return
		}
	}
}

func appendLeaves(out []string, v value.Value) []string {
	switch v := v.(type) {
	case value.None, value.Bool:
	case *value.List:
		for _, x := range v.Items {
			out = appendLeaves(out, x)
		}
	case *value.Dict:
		for i := range v.Len() {
			_, x := v.At(i)
			out = appendLeaves(out, x)
		}
	default:
		if s := Str(v); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// optionsIn returns why a value cannot hold sub-options.
func optionsIn(p *Param, v value.Value) error {
	if _, isDict := v.(*value.Dict); isDict {
		return nil
	}
	if text, isText := value.Text(v); isText {
		_, err := dictFromText(text)
		return err
	}
	return message(fmt.Sprintf("Value '%s' in the sub parameter field '%s' must by a %s, not '%s'", Str(v), p.Name, p.Type,
		ClassName(v)))
}

// message is an error with Ansible's or Python's text.
type message string

func (m message) Error() string { return string(m) }
