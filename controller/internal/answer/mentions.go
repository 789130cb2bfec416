package answer

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/playbook/jinja/filters"
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
)

// mentions are the lookups and templates that a plan speaks of, with what they are given where that is
// constant. An agent may use only what is mentioned: otherwise a stolen one could run lookup('pipe', ...) on the controller.
type mentions struct {
	mu sync.Mutex
	// by short name of the lookup; guarded by mu.
	names map[string]*mention
	// any: a lookup is called by a computed name, so that every one may be meant; guarded by mu.
	any bool
	// words may be names of filters and tests that run here: any word if the play has some in Python, else those of files. Guarded by mu.
	words map[string]bool

	python bool     // the play has filters and tests in Python
	files  []string // the names of those that look at files, and hostvars
}

// mention is one lookup: open when some argument of it is computed, else the constants are all that it is given.
type mention struct {
	open      bool
	constants []string
}

func newMentions(plugins bool) *mentions {
	return &mentions{names: map[string]*mention{}, words: map[string]bool{}, python: plugins, files: append(filters.MachineNames(), hostvarsName)}
}

// hostvarsName is the word in a plan that leads to the variables of other hosts.
const hostvarsName = "hostvars"

var (
	lookupCallText = regexp.MustCompile(`\b(?:lookup|query|q)\(\s*`)
	// pluginName is a word that may name a filter or a test.
	pluginName  = regexp.MustCompile(`[\pL_][\pL\pN_.]*`)
	literal     = regexp.MustCompile(`^(?:'([^'\\{]*)'|"([^"\\{]*)")\s*`)
	includeText = regexp.MustCompile(`\{%[-+]?\s*(?:include|import|extends|from)\s+`)
)

// scan takes in what a text speaks of.
func (m *mentions) scan(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, at := range lookupCallText.FindAllStringIndex(text, -1) {
		name, rest, ok := cutLiteral(text[at[1]:])
		if !ok {
			m.any = true
			continue
		}
		name = name[strings.LastIndexByte(name, '.')+1:]
		m.arguments(name, rest)
	}
	for _, name := range m.files {
		if !m.words[name] && strings.Contains(text, name) {
			m.words[name] = true
		}
	}
	if m.python {
		for _, word := range pluginName.FindAllString(text, -1) {
			m.words[word] = true
		}
	}
	for _, at := range includeText.FindAllStringIndex(text, -1) {
		name, _, ok := cutLiteral(text[at[1]:])
		m.add("template", name, ok)
	}
}

// arguments takes in the arguments of a call: text after its name.
func (m *mentions) arguments(name, rest string) {
	m.entry(name)
	for strings.HasPrefix(rest, ",") {
		arg, after, ok := cutLiteral(strings.TrimLeft(rest[1:], " \t\n"))
		if !ok || after == "" || !strings.ContainsRune(",)", rune(after[0])) {
			m.add(name, "", false)
			return
		}
		m.add(name, arg, true)
		rest = after
	}
	if !strings.HasPrefix(rest, ")") {
		m.add(name, "", false)
	}
}

// add notes one use of a lookup. Callers hold mu.
func (m *mentions) add(name, constant string, known bool) {
	e := m.entry(name)
	if !known {
		e.open = true
	} else if !slices.Contains(e.constants, constant) {
		e.constants = append(e.constants, constant)
	}
}

// entry is the mention of a lookup, made if there is none. Callers hold mu.
func (m *mentions) entry(name string) *mention {
	e := m.names[name]
	if e == nil {
		e = &mention{}
		m.names[name] = e
	}
	return e
}

// loop notes a with_<lookup>.
func (m *mentions) loop(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(name, "", false)
}

// allows tells whether a lookup with these arguments is among what was scanned.
func (m *mentions) allows(name string, terms []string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.names[name]
	if m.any || e != nil && e.open {
		return true
	}
	return e != nil && !slices.ContainsFunc(terms, func(t string) bool { return !slices.Contains(e.constants, t) })
}

// word tells whether a text has the word.
func (m *mentions) word(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.words[name]
}

func cutLiteral(text string) (lit, rest string, ok bool) {
	m := literal.FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	return m[1] + m[2], text[len(m[0]):], true
}

// scanPlan takes in all that a plan says.
func (m *mentions) scanPlan(p *plan.Plan) {
	for _, d := range []plan.Dict{p.Play.RoleDefaults, p.Play.Vars, p.Play.RoleVars, p.Play.Extra} {
		m.scanDict(d)
	}
	for _, f := range p.Play.VarsFiles {
		m.scanDict(f.Vars)
		for _, name := range f.Names {
			m.scan(name)
		}
	}
	m.scanParts(p.Blocks, p.Handlers, p.Roles)
}

// scanFragment takes in what an include brings.
func (m *mentions) scanFragment(f *plan.Fragment) {
	m.scanDict(f.RoleDefaults)
	m.scanDict(f.RoleVars)
	m.scanParts(f.Blocks, f.Handlers, f.Roles)
}

func (m *mentions) scanParts(blocks []plan.Block, handlers []plan.Handler, roles map[string]*plan.Role) {
	plan.Walk(blocks, m.scanStep)
	for _, h := range handlers {
		m.scanStep(h.Step)
	}
	for _, r := range roles {
		m.scanDict(r.Defaults)
		m.scanDict(r.Vars)
		m.scanDict(r.Params)
	}
}

// scanStep goes over the step as it is on the wire, where every keyword is.
func (m *mentions) scanStep(s *plan.Step) {
	if s.Loop != nil && s.Loop.With != "" {
		m.loop(s.Loop.With[strings.LastIndexByte(s.Loop.With, '.')+1:])
	}
	if raw, err := json.Marshal(s); err == nil {
		if v, err := value.Decode(raw, value.KindYAML); err == nil {
			m.scanValue(v)
		}
	}
}

func (m *mentions) scanDict(d plan.Dict) {
	if d.Dict != nil {
		m.scanValue(d.Dict)
	}
}

// scanValue takes in all text of a value that templates may be made of.
func (m *mentions) scanValue(v value.Value) {
	switch v := v.(type) {
	case *value.Dict:
		v.Each(func(_, item value.Value) bool { m.scanValue(item); return true })
	case *value.List:
		for _, item := range v.Items {
			m.scanValue(item)
		}
	case value.UnsafeStr:
	default:
		if text, ok := value.Text(v); ok {
			m.scan(text)
		}
	}
}
