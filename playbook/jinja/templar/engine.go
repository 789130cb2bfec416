package templar

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/filters"
)

// Engine holds what all Templars of a process can share: the set of filters, tests and globals, and the
// compiled templates in a bounded cache. It is safe for concurrent use.
type Engine struct {
	env     *jinja.Env
	lookups map[string]jinja.Lookup
	// tagged engines speak the language of ansible-core 2.19; remote ones are NewRemoteEngine's.
	tagged, remote bool

	mu       sync.RWMutex
	young    map[cacheKey]*program // guarded by mu
	old      map[cacheKey]*program // guarded by mu
	capacity int
	// plugins are the sets that WithPlugins has made, by the names in them; guarded by mu.
	plugins map[string]*jinja.Env
	// younger is the engine of the tagged language, once somebody asked for it; guarded by mu.
	younger *Engine
	// hiding is younger with the filters of ansible-core 2.22; guarded by mu.
	hiding *Engine
	hides  bool // it is one
}

// cacheSize is how many templates the young half of the cache takes before it becomes the old one.
const cacheSize = 4096

// maxCached is the longest source that is kept.
const maxCached = 256 << 10

// NewEngine makes an engine with the standard filters, tests and globals.
func NewEngine() *Engine {
	globals := filters.Globals()
	for name, v := range ansibleGlobals() {
		globals[name] = v
	}
	return &Engine{
		env: &jinja.Env{
			Filters: Filters(),
			Tests:   Tests(),
			Globals: globals,
			Unknown: unknownPlugin,
		},
		lookups:  Lookups(),
		young:    map[cacheKey]*program{},
		capacity: cacheSize,
	}
}

// NewRemoteEngine is NewEngine for a machine that is not the controller: Options.Plugin runs what looks at files, as
// Ansible looks at those of the controller.
func NewRemoteEngine() *Engine {
	e := NewEngine()
	for name := range e.env.Filters {
		if OnController("filter", name) {
			e.env.Filters[name] = jinja.PluginFilter
		}
	}
	for name := range e.env.Tests {
		if OnController("test", name) {
			e.env.Tests[name] = jinja.PluginTest
		}
	}
	e.remote = true
	return e
}

// At returns the engine of a level. Engines of one NewEngine share what they can.
func (e *Engine) At(l dialect.Level) *Engine {
	switch {
	case l.Has(dialect.SecretsRedacted):
		return e.Hiding()
	case l.Has(dialect.TrustedTemplates):
		return e.Tagged()
	}
	return e
}

// level returns the oldest level with what the engine does.
func (e *Engine) level() dialect.Level {
	switch {
	case e.hides:
		return dialect.SecretsRedacted.Level()
	case e.tagged:
		return dialect.TrustedTemplates.Level()
	}
	return dialect.Level214
}

// Tagged returns the engine of the same kind that speaks the language of ansible-core 2.19: only text of YAML,
// inventories and the command line is a template, results keep their types, and what cannot be rendered stays
// undefined until it is used.
func (e *Engine) Tagged() *Engine {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tagged {
		return e
	}
	if e.younger == nil {
		e.younger = e.another()
	}
	return e.younger
}

// Hiding returns the tagged engine of the same kind that has the filters of ansible-core 2.22, which hide secrets.
func (e *Engine) Hiding() *Engine {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hides {
		return e
	}
	if e.hiding == nil {
		e.hiding = e.another()
		e.hiding.hides = true
		maps.Copy(e.hiding.env.Filters, filters.Hiding())
	}
	return e.hiding
}

// another returns a new tagged engine of the same kind.
func (e *Engine) another() *Engine {
	out := NewEngine()
	if e.remote {
		out = NewRemoteEngine()
	}
	out.makeTagged()
	return out
}

