// Package pyini reads INI files as Python's ConfigParser does.
package pyini

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/modules/py/value"
)

// File is an INI file.
type File struct {
	// Names are the sections in the order of the file, without [DEFAULT].
	Names    []string
	sections map[string]*Section
	// Defaults is [DEFAULT].
	Defaults *Section
}

// Section holds options in the order of the file.
type Section struct {
	order    []string
	values   map[string]*string // nil is an option without a value
	defaults *Section
	raw      bool // references stay
}

// Options are how a file is read.
type Options struct {
	// CaseSensitive keeps the names of options as they are written.
	CaseSensitive bool
	// AllowNoValue takes options without a value.
	AllowNoValue bool
	// Raw keeps references like %(name)s as they are written.
	Raw bool
}

var (
	header = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[(.+)\]`) })
	option = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*?)\s*(?:([=:])\s*(.*))?$`) })
)

// Parse reads text. Continuation lines are indented deeper than their option; an option that is given twice is an
// error, and so is a line without a value unless those are allowed. "{file}" in an error stands for the file's name.
func Parse(text string, o Options) (*File, error) {
	f := &File{sections: map[string]*Section{}, Defaults: newSection(nil, o)}
	var current *Section
	var section, last string
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " \t\r")
		bare := strings.TrimSpace(line)
		if bare == "" || bare[0] == '#' || bare[0] == ';' {
			continue
		}
		if current != nil && last != "" && line != bare {
			current.extend(last, bare)
			continue
		}
		if m := header().FindStringSubmatch(bare); m != nil {
			section, last = m[1], ""
			if section == "DEFAULT" {
				current = f.Defaults
			} else if current = f.sections[section]; current == nil {
				current = newSection(f.Defaults, o)
				f.Names = append(f.Names, section)
				f.sections[section] = current
			}
			continue
		}
		if current == nil {
			return nil, value.Errorf("MissingSectionHeaderError",
				"File contains no section headers.\nfile: '<???>', line: %d\n%s", n+1, value.ReprText(line+"\n"))
		}
		m := option().FindStringSubmatch(bare)
		if m[2] == "" && !o.AllowNoValue {
			return nil, value.Errorf("ParsingError", "Source contains parsing errors: '<???>'\n\t[line %2d]: %s", n+1,
				value.ReprText(line+"\n"))
		}
		last = m[1]
		if !o.CaseSensitive {
			last = strings.ToLower(last)
		}
		if _, twice := current.values[last]; twice {
			return nil, value.Errorf("DuplicateOptionError",
				"Duplicate option in '{file}': While reading from '<???>' [line %2d]: option '%s' in section '%s' already exists",
				n+1, last, section)
		}
		current.set(last, m[2] != "", m[3])
	}
	return f, nil
}

func newSection(defaults *Section, o Options) *Section {
	return &Section{values: map[string]*string{}, defaults: defaults, raw: o.Raw}
}

// Section returns a section by name; nil if there is none.
func (f *File) Section(name string) *Section { return f.sections[name] }

func (s *Section) set(name string, has bool, v string) {
	s.order = append(s.order, name)
	s.values[name] = nil
	if has {
		s.values[name] = &v
	}
}

func (s *Section) extend(name, line string) {
	joined := line
	if old := s.values[name]; old != nil {
		joined = *old + "\n" + line
	}
	s.values[name] = &joined
}

// Options returns the names of the options of DEFAULT, then those of the section that it does not have.
func (s *Section) Options() []string {
	var names []string
	if s.defaults != nil {
		names = slices.Clone(s.defaults.order)
	}
	for _, n := range s.order {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// Get returns an option, with %(name)s replaced unless the file is read raw.
func (s *Section) Get(name string) (value.Value, bool) {
	v, ok := s.Raw(name)
	if !ok {
		return nil, false
	}
	if v == nil {
		return value.None{}, true
	}
	if s.raw {
		return value.Str(*v), true
	}
	left := maxReferences
	return value.Str(s.interpolate(*v, 10, &left)), true
}

// Raw returns an option as it is written; nil is one without a value.
func (s *Section) Raw(name string) (*string, bool) {
	if v, ok := s.values[name]; ok {
		return v, true
	}
	if s.defaults != nil {
		return s.defaults.Raw(name)
	}
	return nil, false
}

var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%%|%\(([^)]+)\)s`) })

// maxReferences bounds how many references one option may lead to.
const maxReferences = 10_000

// interpolate puts options for the references in a text; left counts down what may still be put.
func (s *Section) interpolate(text string, depth int, left *int) string {
	return reference().ReplaceAllStringFunc(text, func(ref string) string {
		if ref == "%%" {
			return "%"
		}
		v, ok := s.Raw(strings.ToLower(ref[2 : len(ref)-2]))
		if *left--; !ok || v == nil || depth == 0 || *left < 0 {
			return ref
		}
		return s.interpolate(*v, depth-1, left)
	})
}
