package value

import "strings"

// Signature is what a Python function takes, for the errors of calls that do not fit it.
type Signature struct {
	// Name is the function's own, which need not be that of the filter.
	Name string
	// Before counts the parameters that the caller fills itself: the value that is filtered and, of some, Jinja's
	// environment.
	Before int
	// Params are the others; those that have a default have a Default that is not nil.
	Params []Param
	// Named is how many of Params, at the end, are given by name only; Hidden how many the counts in errors leave
	// out.
	Named, Hidden int
	// Rest and Keywords allow any further arguments by position and by name.
	Rest, Keywords bool
	// Native is a function in C that takes the value only.
	Native bool
}

// ParseSignature reads the parameters of a function as words: first those that the caller fills ("+name" for Jinja's
// environment), "name=" has a default, "*" and "**" take the rest, "*-" parts those that are given by name only,
// "?name" is one that younger versions have, and "!" stands for a function in C that takes one value.
func ParseSignature(name string, words []string) *Signature {
	s := &Signature{Name: name, Before: 1}
	if strings.HasPrefix(words[0], "+") {
		s.Before = 2
	}
	named := false
	for i, w := range words {
		switch {
		case w == "!":
			s.Native = true
		case w == "*":
			s.Rest, named = true, true
		case w == "*-":
			named = true
		case w == "**":
			s.Keywords = true
		case strings.HasPrefix(w, "?"):
			s.Params = append(s.Params, Opt(w[1:], None{}))
			s.Hidden++
		case i < s.Before:
		default:
			s.Params = append(s.Params, param(w))
			if named {
				s.Named++
			}
		}
	}
	return s
}

func param(word string) Param {
	if name, ok := strings.CutSuffix(word, "="); ok {
		return Opt(name, None{})
	}
	return Req(word)
}

// Check is the error of Python for arguments that do not fit the function.
func (s *Signature) Check(a *Args) error {
	if a == nil {
		a = &Args{}
	}
	if s.Native {
		return s.checkNative(a)
	}
	positional := s.Params[:len(s.Params)-s.Named]
	given := make([]bool, len(s.Params))
	for i := range min(len(a.Pos), len(positional)) {
		given[i] = true
	}
	for _, k := range a.Kw {
		i := paramIndex(s.Params, k.Name)
		switch {
		case i >= 0 && given[i]:
			return TypeErrorf("%s() got multiple values for argument '%s'", s.Name, k.Name)
		case i >= 0:
			given[i] = true
		case !s.Keywords:
			return TypeErrorf("%s() got an unexpected keyword argument '%s'", s.Name, k.Name)
		}
	}
	if len(a.Pos) > len(positional) && !s.Rest {
		return tooMany(s.Name, s.Before, positional[:len(positional)-s.Hidden], len(a.Pos))
	}
	var missing []string
	for i, p := range s.Params {
		if !given[i] && p.Default == nil {
			missing = append(missing, "'"+p.Name+"'")
		}
	}
	if missing != nil {
		return missingError(s.Name, missing)
	}
	return nil
}

func (s *Signature) checkNative(a *Args) error {
	switch {
	case len(a.Kw) > 0:
		return TypeErrorf("%s() takes no keyword arguments", s.Name)
	case len(a.Pos) > 0:
		return TypeErrorf("%s() takes exactly one argument (%d given)", s.Name, 1+len(a.Pos))
	}
	return nil
}
