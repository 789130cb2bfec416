package dialect

// Changes of values, conditions and plug-ins.
var (
	// TrustedTemplates is the change of what is a template.
	TrustedTemplates = &Change{
		ID: "trust", Since: "2.19",
		What:   "what is a template",
		Before: "all text but that of modules, lookups and `!unsafe`",
		After:  "text of YAML, inventories, `-e` and settings; what a template makes never is",
		Where:  templar,
		Instead: "`lookup('template', ...)`, `lookup('vars', name)` or a variable, where a template was " +
			"made by one",
	}
	// KeptTypes is the change of `{{ 8000 + 80 }}`.
	KeptTypes = &Change{
		ID: "native", Since: "2.19", With: TrustedTemplates,
		What:    "`{{ 8000 + 80 }}`",
		Before:  "the text `8080`",
		After:   "the number 8080: one expression keeps its type",
		Where:   templar,
		Instead: "`| string` where text is wanted, or compare with the number",
	}
	// TextStaysText is the change of text around expressions that looks like a list, dict or bool.
	TextStaysText = &Change{
		ID: "parts", Since: "2.19", With: TrustedTemplates,
		What:    "text around expressions that looks like a list, dict or bool",
		Before:  "becomes one",
		After:   "stays text",
		Where:   templar,
		Instead: "the list or dict itself in YAML, or `| from_yaml`",
	}
	// NoneStays is the change of `{{ none }}`.
	NoneStays = &Change{
		ID: "none", Since: "2.19", With: TrustedTemplates,
		What:    "`{{ none }}`",
		Before:  "empty text",
		After:   "None; within text it prints as nothing",
		Where:   templar,
		Instead: "`''` for empty text, `omit` for an argument that is left out",
	}
	// MacroValues is the change of what a macro or a `{% set %}` block prints.
	MacroValues = &Change{
		ID: "macros", Since: "2.19", With: TrustedTemplates,
		What:   "what a macro or a `{% set %}` block prints",
		Before: "text",
		After:  "what was printed, if that is one value",
		Where:  templar,
	}
	// ListsForViews is the change of `d.keys()`, tuples in results and in text.
	ListsForViews = &Change{
		ID: "views", Since: "2.19", With: TrustedTemplates,
		What:   "`d.keys()`, tuples in results and in text",
		Before: "dict views and tuples",
		After:  "lists",
		Where:  engine,
	}
	// StorableValues is the change of a range, function or timedelta as a result.
	StorableValues = &Change{
		ID: "storage", Since: "2.19", With: TrustedTemplates,
		What:    "a range, function or timedelta as a result",
		Before:  "a list or its print",
		After:   "an error",
		Where:   templar,
		Instead: "`| list`, `| string`",
	}
	// LazyEntries is the change of a dict with an entry that cannot be rendered, or that uses another entry.
	LazyEntries = &Change{
		ID: "lazy", Since: "2.19", With: TrustedTemplates,
		What:   "a dict with an entry that cannot be rendered, or that uses another entry",
		Before: "fails whole, loops",
		After:  "fails where the entry is used",
		Where:  templar,
	}
	// UndefinedTravels is the change of undefined values.
	UndefinedTravels = &Change{
		ID: "travel", Since: "2.19", With: TrustedTemplates,
		What:   "undefined values",
		Before: "fail where they are used",
		After:  "go through filters, tests and calls, and fail in the result",
		Where:  engine,
	}
	// OmitWithin is the change of `omit` in lists and dicts of variables.
	OmitWithin = &Change{
		ID: "omit", Since: "2.19", With: TrustedTemplates,
		What:    "`omit` in lists and dicts of variables",
		Before:  "a text of its own",
		After:   "the entry is left out",
		Where:   templar,
		Instead: "nothing, if the entry was meant to be left out",
	}
	// TextTypeNames is the change of names of types of text.
	TextTypeNames = &Change{
		ID: "types", Since: "2.19", With: TrustedTemplates,
		What:    "names of types of text",
		Before:  "`AnsibleUnicode`, `AnsibleUnsafeText`",
		After:   "`str`",
		Where:   filters,
		Instead: "`str`",
	}
	// SetFactText is the change of `set_fact: a=yes`.
	SetFactText = &Change{
		ID: "set_fact", Since: "2.19",
		What:    "`set_fact: a=yes`",
		Before:  "the bool",
		After:   "text",
		Where:   runner,
		Instead: "`set_fact: {a: true}`",
	}
	// BoolConditions is the change of a condition whose value is text, a number, a list or None.
	BoolConditions = &Change{
		ID: "bool", Since: "2.19", With: TrustedTemplates,
		What:    "a condition whose value is text, a number, a list or None",
		Before:  "true or false as in Python",
		After:   "an error, but with ALLOW_BROKEN_CONDITIONALS",
		Where:   templar,
		Instead: "a test or comparison: `x | bool`, `x | length > 0`, `x is truthy`",
	}
	// EmptyConditions is the change of an empty condition.
	EmptyConditions = &Change{
		ID: "empty", Since: "2.19", With: TrustedTemplates,
		What:    "an empty condition",
		Before:  "true",
		After:   "an error, but with ALLOW_BROKEN_CONDITIONALS",
		Where:   templar,
		Instead: "`true`, or leave the condition out",
	}
	// ConditionsOnce is the change of a condition in a variable: `when: cond`.
	ConditionsOnce = &Change{
		ID: "twice", Since: "2.19", With: TrustedTemplates,
		What:    "a condition in a variable: `when: cond`",
		Before:  "is evaluated again",
		After:   "is text, and so an error; `when: \"{{ cond }}\"` evaluates what is trusted",
		Where:   templar,
		Instead: "the condition itself, or `when: \"{{ cond }}\"`",
	}
	// ConditionsInOrder is the change of `when: nope == 1 or nope is undefined`.
	ConditionsInOrder = &Change{
		ID: "guess", Since: "2.19", With: TrustedTemplates,
		What:    "`when: nope == 1 or nope is undefined`",
		Before:  "true: looked for in the words",
		After:   "an error",
		Where:   templar,
		Instead: "`nope is undefined or nope == 1`: ask first",
	}
	// BareConditions is the change of `when: "{{ a }} == 1"`.
	BareConditions = &Change{
		ID: "delimiters", Since: "2.19", With: TrustedTemplates,
		What:    "`when: \"{{ a }} == 1\"`",
		Before:  "works, with a warning",
		After:   "an error",
		Where:   templar,
		Instead: "`a == 1`",
	}
	// TemplateHeaders is the change of `#jinja2:` headers with unknown or odd settings.
	TemplateHeaders = &Change{
		ID: "headers", Since: "2.19", With: TrustedTemplates,
		What:    "`#jinja2:` headers with unknown or odd settings",
		Before:  "taken or ignored",
		After:   "an error",
		Where:   templar,
		Instead: "the settings of Jinja with Python's values: `#jinja2: trim_blocks: False`",
	}
	// EmbeddedTemplates is the change of templates in texts within expressions.
	EmbeddedTemplates = &Change{
		ID: "embedded", Since: "2.19", With: TrustedTemplates,
		What:    "templates in texts within expressions",
		Before:  "rendered in terms of lookups",
		After:   "the same, with a warning; in conditions too",
		Where:   templar,
		Instead: "`~`: `lookup('file', dir ~ '/name')`",
	}
	// BoolFilter is the change of `x | bool` of anything else.
	BoolFilter = &Change{
		ID: "filter-bool", Since: "2.19", With: TrustedTemplates,
		What:   "`x | bool` of anything else",
		Before: "None for None, else false",
		After:  "always a bool",
		Where:  filters,
	}
	// HumanToBytes is the change of `human_to_bytes` of `2 Mbytes`, of `2 MB more`.
	HumanToBytes = &Change{
		ID: "human-to-bytes", Since: "2.19", With: TrustedTemplates,
		What:    "`human_to_bytes` of `2 Mbytes`, of `2 MB more`",
		Before:  "read",
		After:   "an error: the text is a number and a unit, `M`, `MB` or `megabyte`",
		Where:   filters,
		Instead: "`2 MB`",
	}
	// DefaultFilter is the change of `x | default(y, z)`.
	DefaultFilter = &Change{
		ID: "filter-default", Since: "2.19", With: TrustedTemplates,
		What:    "`x | default(y, z)`",
		Before:  "z is true or false as in Python",
		After:   "z must be a bool; what failed for another reason than being undefined still fails",
		Where:   filters,
		Instead: "`default(y, true)`",
	}
	// InlineIf is the change of `{{ 'a' if false }}`.
	InlineIf = &Change{
		ID: "inline-if", Since: "2.19", With: TrustedTemplates,
		What:    "`{{ 'a' if false }}`",
		Before:  "nothing",
		After:   "an error, but within text",
		Where:   templar,
		Instead: "`else ''`, or `else omit`",
	}
	// HostvarsLazy is the change of `hostvars`.
	HostvarsLazy = &Change{
		ID: "hostvars", Since: "2.19",
		What:   "`hostvars`",
		Before: "has `localhost` in any case; what cannot be rendered stays as written",
		After:  "has the hosts of the inventory; what cannot be rendered is undefined when it is used",
		Where:  "agent/internal/hostvars",
	}
	// OmitIsNoVariable is the change of `omit` among the variables that lookups and plug-ins see.
	OmitIsNoVariable = &Change{
		ID: "omit-variable", Since: "2.19",
		What:   "`omit` among the variables that lookups and plug-ins see",
		Before: "a text",
		After:  "is not there",
		Where:  "controller/internal/play/answer",
	}
)

// valuesChanges returns those of this file, in the order in which people read them.
func valuesChanges() []*Change {
	return []*Change{
		TrustedTemplates, KeptTypes, TextStaysText, NoneStays, MacroValues, ListsForViews, StorableValues,
		LazyEntries, UndefinedTravels, OmitWithin, TextTypeNames, SetFactText, BoolConditions,
		EmptyConditions, ConditionsOnce, ConditionsInOrder, BareConditions, TemplateHeaders,
		EmbeddedTemplates, BoolFilter, HumanToBytes, DefaultFilter, InlineIf, HostvarsLazy,
		OmitIsNoVariable,
	}
}
