package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sort"
	"strings"
	"syscall"

	"hark/modules/dialect"
	"hark/playbook/deprecation"
)

// Config is the settings of one process. It does not change.
type Config struct {
	// File is the configuration file that was read, "" if there is none.
	File string
	// Warnings were found while reading.
	Warnings []string
	// Unknown are the entries of the file that no setting reads, as [section]name.
	Unknown []string
	// Deprecated is called with what is used though a later version will not have it.
	Deprecated []deprecation.Notice
	// Gone are the settings that are set and do nothing at this level, with their origins.
	Gone map[string]string

	world    World
	settings []Setting
	values   map[string]Value
	ini      iniFile
}

// Value is what a setting is set to.
type Value struct {
	Setting Setting
	// Origin is default, the path of the file, or "env: NAME".
	Origin string
	// V is nil, a string, a bool, an int, a float64 or a []string, by the kind.
	V any
}

// Error is a configuration that cannot be used. Its text is for the user.
type Error struct{ Text string }

func (e *Error) Error() string { return e.Text }

// Load reads the configuration. With file it reads that one instead of looking for one.
func Load(w World, file string) (*Config, error) {
	c := &Config{File: file, world: w, settings: Settings(), values: map[string]Value{}}
	if file == "" {
		var warning string
		if c.File, warning = w.find(); warning != "" {
			c.Warnings = append(c.Warnings, warning)
		}
	}
	ini, err := readINI(c.File)
	if err != nil {
		return nil, err
	}
	c.ini = ini
	for _, s := range c.settings {
		v, err := c.read(s, ini)
		if err != nil {
			return nil, err
		}
		c.values[key(s)] = v
	}
	c.Unknown, c.Deprecated = c.unknown(ini), c.deprecations(ini)
	return c, nil
}

// Newer returns the configuration of level 2.19: with its defaults where nothing else is set, and without what it
// does not know any more.
func (c *Config) Newer() *Config {
	n := *c
	n.values, n.Gone = maps.Clone(c.values), map[string]string{}
	for name, v := range n.values {
		s := v.Setting
		switch {
		case s.Until != nil && v.Origin != "default":
			n.Gone[name] = v.Origin
		case s.Renewed != nil && v.Origin == "default":
			s.Default = s.Newer
		default:
			continue
		}
		n.reset(name, s)
	}
	n.Deprecated = slices.DeleteFunc(slices.Clone(c.Deprecated), func(d deprecation.Notice) bool {
		name, _, _ := strings.Cut(d.Text, " ")
		return n.Gone[name] != ""
	})
	return &n
}

// At returns the configuration of a language level: settings that came with a later one have their defaults.
func (c *Config) At(level dialect.Level) *Config {
	n := *c
	n.values = maps.Clone(c.values)
	for name, v := range n.values {
		if v.Setting.Since != nil && !level.Has(v.Setting.Since) && v.Origin != "default" {
			n.reset(name, v.Setting)
		}
	}
	return &n
}

// reset gives a setting its default. c must be the caller's own.
func (c *Config) reset(name string, s Setting) {
	if v, err := c.read(Setting{Name: s.Name, Kind: s.Kind, Default: s.Default, NoDefault: s.NoDefault}, nil); err == nil {
		c.values[name] = Value{Setting: s, Origin: "default", V: v.V}
	}
}

// key returns how a setting is asked for: its name, with the plug-in's in front if it belongs to one.
func key(s Setting) string {
	if s.Plugin == "" {
		return s.Name
	}
	return s.Plugin + "." + s.Name
}

func readINI(path string) (iniFile, error) {
	if path == "" {
		return nil, nil
	}
	if ext := path[strings.LastIndexAny(path, "/.")+1:]; path != os.DevNull && ext != "cfg" && ext != "ini" {
		if i := strings.LastIndexAny(path, "/."); path[i] == '.' {
			ext = "." + ext
		} else {
			ext = ""
		}
		return nil, &Error{"Unsupported configuration file extension for " + path + ": " + ext}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, syscall.EISDIR) {
			return nil, &Error{fmt.Sprintf("[Errno %d] Is a directory: b'%s'", int(syscall.EISDIR), path)}
		}
		return nil, &Error{fmt.Sprintf("cannot read the configuration file: %v", err)}
	}
	ini, err := parseINI(string(text))
	if err != nil {
		return nil, &Error{"Error reading config file (" + path + "): " + err.Error()}
	}
	return ini, nil
}

