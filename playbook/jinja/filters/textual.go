package filters

import (
	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/methods"
)

// ansibleTexts are Ansible's other filters of text.
func ansibleTexts() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"split":     split,
		"comment":   comment,
		"urlsplit":  urlSplit,
		"urldecode": urlDecode,
	}
}

func split(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	s, ok := value.Text(in)
	if !ok {
		return nil, value.TypeErrorf("descriptor 'split' for 'str' objects doesn't apply to a '%s' object", in.Type())
	}
	return methods.Of(value.Str(""), "split")(value.TextLike(in, s), args)
}
