package answer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"hark/playbook/jinja/value"
)

// iniFile is an INI file as Python's ConfigParser reads it.
type iniFile struct {
	sections map[string]*iniSection
}

// iniSection holds options in the order of the file; defaults are those of [DEFAULT].
type iniSection struct {
	order    []string
	values   map[string]*string // nil is an option without a value
	defaults *iniSection
}

var (
	iniHeader = regexp.MustCompile(`^\[(.+)\]`)
	iniOption = regexp.MustCompile(`^(.*?)\s*(?:([=:])\s*(.*))?$`)
)

// parseINI reads text. Continuation lines are indented deeper than their option; an option that is given twice is an error,
// and so is a line without a value unless those are allowed. "{file}" in an error stands for the file's name.
func parseINI(text string, caseSensitive, allowNoValue bool) (*iniFile, error) {
	f := &iniFile{sections: map[string]*iniSection{}}
	defaults := newSection(nil)
	var current *iniSection
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
		if m := iniHeader.FindStringSubmatch(bare); m != nil {
			section, last = m[1], ""
			if section == "DEFAULT" {
				current = defaults
			} else if current = f.sections[section]; current == nil {
				current = newSection(defaults)
				f.sections[section] = current
			}
			continue
		}
		if current == nil {
			return nil, fmt.Errorf("File contains no section headers.\nfile: '<???>', line: %d\n%s", n+1, value.ReprText(line+"\n"))
		}
		m := iniOption.FindStringSubmatch(bare)
		if m[2] == "" && !allowNoValue {
			return nil, fmt.Errorf("Source contains parsing errors: '<???>'\n\t[line %2d]: %s", n+1, value.ReprText(line+"\n"))
		}
		last = m[1]
		if !caseSensitive {
			last = strings.ToLower(last)
		}
		if _, twice := current.values[last]; twice {
			return nil, fmt.Errorf("Duplicate option in '{file}': While reading from '<???>' [line %2d]: option '%s' in section '%s' already exists",
				n+1, last, section)
		}
		current.set(last, m[2] != "", m[3])
	}
	return f, nil
}

func newSection(defaults *iniSection) *iniSection {
	return &iniSection{values: map[string]*string{}, defaults: defaults}
}

func (f *iniFile) section(name string) *iniSection { return f.sections[name] }

func (s *iniSection) set(name string, has bool, v string) {
	s.order = append(s.order, name)
	s.values[name] = nil
	if has {
		s.values[name] = &v
	}
}

func (s *iniSection) extend(name, line string) {
	joined := line
	if old := s.values[name]; old != nil {
		joined = *old + "\n" + line
	}
	s.values[name] = &joined
}

// names are the options of DEFAULT, then those of the section that it does not have.
func (s *iniSection) names() []string {
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

// get is an option with %(name)s replaced.
func (s *iniSection) get(name string) (value.Value, bool) {
	v, ok := s.raw(name)
	if !ok {
		return nil, false
	}
	if v == nil {
		return value.None{}, true
	}
	return value.Str(s.interpolate(*v, 10)), true
}

func (s *iniSection) raw(name string) (*string, bool) {
	if v, ok := s.values[name]; ok {
		return v, true
	}
	if s.defaults != nil {
		return s.defaults.raw(name)
	}
	return nil, false
}

var iniReference = regexp.MustCompile(`%%|%\(([^)]+)\)s`)

func (s *iniSection) interpolate(text string, depth int) string {
	return iniReference.ReplaceAllStringFunc(text, func(ref string) string {
		if ref == "%%" {
			return "%"
		}
		v, ok := s.raw(strings.ToLower(ref[2 : len(ref)-2]))
		if !ok || v == nil || depth == 0 {
			return ref
		}
		return s.interpolate(*v, depth-1)
	})
}
