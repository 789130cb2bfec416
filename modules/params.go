package modules

// Param is one parameter of a module, read from a field of its argument struct:
//
//	Path string `arg:"path,required,alias=dest|name,path"`
//	Mode Mode   `arg:"mode"`
//	Keep bool   `arg:"backup,default=no"`
//	When string `arg:"state,default=present,choices=absent|present"`
//	List []string `arg:"groups"`
//	Key  *string `arg:"regexp"`                 // nil when not given (None)
//	Sub  []Opts `arg:"options"`                 // sub-options: a struct with tags of its own
//	Pass string `arg:"password,nolog" doc:"The user's password."`
//
// Field types and Ansible's types: string str (with the option path: path, ~ and $VAR expanded; with raw:
// text as it is; with json: jsonarg), bool bool, int int, float64 float, []string list of str, []int, []any list,
// map[string]any dict, any raw, Mode raw, *T a T whose absence matters, struct dict with sub-options, []struct list of such.
// Coercion is Ansible's: bool words, csv strings for lists, ints from strings, str of other values.
type Param struct {
	Name     string
	Aliases  []string
	Type     string // str, path, raw, bool, int, float, list, dict, jsonarg, bytes, bits
	Elements string // of a list
	Required bool
	Default  any // nil is none
	Choices  []string
	NoLog    bool
	Doc      string
	Options  []Param // of a dict or of a list's elements
	Removed  string  // version in which it goes away, "" if none

	index []int // of the field
}

// Rules are what parameters demand of each other, as in Ansible's argument specs.
type Rules struct {
	Exclusive [][]string
	Together  [][]string
	OneOf     [][]string
	If        []RequiredIf
	By        map[string][]string
}

// RequiredIf demands the named parameters when Param has Value; with Any, one of them is enough.
type RequiredIf struct {
	Param string
	Value any
	Names []string
	Any   bool
}
