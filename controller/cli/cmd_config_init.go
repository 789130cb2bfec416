package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hark/controller/config"
	"hark/controller/internal/ansible/project"
	"hark/modules/py/value"
)

func newConfigInitCommand(a *app) *cobra.Command {
	add := func(j *configJob, fs flags) {
		j.formatFlag(fs, "ini", "ini", "env", "vars")
		fs.Toggle(&j.disabled, "disabled", "", false, "put every entry into a comment")
	}
	return newConfigSub(a, "init", "Write a configuration file with all settings", add,
		func(ctx context.Context, j *configJob) error {
			var lines []string
			switch j.format {
			case "env":
				lines = j.initEnv()
			case "ini":
				lines = j.initINI()
			}
			return j.term.Page(ctx, strings.Join(lines, "\n"))
		})
}

// settings returns the rows that a call is about: the general ones, then those of plug-ins.
func (j *configJob) settings() []config.Setting {
	var out []config.Setting
	all := config.Settings()
	slices.SortStableFunc(all, func(a, b config.Setting) int { return strings.Compare(a.Plugin+a.Name, b.Plugin+b.Name) })
	for _, s := range all {
		kind, plugin, isPlugin := strings.Cut(s.Plugin, "/")
		wanted := j.kind == "all" || !isPlugin && j.kind == "base" || isPlugin && j.kind == kind
		if wanted && has(j.app, s) && (len(j.plugins) == 0 || !isPlugin || slices.Contains(j.plugins, plugin)) {
			out = append(out, s)
		}
	}
	return out
}

// initINI returns an ansible.cfg, section by section in the order in which settings name them.
func (j *configJob) initINI() []string {
	var order []string
	sections := map[string][]string{}
	for _, s := range j.settings() {
		if len(s.Keys) == 0 {
			continue
		}
		k := s.Keys[len(s.Keys)-1]
		if sections[k.Section] == nil {
			order = append(order, k.Section)
		}
		name := k.Name
		if j.disabled {
			name = ";" + name
		}
		sections[k.Section] = append(sections[k.Section], fmt.Sprintf("# (%s) %s\n%s=%s", s.Kind, s.Doc, name, initValue(s)))
	}
	var lines []string
	for _, section := range order {
		lines = append(lines, "["+section+"]")
		for _, entry := range sections[section] {
			lines = append(lines, entry, "")
		}
		lines = append(lines, "")
	}
	return lines
}

func (j *configJob) initEnv() []string {
	mark := ""
	if j.disabled {
		mark = "#"
	}
	var lines []string
	for _, s := range j.settings() {
		if len(s.Env) == 0 || strings.HasPrefix(s.Env[0], "_") {
			continue
		}
		v := initValue(s)
		switch {
		case s.Kind == config.Bool && !s.NoDefault:
			v = boolDigit(s.Default)
		case v != "":
			v = quoteShell(v)
		}
		lines = append(lines, fmt.Sprintf("# %s(%s): %s", s.Name, s.Kind, s.Doc), mark+s.Env[len(s.Env)-1]+"="+v, "")
	}
	return lines
}

// initValue returns a default as it stands in a file.
func initValue(s config.Setting) string {
	if s.Kind == config.Bool && !s.NoDefault {
		return printed(config.Truth(s.Default))
	}
	v := strings.Replace(s.Default, "@home", "~/.ansible", 1)
	return strings.Replace(v, "@hark", "~/.config/hark", 1)
}

func newConfigListCommand(a *app) *cobra.Command {
	return newConfigSub(a, "list", "Describe all settings",
		func(j *configJob, fs flags) { j.formatFlag(fs, "yaml", "json", "yaml") },
		func(ctx context.Context, j *configJob) error {
			all := value.NewDict()
			for _, s := range j.settings() {
				into := all
				if s.Plugin != "" {
					for _, key := range append([]string{"PLUGINS"}, strings.Split(s.Plugin, "/")...) {
						into = child(into, key)
					}
				}
				into.Set(s.Name, describeSetting(s))
			}
			text, err := j.structured(all)
			if err != nil {
				return err
			}
			return j.term.Page(ctx, text)
		})
}

func child(d *value.Dict, key string) *value.Dict {
	if v, ok := d.Get(key); ok {
		return v.(*value.Dict)
	}
	c := value.NewDict()
	d.Set(key, c)
	return c
}

// describeSetting returns a row of the table as Ansible describes settings.
func describeSetting(s config.Setting) *value.Dict {
	d := value.NewDict()
	d.Set("description", value.NewList(value.Str(s.Doc)))
	d.Set("type", value.Str(s.Kind.String()))
	d.Set("default", value.None{})
	if !s.NoDefault {
		d.Set("default", defaultValue(s))
	}
	if len(s.Choices) > 0 {
		d.Set("choices", project.SettingValue(s.Choices))
	}
	list := value.NewList()
	for _, name := range s.Env {
		e := value.NewDict()
		e.Set("name", value.Str(name))
		list.Items = append(list.Items, e)
	}
	if len(list.Items) > 0 {
		d.Set("env", list)
	}
	list = value.NewList()
	for _, k := range s.Keys {
		e := value.NewDict()
		e.Set("key", value.Str(k.Name))
		e.Set("section", value.Str(k.Section))
		list.Items = append(list.Items, e)
	}
	if len(list.Items) > 0 {
		d.Set("ini", list)
	}
	return d
}

func defaultValue(s config.Setting) value.Value {
	text := initValue(s)
	switch s.Kind {
	case config.Bool:
		return value.Bool(config.Truth(s.Default))
	case config.Int:
		if n, err := strconv.Atoi(text); err == nil {
			return value.Int(n)
		}
	case config.Float, config.Seconds:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return value.Float(f)
		}
	case config.List:
		if text == "" {
			return value.NewList()
		}
		return project.SettingValue(strings.Split(text, ", "))
	}
	return value.Str(text)
}

func quoteShell(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("@%+=:,./-_", r))
	}) {
		return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
	}
	return s
}

func boolDigit(text string) string { return strconv.Itoa(map[bool]int{true: 1}[config.Truth(text)]) }
