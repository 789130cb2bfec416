package modules

import "errors"

// paramsOf reads the parameters of an argument struct.
func paramsOf[A any]() []Param { return nil }

// decode fills an argument struct from call arguments.
func (m *Module) decode(args map[string]any, into any) error {
	return errors.New("internal error: argument decoding is being built")
}

// FullName gives the full name for a short or redirected one; a name that is unknown comes back as it is.
func (r *Registry) FullName(name string) string { return name }
