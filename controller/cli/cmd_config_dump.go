package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hark/controller/config"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
)

func newConfigDumpCommand(a *app) *cobra.Command {
	add := func(j *configJob, fs flags) {
		fs.Toggle(&j.changed, "only-changed", "", false, "only settings that are not at their default")
		j.formatFlag(fs, "display", "json", "yaml", "display")
	}
	return newConfigSub(a, "dump", "Show the settings in force", add, func(ctx context.Context, j *configJob) error {
		if j.format == "display" {
			return j.term.Page(ctx, strings.Join(j.dumpLines(), "\n"))
		}
		text, err := j.structured(j.dumpValue())
		if err != nil {
			return err
		}
		return j.term.Page(ctx, text)
	})
}

// shown returns the values of a group of settings. Under Ansible's name hark's own are shown only if somebody set
// them.
func (j *configJob) shown(plugin string) []config.Value {
	var out []config.Value
	for _, v := range j.cfg.Values(plugin) {
		isDefault := v.Origin == "default"
		if j.changed && isDefault || !has(j.app, v.Setting) || v.Setting.Own() && isDefault && j.name != "hark" {
			continue
		}
		out = append(out, v)
	}
	return out
}

func (j *configJob) dumpLines() []string {
	var lines []string
	if j.kind == "base" || j.kind == "all" {
		lines = j.baseLines()
	}
	for _, kind := range j.pluginKinds() {
		part := j.pluginLines(kind)
		if j.kind == "all" && (len(part) > 0 || !j.changed) {
			lines = append(lines, "\n"+strings.ToUpper(kind)+":\n"+strings.Repeat("=", len(kind)))
		}
		lines = append(lines, part...)
	}
	return lines
}

// valueLine returns a setting with its value.
func (j *configJob) valueLine(v config.Value) string {
	color := view.ColorChanged
	if v.Origin == "default" {
		color = view.ColorOK
	}
	return j.display.Paint(color, fmt.Sprintf("%s(%s) = %s", v.Setting.Name, v.Origin, printed(v.V)))
}

// pluginLines returns the settings of the plug-ins of a kind, each under its name.
func (j *configJob) pluginLines(kind string) []string {
	var lines []string
	for _, p := range j.pluginNames(kind) {
		values := j.shown(kind + "/" + p)
		if len(values) > 0 {
			lines = append(lines, "\n"+p+":\n"+strings.Repeat("_", len(p)))
		}
		for _, v := range values {
			lines = append(lines, j.valueLine(v))
		}
	}
	return lines
}

// baseLines returns the general settings, with the file that was read among them.
func (j *configJob) baseLines() []string {
	var lines []string
	for _, v := range j.base() {
		lines = append(lines, j.valueLine(v))
	}
	return lines
}

// base returns the general settings, with the file that was read as one of them.
func (j *configJob) base() []config.Value {
	file := config.Value{Setting: config.Setting{Name: "CONFIG_FILE"}}
	if j.cfg.File != "" {
		file.V = j.cfg.File
	}
	base := append(j.shown(""), file)
	slices.SortStableFunc(base, func(a, b config.Value) int { return strings.Compare(a.Setting.Name, b.Setting.Name) })
	return base
}

// pluginKinds returns the kinds of plug-ins to show, in order.
func (j *configJob) pluginKinds() []string {
	switch j.kind {
	case "base":
		return nil
	case "all":
		return configKinds()[2:]
	}
	return []string{j.kind}
}

// pluginNames returns the plug-ins of a kind that have settings, or those that were asked for.
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

// dumpValue returns the dump as data.
func (j *configJob) dumpValue() value.Value {
	list := value.NewList()
	add := func(to *value.List, v config.Value) {
		d := value.NewDict()
		d.Set("name", value.Str(v.Setting.Name))
		d.Set("value", project.SettingValue(v.V))
		d.Set("origin", value.Str(v.Origin))
		d.Set("type", value.None{})
		to.Items = append(to.Items, d)
	}
	if j.kind == "base" || j.kind == "all" {
		for _, v := range j.base() {
			add(list, v)
		}
	}
	for _, kind := range j.pluginKinds() {
		into := list
		if j.kind == "all" {
			into = value.NewList()
			d := value.NewDict()
			d.Set(strings.ToUpper(kind)+"_PLUGINS", into)
			list.Items = append(list.Items, d)
		}
		for _, p := range j.pluginNames(kind) {
			inner := value.NewList()
			for _, v := range j.shown(kind + "/" + p) {
				add(inner, v)
			}
			if len(inner.Items) == 0 && j.changed {
				continue
			}
			d := value.NewDict()
			d.Set(p, inner)
			into.Items = append(into.Items, d)
		}
	}
	return list
}

// structured prints data as JSON or YAML.
func (j *configJob) structured(v value.Value) (string, error) {
	if j.format == "json" {
		return value.JSONText(v, value.JSONOptions{Lines: true, Indent: "    ", Sorted: true}), nil
	}
	return yamlText(v)
}
