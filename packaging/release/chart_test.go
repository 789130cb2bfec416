package main

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"gopkg.in/yaml.v3"
)

// rendered are the objects of the chart, as Helm would make them of these values.
func rendered(t *testing.T, change func(values map[string]any)) map[string]map[string]any {
	t.Helper()
	values := map[string]any{}
	text, err := os.ReadFile("chart/values.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &values)
	}
	if err != nil {
		t.Fatal(err)
	}
	change(values)
	all := template.New("chart").Option("missingkey=error")
	funcs := template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var b bytes.Buffer
			err := all.ExecuteTemplate(&b, name, data)
			return b.String(), err
		},
		"toYaml": func(v any) (string, error) {
			text, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(text), "\n"), err
		},
	}
	maps.Copy(funcs, sprig.TxtFuncMap())
	maps.Copy(funcs, template.FuncMap{"include": funcs["include"], "toYaml": funcs["toYaml"]})
	if _, err := all.Funcs(funcs).ParseGlob("chart/templates/*"); err != nil {
		t.Fatal(err)
	}
	data := map[string]any{
		"Values": values, "Release": map[string]any{"Name": "my", "Namespace": "default", "Service": "Helm"}, "Chart": map[string]any{"AppVersion": testVersion},
	}
	objects := map[string]map[string]any{}
	for _, name := range []string{"broker.yaml", "console.yaml", "keeper.yaml"} {
		var b bytes.Buffer
		if err := all.ExecuteTemplate(&b, name, data); err != nil {
			t.Fatal(err)
		}
		for d := yaml.NewDecoder(&b); ; {
			var o map[string]any
			if err := d.Decode(&o); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if o != nil {
				objects[o["kind"].(string)+" "+o["metadata"].(map[string]any)["name"].(string)] = o
			}
		}
	}
	return objects
}

// TestTheChartMakesWhatTheValuesSay renders its templates; helm lints it where it is.
func TestTheChartMakesWhatTheValuesSay(t *testing.T) {
	if few := rendered(t, func(map[string]any) {}); len(few) != 2 || few["StatefulSet my-broker"] == nil || few["Service my-broker"] == nil {
		t.Errorf("without more it makes %v", few)
	}
	all := rendered(t, func(values map[string]any) {
		for _, part := range []string{"console", "keeper"} {
			values[part].(map[string]any)["enabled"] = true
		}
		values["console"].(map[string]any)["operators"] = []any{"UABC=anna"}
	})
	for _, name := range []string{"StatefulSet my-broker", "Service my-broker", "StatefulSet my-console", "Service my-console", "StatefulSet my-keeper"} {
		if all[name] == nil {
			t.Errorf("it makes no %s", name)
		}
	}
	text, err := yaml.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"UABC=anna", "runAsNonRoot: true", "hark-keeper:@TAG@", "readOnlyRootFilesystem: true", "storage: 10Gi"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	if _, err := exec.LookPath("helm"); err == nil {
		dir := released(t)
		must(t, "helm", "lint", "--strict", only(t, filepath.Join(dir, "hark-chart_*.tgz")))
	}
}

// TestComposeStartsTheImages: the services of the compose file are those that there are images of.
func TestComposeStartsTheImages(t *testing.T) {
	var file struct {
		Services map[string]struct{ Image string }
		Volumes  map[string]any
	}
	text, err := os.ReadFile("compose.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range services() {
		part := strings.TrimPrefix(s.name, "hark-")
		if image := file.Services[part].Image; image != s.name+":@TAG@" {
			t.Errorf("the image of %s is %q", part, image)
		}
	}
}
