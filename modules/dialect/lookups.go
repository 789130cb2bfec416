package dialect

import "sync"

// Lookup is a lookup that hark has: a row of the one table. Who evaluates a step, and what a step may change, goes by
// its traits.
type Lookup struct {
	// Name is the name of the plug-in in its Collection; "" is ansible-core's own.
	Name, Collection string
	// Others are its former names, which still find it.
	Others []string
	Traits Traits
	// Options are its keyword arguments, but for those that every lookup has.
	Options []string
	// Doc is a line for people.
	Doc string
}

var lookups = []Lookup{
	{Name: "to_paths", Collection: "ansible.utils", Traits: Pure,
		Options: []string{"var", "prepend"},
		Doc:     "A structure as a mapping of paths to values."},
	{Name: "get_path", Collection: "ansible.utils", Traits: Pure,
		Options: []string{"var", "path"},
		Doc:     "The value at a path within a structure."},
	{Name: "index_of", Collection: "ansible.utils", Traits: Pure,
		Options: []string{"data", "test", "value", "key", "fail_on_missing"},
		Doc:     "Where an item that passes a test stands in the list."},
	{Name: "collection_version", Collection: "community.general", Traits: ReadsController,
		Options: []string{"result_not_found", "result_no_version"},
		Doc:     "The version of a collection on the controller."},
	{Name: "filetree", Collection: "community.general", Others: []string{"filetree"},
		Traits: ReadsController | OnlyArguments,
		Doc:    "The files below directories of the controller, with their attributes."},
	{Name: "merge_variables", Collection: "community.general", Traits: ReadsController | NeedsHosts,
		Options: []string{"pattern_type", "override", "initial_value"},
		Doc:     "The variables whose names match, as one."},
	{Name: "random_string", Collection: "community.general", Traits: ReadsController | OnlyArguments,
		Options: []string{
			"length", "base64", "upper", "lower", "numbers", "special", "override_all",
			"override_special", "min_upper", "min_lower", "min_numeric", "min_special",
		},
		Doc: "Text by chance."},
	{Name: "cartesian", Traits: Pure | OnlyArguments,
		Doc: "All combinations of the items of several lists."},
	{Name: "config", Traits: ReadsController | OnlyArguments,
		Options: []string{"on_missing", "plugin_type", "plugin_name", "show_origin"},
		Doc:     "The value of a setting."},
	{Name: "csvfile", Traits: ReadsController | OnlyArguments,
		Options: []string{"file", "delimiter", "col", "keycol", "default", "encoding"},
		Doc:     "A field of a CSV file."},
	{Name: "dict", Traits: Pure | OnlyArguments,
		Doc: "The keys and values of mappings."},
	{Name: "env", Traits: ReadsController | OnlyArguments | TakesUndefined,
		Options: []string{"default"},
		Doc:     "A variable of the controller's environment."},
	{Name: "file", Traits: ReadsController | OnlyArguments,
		Options: []string{"lstrip", "rstrip"},
		Doc:     "The content of a file of the controller."},
	{Name: "fileglob", Traits: ReadsController | OnlyArguments,
		Doc: "The files of the controller that match a pattern."},
	{Name: "first_found", Traits: ReadsController | OnlyArguments | TakesUndefined,
		Options: []string{"files", "paths", "skip"},
		Doc:     "The first file of a list that exists."},
	{Name: "flattened", Others: []string{"community.general.flattened"}, Traits: Pure | OnlyArguments,
		Doc: "Lists within lists as one list."},
	{Name: "indexed_items", Traits: Pure | OnlyArguments,
		Doc: "Each item with its number."},
	{Name: "ini", Traits: ReadsController | OnlyArguments,
		Options: []string{
			"file", "type", "section", "re", "default", "encoding", "case_sensitive", "allow_no_value",
			"allow_none", "interpolation",
		},
		Doc: "A value of an ini or properties file."},
	{Name: "inventory_hostnames", Traits: ReadsController | NeedsHosts,
		Doc: "The hosts that match a pattern."},
	{Name: "items", Traits: Pure | OnlyArguments,
		Doc: "The items, one level of lists taken out."},
	{Name: "lines", Traits: ChangesController | OnlyArguments,
		Doc: "The lines that a command of the controller prints."},
	{Name: "list", Traits: Pure | OnlyArguments,
		Doc: "The items as they are."},
	{Name: "nested", Traits: Pure | OnlyArguments,
		Doc: "All combinations of the items of several lists."},
	{Name: "password", Traits: ChangesController | OnlyArguments,
		Options: []string{"length", "chars", "encrypt", "ident", "seed"},
		Doc:     "A password that is made when it is first asked for and kept in a file."},
	{Name: "pipe", Traits: ChangesController | OnlyArguments,
		Doc: "What a command of the controller prints."},
	{Name: "random_choice", Traits: Pure | OnlyArguments,
		Doc: "One of the items, by chance."},
	{Name: "sequence", Traits: Pure | OnlyArguments,
		Options: []string{"start", "end", "count", "stride", "format"},
		Doc:     "Numbers, formatted."},
	{Name: "subelements", Traits: Pure | OnlyArguments,
		Doc: "Each item with each element of a list that is in it."},
	{Name: "template", Traits: ReadsController,
		Options: []string{
			"convert_data", "template_vars", "variable_start_string", "variable_end_string",
			"comment_start_string", "comment_end_string", "jinja2_native", "trim_blocks",
		},
		Doc: "What a template of the controller gives."},
	{Name: "together", Traits: Pure | OnlyArguments,
		Doc: "The items of several lists side by side."},
	{Name: "unvault", Traits: ReadsController | OnlyArguments,
		Doc: "The content of a vaulted file of the controller."},
	{Name: "url", Traits: ReadsController | OnlyArguments,
		Options: []string{
			"validate_certs", "split_lines", "use_proxy", "username", "password", "headers", "force",
			"timeout", "http_agent", "force_basic_auth", "follow_redirects", "use_gssapi", "use_netrc",
			"unix_socket", "ca_path", "unredirected_headers", "ciphers",
		},
		Doc: "What a web server answers."},
	{Name: "varnames", Traits: Pure,
		Doc: "The names of variables that match."},
	{Name: "vars", Traits: Pure,
		Options: []string{"default"},
		Doc:     "The values of variables by name."},
}

// Lookups returns the table. Nobody may change it.
func Lookups() []Lookup { return lookups }

// LookupNamed returns the row of a lookup by one of its names, false for one that hark does not have.
func LookupNamed(name string) (Lookup, bool) {
	l := lookupsByName()[name]
	if l == nil {
		return Lookup{}, false
	}
	return *l, true
}

// FullName returns the name with the collection.
func (l Lookup) FullName() string {
	if l.Collection == "" {
		return "ansible.builtin." + l.Name
	}
	return l.Collection + "." + l.Name
}

var lookupsByName = sync.OnceValue(func() map[string]*Lookup {
	out := map[string]*Lookup{}
	for i := range lookups {
		l := &lookups[i]
		out[l.FullName()] = l
		if l.Collection == "" {
			out[l.Name], out["ansible.legacy."+l.Name] = l, l
		}
		for _, name := range l.Others {
			out[name], out["ansible.builtin."+name], out["ansible.legacy."+name] = l, l, l
		}
	}
	return out
})
