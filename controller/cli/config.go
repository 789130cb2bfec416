package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hark/controller/config"
	"hark/controller/internal/pyjson"
	"hark/controller/internal/view"
	"hark/playbook/jinja/value"
)

// configCommand is ansible-config.
func (a *app) configCommand(name string) *cobra.Command {
	cmd := &cobra.Command{
		Use:     name,
		Short:   "Show settings and where they come from",
		Example: "  " + a.example(name) + " dump --only-changed\n  " + a.example(name) + " init --disabled > ansible.cfg",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{text: "the following arguments are required: action"}
			}
			return &usageError{text: fmt.Sprintf("argument action: invalid choice: '%s' (choose from 'list', 'dump', 'view', 'init')", args[0])}
		},
	}
	cmd.AddCommand(a.configList(), a.configDump(), a.configView(), a.configInit())
	return cmd
}

// configJob is one call of a config command.
type configJob struct {
	*app
	o                  options
	file, kind, format string
	plugins            []string
	cfg                *config.Config
}

// configSub makes a sub-command: its flags, and its work with the configuration that was asked for.
func (a *app) configSub(name, short string, formats []string, add func(flagSet), run func(context.Context, *configJob) error) *cobra.Command {
	j := &configJob{app: a}
	cmd := &cobra.Command{Use: name, Short: short, Args: cobra.ArbitraryArgs, Annotations: map[string]string{"args": "[args ...]"}}
	fs := a.flagSet(cmd.Flags())
	fs.text(&j.file, "config", "c", "", "CONFIG_FILE", "the configuration file, instead of the one that is found")
	fs.text(&j.kind, "type", "t", "base", "{all,base,cache,callback,connection}", "the settings of one kind of plug-ins")
	if formats != nil {
		fs.text(&j.format, "format", "f", formats[0], "{"+strings.Join(formats, ",")+"}", "how to print")
	}
	add(fs)
	a.baseFlags(fs, &j.o)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if formats != nil && !slices.Contains(formats, j.format) {
			return badChoice(cmd, "format", j.format, formats)
		}
		if kinds := configKinds(); !slices.Contains(kinds, j.kind) {
			return badChoice(cmd, "type", j.kind, kinds)
		}
		j.plugins = args
		if err := a.begin(cmd, &j.o); err != nil {
			return err
		}
		if err := j.load(); err != nil {
			return err
		}
		return run(cmd.Context(), j)
	}
	return cmd
}

// configKinds are what --type may be.
func configKinds() []string {
	return []string{"all", "base", "become", "cache", "callback", "cliconf", "connection", "httpapi", "inventory", "lookup", "netconf", "shell", "vars"}
}

func badChoice(cmd *cobra.Command, flag, got string, choices []string) error {
	return &usageError{text: fmt.Sprintf("argument %s: invalid choice: '%s' (choose from '%s')",
		flagNames(cmd.Flags().Lookup(flag)), got, strings.Join(choices, "', '"))}
}

func (j *configJob) load() (err error) {
	j.cfg = j.app.cfg
	if j.file == "" {
		return nil
	}
	path := j.cfg.Abs(j.file)
	if f, err := os.Open(path); err != nil {
		return &optionsError{"The provided configuration file is missing or not accessible: " + path}
	} else if err := f.Close(); err != nil {
		return err
	}
	j.cfg, err = config.Load(j.World, path)
	return err
}

func (a *app) configView() *cobra.Command {
	return a.configSub("view", "Show the configuration file", nil, func(flagSet) {}, func(ctx context.Context, j *configJob) error {
		if j.cfg.File == "" {
			return failf("Invalid or no config file was supplied")
		}
		text, err := os.ReadFile(j.cfg.File)
		if err != nil {
			return failf("Failed to open config file: %v", err)
		}
		return j.page(ctx, string(text))
	})
}

func (a *app) configDump() *cobra.Command {
	var changed bool
	add := func(fs flagSet) {
		fs.toggle(&changed, "only-changed", "", false, "only settings that are not at their default")
	}
	return a.configSub("dump", "Show the settings in force", []string{"display", "json", "yaml"}, add, func(ctx context.Context, j *configJob) error {
		if j.format == "display" {
			return j.page(ctx, strings.Join(j.dumpLines(changed), "\n"))
		}
		text, err := j.structured(j.dumpValue(changed))
		if err != nil {
			return err
		}
		return j.page(ctx, text)
	})
}

