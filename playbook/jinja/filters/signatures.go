package filters

import (
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// CheckedFilter returns a filter that refuses arguments as its function in Python does, before it looks at the value.
func CheckedFilter(s *value.Signature, f jinja.Filter) jinja.Filter {
	return func(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
		if err := s.Check(args); err != nil {
			return nil, err
		}
		return f(c, in, args)
	}
}

// CheckedTest is CheckedFilter for a test.
func CheckedTest(s *value.Signature, t jinja.Test) jinja.Test {
	return func(c *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
		if err := s.Check(args); err != nil {
			return false, err
		}
		return t(c, in, args)
	}
}