// read finds the value of a setting. The last of several names that are set wins, as in Ansible.
func (c *Config) read(s Setting, ini iniFile) (Value, error) {
	text, origin, found := "", "default", false
	for _, name := range s.Env {
		if v, ok := c.world.Getenv(name); ok {
			text, origin, found = v, "env: "+name, true
		}
	}
	for _, k := range s.Keys {
		if strings.HasPrefix(origin, "env: ") {
			break
		}
		if v, ok := ini.get(k); ok {
			text, origin, found = v, c.File, true
		}
	}
	if !found {
		if s.NoDefault {
			return Value{Setting: s, Origin: origin}, nil
		}
		text = c.home(s.Default)
	}
	v, err := c.convert(s, text, origin)
	if err != nil && found && text == "" && strings.HasPrefix(origin, "env: ") {
		// An empty variable of the environment is one that is not set, except for text.
		return c.read(Setting{Name: s.Name, Kind: s.Kind, Default: s.Default, NoDefault: s.NoDefault}, nil)
	}
	if err != nil {
		return Value{}, &Error{fmt.Sprintf("Invalid type for configuration option %s (from %s): %v", entry(s), origin, err)}
	}
	if err := checkChoice(s, v); err != nil {
		return Value{}, err
	}
	return Value{Setting: s, Origin: origin, V: v}, nil
}

// home puts the directories of the user's files into a default.
func (c *Config) home(text string) string {
	for mark, name := range map[string]string{"@home": "ANSIBLE_HOME", "@hark": "HARK_HOME"} {
		if strings.HasPrefix(text, mark) {
			return c.lookup(name) + strings.TrimPrefix(text, mark)
		}
	}
	return text
}

// lookup reads one of the two settings that defaults refer to.
func (c *Config) lookup(name string) string {
	if v, ok := c.values[name]; ok {
		s, _ := v.V.(string)
		return s
	}
	for _, s := range c.settings {
		if s.Name == name {
			ini, _ := readINI(c.File)
			v, _ := c.read(s, ini)
			text, _ := v.V.(string)
			return text
		}
	}
	return ""
}

func entry(s Setting) string {
	if s.Plugin == "" {
		return "setting: " + s.Name
	}
	kind, name, _ := strings.Cut(s.Plugin, "/")
	return "plugin_type: " + kind + " plugin: " + name + " setting: " + s.Name
}

func checkChoice(s Setting, v any) error {
	if len(s.Choices) == 0 || v == nil {
		return nil
	}
	for _, choice := range s.Choices {
		if v == choice {
			return nil
		}
	}
	return &Error{fmt.Sprintf("Invalid value %q for configuration option %q, valid values are: %s",
		fmt.Sprint(v), entry(s)+" ", strings.Join(s.Choices, ", "))}
}

// unknown returns the entries of the file that no setting reads. Sections of plug-ins that hark does not have are
// left alone.
func (c *Config) unknown(ini iniFile) []string {
	known, sections := map[Key]bool{}, map[string]bool{}
	for _, s := range c.settings {
		for _, k := range s.Keys {
			known[Key{k.Section, strings.ToLower(k.Name)}] = true
			sections[k.Section] = true
		}
	}
	var out []string
	for section, values := range ini {
		for name := range values {
			if k := (Key{section, name}); !known[k] && sections[section] {
				out = append(out, k.String())
			}
		}
	}
	sort.Strings(out)
	return out
}

// Entry returns an entry that no setting stands for, as those of Galaxy servers, whose names users choose: the
// environment's, else the file's.
func (c *Config) Entry(section, name, env string) (string, bool) {
	if v, ok := c.world.Getenv(env); ok {
		return v, true
	}
	return c.ini.get(Key{section, name})
}
