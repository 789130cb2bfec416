package move

import (
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// kinds are the types that a value may have in the language of 2.19.
type kinds uint16

const (
	isBool kinds = 1 << iota
	isText
	isNumber
	isList
	isDict
	isNone
	isRange   // what cannot be stored
	isMissing // undefined
	isUnknown
)

// only tells that a value has one of these types for certain.
func (k kinds) only(of kinds) bool { return k != 0 && k&^of == 0 }

func (k kinds) String() string {
	var out []string
	for _, n := range []struct {
		k    kinds
		name string
	}{{isBool, "a bool"}, {isText, "text"}, {isNumber, "a number"}, {isList, "a list"}, {isDict, "a dict"}, {isNone, "None"}, {isRange, "a range"}} {
		if k&n.k != 0 {
			out = append(out, n.name)
		}
	}
	return strings.Join(out, " or ")
}

// kindOf is the type of a value without templates.
func kindOf(v value.Value) kinds {
	switch v.(type) {
	case value.Bool:
		return isBool
	case value.Int, value.Float:
		return isNumber
	case value.None:
		return isNone
	case *value.List, *value.Tuple:
		return isList
	case *value.Dict:
		return isDict
	}
	switch {
	case value.IsText(v):
		return isText
	case v.Type() == "int":
		return isNumber
	}
	return isUnknown
}

// filterKinds are the types that filters give; those of others depend on what they are given.
func filterKinds(name string) kinds {
	switch strings.TrimPrefix(name, "ansible.builtin.") {
	case "bool":
		return isBool
	case "lower", "upper", "trim", "replace", "regex_replace", "join", "string", "b64encode", "b64decode", "basename", "dirname", "to_json", "to_nice_json",
		"to_yaml", "to_nice_yaml", "quote", "capitalize", "title", "hash", "checksum", "sha1", "md5", "password_hash", "expanduser", "realpath", "relpath",
		"regex_escape", "indent", "center", "urlencode", "comment", "type_debug", "to_uuid", "strftime", "format", "truncate", "wordwrap", "human_readable":
		return isText
	case "int", "float", "length", "count", "wordcount", "human_to_bytes":
		return isNumber
	case "list", "map", "select", "reject", "selectattr", "rejectattr", "unique", "sort", "union", "intersect", "difference", "symmetric_difference", "split",
		"dict2items", "regex_findall", "flatten", "batch", "slice", "zip", "zip_longest", "product", "permutations", "combinations", "subelements", "shuffle",
		"splitext", "fileglob":
		return isList
	case "combine", "items2dict", "dict", "urlsplit", "groupby":
		if name == "urlsplit" {
			return isUnknown
		}
		return isDict
	case "regex_search":
		return isText | isNone
	}
	return isUnknown
}

// methodKinds are the types that methods of text and dicts give.
func methodKinds(name string) kinds {
	switch name {
	case "startswith", "endswith", "isdigit", "isalpha", "isalnum", "isnumeric", "isupper", "islower":
		return isBool
	case "strip", "lstrip", "rstrip", "lower", "upper", "replace", "format", "join", "title", "capitalize", "strftime", "isoformat":
		return isText
	case "split", "splitlines", "rsplit", "keys", "values", "items":
		return isList
	case "find", "rfind", "index", "count":
		return isNumber
	}
	return isUnknown
}

// resultKinds are the types of what modules return, as far as they are the same for all.
func resultKinds(name string) kinds {
	switch name {
	case "changed", "failed", "skipped", "unreachable", "exists", "isdir", "isreg", "islnk", "finished", "started":
		return isBool
	case "stdout", "stderr", "start", "end", "delta", "msg", "md5", "checksum":
		return isText
	case "rc", "attempts", "matched", "examined":
		return isNumber
	case "stdout_lines", "stderr_lines", "results", "files":
		return isList
	case "stat", "invocation", "ansible_facts":
		return isDict
	}
	return isUnknown
}

// magicKinds are the types of variables that there always are.
func magicKinds(name string) kinds {
	switch name {
	case "ansible_check_mode", "ansible_diff_mode":
		return isBool
	case "inventory_hostname", "inventory_hostname_short", "playbook_dir", "inventory_dir", "role_name", "role_path":
		return isText
	case "groups", "hostvars", "ansible_facts", "ansible_version":
		return isDict
	case "group_names", "ansible_play_hosts", "ansible_play_batch", "play_hosts":
		return isList
	}
	return isUnknown
}

// kinds are the types that a part may have; deep bounds how far variables are followed.
func (p *project) kinds(e *jinja.Part, deep int) kinds {
	switch e.Kind {
	case jinja.PartText, jinja.PartConcat:
		return isText
	case jinja.PartConst:
		return kindOf(e.Const)
	case jinja.PartTest, jinja.PartCompare, jinja.PartNot:
		return isBool
	case jinja.PartList:
		return isList
	case jinja.PartDict:
		return isDict
	case jinja.PartLogic:
		return p.kinds(e.Parts[0], deep)&^isMissing | p.kinds(e.Parts[1], deep)
	case jinja.PartIf:
		out := p.kinds(e.Parts[1], deep)
		if len(e.Parts) < 3 {
			return out | isMissing
		}
		return out | p.kinds(e.Parts[2], deep)
	case jinja.PartName, jinja.PartAttr, jinja.PartItem:
		return p.variableKinds(e, deep)
	case jinja.PartCall:
		return callKinds(e.Parts[0])
	case jinja.PartFilter:
		return p.filtered(e, deep)
	case jinja.PartArith:
		return p.arith(e, deep)
	}
	return isUnknown
}

func callKinds(fn *jinja.Part) kinds {
	switch {
	case fn.Kind == jinja.PartAttr:
		return methodKinds(fn.Name)
	case fn.Kind != jinja.PartName:
		return isUnknown
	}
	switch fn.Name {
	case "range":
		return isRange
	case "dict":
		return isDict
	case "query", "q":
		return isList
	}
	return isUnknown
}

func (p *project) filtered(e *jinja.Part, deep int) kinds {
	if len(e.Parts) == 0 {
		return isUnknown
	}
	switch strings.TrimPrefix(e.Name, "ansible.builtin.") {
	case "default", "d":
		if len(e.Parts) < 2 || isOmit(e.Parts[1]) {
			return isUnknown
		}
		if before := p.kinds(e.Parts[0], deep); before&isMissing == 0 && before&isUnknown == 0 {
			return before
		}
		return p.kinds(e.Parts[0], deep)&^isMissing | p.kinds(e.Parts[1], deep)
	case "ternary":
		if len(e.Parts) != 3 {
			return isUnknown
		}
		return p.kinds(e.Parts[1], deep) | p.kinds(e.Parts[2], deep)
	case "mandatory":
		return p.kinds(e.Parts[0], deep) &^ isMissing
	}
	return filterKinds(e.Name)
}

func (p *project) arith(e *jinja.Part, deep int) kinds {
	if len(e.Parts) == 1 {
		return isNumber
	}
	left, right := p.kinds(e.Parts[0], deep), p.kinds(e.Parts[1], deep)
	for _, both := range []kinds{isNumber, isText, isList} {
		if left == both && right == both {
			return both
		}
	}
	return isUnknown
}

func isOmit(e *jinja.Part) bool { return e.Kind == jinja.PartName && e.Name == "omit" }