// pluginName is what full names of plug-ins look like.
var pluginName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN_]+(\.[\pL\pN_]+){2,}$`) })

// unknownPlugin words a missing filter or test as Ansible's plug-in loader does.
func unknownPlugin(_, name string) string {
	full := strings.TrimPrefix(name, "ansible.legacy.")
	if !strings.Contains(full, ".") {
		full = "ansible.builtin." + full
	}
	reason := value.ReprText(name)
	if !pluginName().MatchString(full) {
		reason = value.ReprText("invalid plugin name: " + full)
	} else if parts := strings.Split(full, "."); parts[0] != "ansible" {
		reason = value.ReprText(fmt.Sprintf("Invalid plugin FQCN (%s): unable to locate collection %s", full,
			strings.Join(parts[:2], ".")))
	}
	return dialect.PluginNotFound.Text(name, reason)
}

// flavor is how results are made.
type flavor uint8

const (
	flavorConvert flavor = iota // text that looks like a list, dict or bool is converted
	flavorText                  // text
	flavorNative                // Python's types are kept
)

// settings are how a text is compiled.
type settings struct {
	flavor flavor
	// escape doubles the backslashes in the strings of expressions, as Ansible does for text of playbooks.
	escape bool
	syntax *jinja.Syntax // nil is Ansible's usual
	name   string

	do, loopControls bool
	// env is what the text is compiled with, nil the engine's own.
	env *jinja.Env
}

type cacheKey struct {
	src, name string
	syntax    jinja.Syntax // empty for Ansible's usual
	flavor    flavor
	kind      textKind
	escape    bool

	do, loopControls bool
	env              *jinja.Env
}

// textKind is what a text is compiled as.
type textKind uint8

const (
	textTemplate textKind = iota
	textExpression
	textIncluded
)

// program is a compiled text, or why it cannot be compiled.
type program struct {
	t        *jinja.Template
	settings settings // with what the header of the text sets
	src      string   // without the header, as compiled
	err      error
	verbatim bool // the text is printed as it is
	newlines int  // at the end of the text
}

func newSyntax() jinja.Syntax {
	s := jinja.NewSyntax()
	s.TrimBlocks = true
	return s
}

func (s settings) key(src string, kind textKind) cacheKey {
	k := cacheKey{src: src, name: s.name, flavor: s.flavor, kind: kind, escape: s.escape,
		do: s.do, loopControls: s.loopControls, env: s.env}
	if s.syntax != nil {
		k.syntax = *s.syntax
	}
	return k
}

func (e *Engine) compile(src string, s settings) *program {
	return e.cached(s.key(src, textTemplate), func() *program { return e.program(src, s) })
}

// cached keeps what make makes. Two generations bound it: what was not used for a whole generation goes.
func (e *Engine) cached(k cacheKey, make func() *program) *program {
	e.mu.RLock()
	p := e.young[k]
	e.mu.RUnlock()
	if p != nil {
		return p
	}
	e.mu.RLock()
	p = e.old[k]
	e.mu.RUnlock()
	if p == nil {
		p = make()
	}
	if len(k.src) > maxCached {
		return p
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.young) >= e.capacity {
		e.old, e.young = e.young, map[cacheKey]*program{}
	}
	e.young[k] = p
	return p
}

func (e *Engine) options(s settings) jinja.Options {
	o := jinja.Options{Env: e.env, Name: s.name, Finalize: finalize, Syntax: newSyntax(),
		Do: s.do, LoopControls: s.loopControls}
	if s.env != nil {
		o.Env = s.env
	}
	if s.syntax != nil {
		o.Syntax = *s.syntax
	}
	if e.tagged {
		o.Concat, o.Finalize, o.Defer, o.Constant = concatTagged, nil, e.deferTagged, constantTagged
		return o
	}
	o.Constant = constantClassic
	switch s.flavor {
	case flavorText:
		o.Concat = concatText
	case flavorNative:
		o.Concat, o.Finalize = concatNative, finalizeNative
	default:
		o.Concat = concatConvert
	}
	return o
}

// program compiles a text, with its header and its backslashes.
func (e *Engine) program(src string, s settings) *program {
	p := &program{settings: s, src: src, newlines: trailingNewlines(src)}
	if strings.HasPrefix(src, overrideHeader) {
		read := p.readHeader
		if e.tagged {
			read = p.readTaggedHeader
		}
		if p.err = read(); p.err != nil {
			return p
		}
		if p.verbatim {
			return p
		}
	}
	o := e.options(p.settings)
	if s.escape {
		if p.src, p.err = jinja.EscapeBackslashes(p.src, o.Syntax); p.err != nil {
			return p
		}
	}
	t, err := jinja.Parse(p.src, o)
	var syntax *jinja.SyntaxError
	if p.verbatim = errors.As(err, &syntax) && syntax.Verbatim && !e.tagged; p.verbatim {
		return p
	}
	if err != nil {
		p.err = templateError(p, err)
	}
	p.t = t
	return p
}

// templateError is the error of a text that cannot be compiled.
func templateError(p *program, err error) error {
	return because("AnsibleError", err, fmt.Sprintf("template error while templating string: %s. String: %s", err, p.src))
}

func trailingNewlines(s string) int { return len(s) - len(strings.TrimRight(s, "\n")) }
