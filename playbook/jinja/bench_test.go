package jinja_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/filters"
	"hark/playbook/jinja/templar"
)

// manyVars are 500 variables, as a host has.
func manyVars() templar.DictVars {
	d := value.NewDict()
	for i := range 500 {
		d.Set(fmt.Sprintf("var_%d", i), value.SourceText("value"))
	}
	d.Set("v", value.SourceText("text"))
	d.Set("port", value.Int(8080))
	d.Set("env", value.SourceText("prod"))
	d.Set("url", value.SourceText("http://{{ env }}:{{ port }}/"))
	return templar.DictVars{Dict: d}
}

func BenchmarkVariable(b *testing.B) { benchText(b, "{{ v }}") }

func BenchmarkNestedVariable(b *testing.B) { benchText(b, "{{ url }}") }

func benchText(b *testing.B, text string) {
	t := templar.New(manyVars(), templar.Options{})
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.Template(ctx, value.SourceText(text)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWhen(b *testing.B) {
	t := templar.New(manyVars(), templar.Options{})
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if ok, _, err := t.Condition(ctx, value.SourceText("env == 'prod' and port > 80 and nope is not defined")); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func nginx(tb testing.TB) (string, templar.DictVars) {
	text, err := os.ReadFile(filepath.Join("testdata", "nginx.conf.j2"))
	if err != nil {
		tb.Fatal(err)
	}
	vars, err := os.ReadFile(filepath.Join("testdata", "nginx.json"))
	if err != nil {
		tb.Fatal(err)
	}
	v, err := value.Decode(vars, value.KindSource)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text), templar.DictVars{Dict: v.(*value.Dict)}
}

func BenchmarkNginx(b *testing.B) {
	text, vars := nginx(b)
	t := templar.New(vars, templar.Options{})
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.File(ctx, value.SourceText(text), templar.FileOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileNginx(b *testing.B) {
	text, _ := nginx(b)
	o := jinja.Options{Syntax: jinja.NewSyntax(), Env: &jinja.Env{Filters: filters.Filters(), Tests: filters.Tests()}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jinja.Parse(text, o); err != nil {
			b.Fatal(err)
		}
	}
}