// shown are the values of a group of settings. Under Ansible's name hark's own are shown only if somebody set them.
func (j *configJob) shown(plugin string, changed bool) []config.Value {
	var out []config.Value
	for _, v := range j.cfg.Values(plugin) {
		isDefault := v.Origin == "default"
		if changed && isDefault || v.Setting.Own() && isDefault && j.name != "hark" {
			continue
		}
		out = append(out, v)
	}
	return out
}

func (j *configJob) dumpLines(changed bool) []string {
	var lines []string
	add := func(v config.Value) {
		color := view.ColorChanged
		if v.Origin == "default" {
			color = view.ColorOK
		}
		lines = append(lines, j.display.Paint(color, fmt.Sprintf("%s(%s) = %s", v.Setting.Name, v.Origin, pyRepr(v.V, false))))
	}
	if j.kind == "base" || j.kind == "all" {
		file := "None"
		if j.cfg.File != "" {
			file = j.cfg.File
		}
		base := j.shown("", changed)
		at, _ := slices.BinarySearchFunc(base, "CONFIG_FILE", func(v config.Value, name string) int { return strings.Compare(v.Setting.Name, name) })
		for i, v := range base {
			if i == at {
				lines = append(lines, j.display.Paint(view.ColorChanged, "CONFIG_FILE() = "+file))
			}
			add(v)
		}
		if at == len(base) {
			lines = append(lines, j.display.Paint(view.ColorChanged, "CONFIG_FILE() = "+file))
		}
	}
	for _, kind := range j.pluginKinds() {
		if j.kind == "all" {
			lines = append(lines, "\n"+strings.ToUpper(kind)+":\n"+strings.Repeat("=", len(kind)))
		}
		for _, p := range j.pluginNames(kind) {
			values := j.shown(kind+"/"+p, changed)
			if len(values) == 0 {
				continue
			}
			lines = append(lines, "\n"+p+":\n"+strings.Repeat("_", len(p)))
			for _, v := range values {
				add(v)
			}
		}
	}
	return lines
}

// pluginKinds are the kinds of plug-ins to show, in order.
func (j *configJob) pluginKinds() []string {
	switch j.kind {
	case "base":
		return nil
	case "all":
		return configKinds()[2:]
	}
	return []string{j.kind}
}

// pluginNames are the plug-ins of a kind that have settings, or those that were asked for.
func (j *configJob) pluginNames(kind string) []string {
	var known []string
	for _, s := range config.Settings() {
		if k, name, _ := strings.Cut(s.Plugin, "/"); k == kind && !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	slices.Sort(known)
	if len(j.plugins) == 0 {
		return known
	}
	var out []string
	for _, name := range j.plugins {
		if !slices.Contains(known, name) {
			j.display.Warn("Skipping " + name + " as we could not find matching plugin")
			continue
		}
		out = append(out, name)
	}
	return out
}

// dumpValue is the dump as data.
func (j *configJob) dumpValue(changed bool) value.Value {
	list := value.NewList()
	add := func(to *value.List, v config.Value) {
		d := value.NewDict()
		d.Set("name", value.Str(v.Setting.Name))
		d.Set("value", goValue(v.V))
		d.Set("origin", value.Str(v.Origin))
		d.Set("type", value.None{})
		to.Items = append(to.Items, d)
	}
	if j.kind == "base" || j.kind == "all" {
		for _, v := range j.shown("", changed) {
			add(list, v)
		}
	}
	for _, kind := range j.pluginKinds() {
		for _, p := range j.pluginNames(kind) {
			inner := value.NewList()
			for _, v := range j.shown(kind+"/"+p, changed) {
				add(inner, v)
			}
			d := value.NewDict()
			d.Set(p, inner)
			list.Items = append(list.Items, d)
		}
	}
	return list
}

// structured prints data as JSON or YAML.
func (j *configJob) structured(v value.Value) (string, error) {
	if j.format == "json" {
		return pyjson.Dumps(v, pyjson.Options{Indent: 4, SortKeys: true}), nil
	}
	return yamlText(v)
}

// goValue is the Go value of a setting as a value.
func goValue(v any) value.Value {
	if l, ok := v.([]string); ok {
		list := value.NewList()
		for _, s := range l {
			list.Items = append(list.Items, value.Str(s))
		}
		return list
	}
	return value.FromGo(v, value.KindStr)
}

// pyRepr is a value as Python prints it, text in quotes only inside of lists.
func pyRepr(v any, quoted bool) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case float64:
		return value.FloatText(v)
	case []string:
		return pyList(v)
	case string:
		if quoted {
			return value.ReprText(v)
		}
		return v
	}
	return fmt.Sprint(v)
}

func pyList(items []string) string {
	parts := make([]string, len(items))
	for i, s := range items {
		parts[i] = value.ReprText(s)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
