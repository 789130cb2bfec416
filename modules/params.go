package modules

import (
	"slices"

	"hark/modules/py/value"
)

// Param is one parameter of a module, read from a field of its argument struct:
//
//	Path  string   `arg:"path,required,type=path,alias=dest|name"`
//	Mode  value.Value `arg:"mode"`                 // as it was given; nil when it was not
//	Keep  bool     `arg:"backup,default=no"`
//	State string   `arg:"state,default=present,choices=absent|present"`
//	List  []string `arg:"groups"`
//	Key   *string  `arg:"regexp"`                  // nil when it was not given (None)
//	Sub   []Opts   `arg:"options"`                 // sub-options: a struct with tags of its own
//	Pass  string   `arg:"password,nolog" doc:"The user's password."`
//	Extra *value.Dict `arg:"*"`                    // of an AnyArgs module: all that has no field
//
// The tag is the name and then, separated by commas: required, nolog (or nolog=name of the argument that makes it
// so), hidden (legal, but not documented), extra (not among the parameters in Ansible's messages: the Resolve stage
// reads it), since=release and until=release (that it came and went with), alias=a|b, choices=a|b, default=text,
// type=t, elements=t, env=VARIABLE (that gives the value if the argument does not), removed=version. A default is
// written as a user would write it and decoded like an argument (a list's elements are separated by commas: put such
// a default, and any other that holds a comma, in a tag of its own, default:"a,b"; `default=` alone is "" or the
// empty list).
//
// The type follows from the field: string str, bool bool, int and int64 int, float64 float, []T list (with the
// elements of T, none for []value.Value), *value.Dict (in the order of the task) and map[string]string dict,
// value.Value raw, *T like T, a struct is a dict with sub-options and []struct a list of such. type= replaces it:
// path (~ and $VAR expanded; of a []string: its elements), jsonarg, bytes, bits, str. An embedded struct's fields
// count as the struct's own.
//
// Coercion is Ansible's: bool words, csv strings for lists, key=value or JSON strings for dicts, ints
// from strings, str of other values.
type Param struct {
	Name     string
	Aliases  []string
	Type     string // str, path, raw, bool, int, float, list, dict, jsonarg, bytes, bits
	Elements string // of a list, "" if they may be anything
	Required bool
	Default  value.Value // decoded; nil is none
	Choices  []string
	NoLog    bool
	NoLogIf  string // name of a bool that makes this one NoLog
	Hidden   bool   // an argument that stages hand to each other
	Extra    bool   // an argument of the Resolve stage
	Resolved bool   // the Resolve stage removes it, so it is no argument of the module in Ansible
	// Since and Until are the releases of ansible-core that added and removed it; "" is 2.14, and not removed.
	Since, Until Release
	Doc          string
	Options      []Param // of a dict or of a list's elements
	Rules        Rules   // of Options
	// ApplyDefaults says that an absent dict counts as an empty one, with the defaults of its Options.
	ApplyDefaults bool
	Env           string // variable that gives the value where the argument is not given
	Removed       string // version in which it goes away, "" if none
	OldAlias      string // one of Aliases that goes away, with OldRemoved
	OldRemoved    string

	index []int // of the field
}

// Renamed adds a former name of the parameter that goes away in a release.
func (p *Param) Renamed(old, removed string) {
	p.Aliases, p.OldAlias, p.OldRemoved = append(slices.Clone(p.Aliases), old), old, removed
}

// Rules are what parameters require of each other, as in Ansible's argument specs.
type Rules struct {
	Exclusive [][]string
	Together  [][]string
	OneOf     [][]string
	If        []RequiredIf
	By        map[string][]string
}

// RequiredIf requires the named parameters when Param has Value; with Any, one of them is enough.
type RequiredIf struct {
	Param string
	Value any
	Names []string
	Any   bool
}

// WithRules adds the rules between parameters to a declaration.
func WithRules(r Rules) Option { return func(m *Module) { m.Rules = r } }

// WithSubRules adds the rules between the sub-options of one parameter.
func WithSubRules(param string, r Rules) Option {
	return WithParam(param, func(p *Param) { p.Rules = r })
}
