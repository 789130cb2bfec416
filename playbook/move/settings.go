package move

// settings looks at those that have no effect any more.
func (p *project) settings() {
	if p.in.Set == nil {
		return
	}
	for _, g := range []struct {
		name, instead string
		effect        Effect
	}{
		{"DEFAULT_FACT_PATH", "`fact_path` of the module setup, in module_defaults", Differs},
		{"DEFAULT_GATHER_SUBSET", "`gather_subset` of the play, or of the module setup in module_defaults", Differs},
		{"DEFAULT_GATHER_TIMEOUT", "`gather_timeout` of the play, or of the module setup in module_defaults", Differs},
		{"DEFAULT_NULL_REPRESENTATION", "`default('')` where None may come", Differs},
		{"DEFAULT_UNDEFINED_VAR_BEHAVIOR", "`default(...)`", Differs},
		{"STRING_CONVERSION_ACTION", "", Differs},
		{"STRING_TYPE_FILTERS", "", Differs},
		{"DEFAULT_ALLOW_UNSAFE_LOOKUPS", "", Differs},
		{"DEFAULT_JINJA2_NATIVE", "", Differs},
		{"DEFAULT_JINJA2_EXTENSIONS", "filters, tests and lookups", Warns},
		{"DEFAULT_MANAGED_STR", "the variable `ansible_managed`", Warns},
	} {
		if origin, ok := p.in.Set(g.name); ok {
			f := p.found(site{}, "settings", g.effect, "the setting "+g.name)
			f.Origin, f.Instead = origin, g.instead
		}
	}
}
