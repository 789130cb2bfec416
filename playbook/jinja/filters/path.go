package filters

import (
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// ansiblePaths are Ansible's filters of file names.
func ansiblePaths() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"basename": pathFilter(func(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }),
		"dirname":  pathFilter(dirname),
	}
}

func pathFilter(f func(string) string) jinja.Filter {
	return func(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
		s, err := pathText(in)
		return value.TextLike(in, f(s)), err
	}
}

// expanding is pathFilter for a function that gives back a path in which there is nothing to expand.
func expanding(f func(string) string) jinja.Filter {
	return func(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
		s, err := pathText(in)
		return value.SameText(in, f(s)), err
	}
}

// pathText is text that Python's os.path takes.
func pathText(v value.Value) (string, error) {
	s, ok := value.Text(v)
	if !ok {
		return "", value.TypeErrorf("expected str, bytes or os.PathLike object, not %s", v.Type())
	}
	return s, nil
}

func dirname(s string) string {
	head := s[:strings.LastIndexByte(s, '/')+1]
	if strings.Trim(head, "/") == "" {
		return head
	}
	return strings.TrimRight(head, "/")
}
