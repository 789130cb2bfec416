package filters

import (
	_ "embed"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// signatureLines say what each filter and test takes: its kind and name, the name of its function in Python and its
// parameters as value.ParseSignature reads them. They are ansible-core 2.14's and Jinja 3.1's.
//
//go:embed signatures.txt
var signatureLines string

// signatures returns those of one kind by name.
func signatures(kind string) map[string]*value.Signature {
	all := map[string]*value.Signature{}
	for line := range strings.Lines(signatureLines) {
		if words := strings.Fields(line); words[0] == kind {
			all[words[1]] = value.ParseSignature(words[2], words[3:])
		}
	}
	return all
}

// checkedFilter returns a filter that refuses arguments as its function in Python does, before it looks at the value.
func checkedFilter(s *value.Signature, f jinja.Filter) jinja.Filter {
	if s == nil {
		return f
	}
	return func(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
		if err := s.Check(args); err != nil {
			return nil, err
		}
		return f(c, in, args)
	}
}

// checkedTest is checkedFilter for a test.
func checkedTest(s *value.Signature, t jinja.Test) jinja.Test {
	if s == nil {
		return t
	}
	return func(c *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
		if err := s.Check(args); err != nil {
			return false, err
		}
		return t(c, in, args)
	}
}
