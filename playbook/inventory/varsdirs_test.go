package inventory

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules/py/value"
)

func TestDirectoriesOfVariablesStandInTheOrderOfSources(t *testing.T) {
	dir := files(t, map[string]string{"one/hosts": "", "two/hosts": "", "book/site.yml": ""})
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	d := newVarsDirs(&Options{Sources: []string{at("one", "hosts"), "a,b,", at("two")}, PlaybookDir: at("book"),
		AssumedDir: true}, &notices{})
	for what, c := range map[string]struct {
		dirs []*varsDir
		want string
	}{"all": {d.all("group_vars"), "one two book"}, "given": {d.given("group_vars"), "one two"}} {
		var got []string
		for _, x := range c.dirs {
			got = append(got, filepath.Base(x.root))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %s", what, got, c.want)
		}
	}
}

func TestADirectoryThatAppearsIsRead(t *testing.T) {
	dir := files(t, map[string]string{"hosts": "h\n"})
	d := newVarsDirs(&Options{Sources: []string{filepath.Join(dir, "hosts")}}, &notices{})
	if len(d.all("host_vars")) != 1 || d.appeared() {
		t.Fatal("a directory appeared that nobody made")
	}
	if err := os.Mkdir(filepath.Join(dir, "host_vars"), 0o700); err != nil {
		t.Fatal(err)
	}
	if !d.appeared() || d.appeared() {
		t.Error("a new directory is to be told once")
	}
}

// A condition over the fleet sees what a play would see of a host, files of variables too.
func TestConditionsSeeVariablesOfFiles(t *testing.T) {
	dir := files(t, map[string]string{"hosts": "[web]\na\nb\n", "group_vars/web": "tier: front\n",
		"host_vars/b": "tier: back\n"})
	inv, err := Load(context.Background(), Options{Sources: []string{filepath.Join(dir, "hosts")}})
	if err != nil {
		t.Fatal(err)
	}
	sure, unsure, err := inv.Where(context.Background(), "tier | default('none') == 'front'",
		func(string) *value.Dict { return nil })
	if got := strings.Join(hostNames(sure), " "); got != "a" || len(unsure) != 0 || err != nil {
		t.Errorf("it holds for %q, perhaps for %q (%v)", got, hostNames(unsure), err)
	}
}
