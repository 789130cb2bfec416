package builtin

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

// factsEnv has the named tools, which answer by their first words.
func factsEnv(t *testing.T, answers map[string]string, tools ...string) *modules.Env {
	t.Helper()
	dir := t.TempDir()
	for _, tool := range tools {
		if err := os.WriteFile(filepath.Join(dir, tool), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &modules.Env{Environ: []string{"PATH=" + dir}, Warn: func(string, ...any) {}, Exec: func(_ context.Context, c modules.Command) (modules.Output, error) {
		line := strings.Join(c.Argv, " ")
		if text, ok := answers[line]; ok {
			return modules.Output{Stdout: []byte(text)}, nil
		}
		return modules.Output{Stdout: []byte(answers[c.Argv[0]])}, nil
	}}
}

func TestPackageFactsReadEveryManager(t *testing.T) {
	main, own := filepath.Join(t.TempDir(), "main_Packages.lz4"), filepath.Join(t.TempDir(), "own_Packages")
	for _, file := range []string{main, own} {
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const readList = `/bin/sh -c /usr/lib/apt/apt-helper cat-file "$1" | grep -E '^(Package|Version|Architecture|Section): ' sh `
	answers := map[string]string{
		"dpkg-query": "bash\t5.2\tamd64\tshells\tinstalled\ngone\t1\tall\tx\tconfig-files\nlibc6\t2.36\ti386\tlibs\tinstalled\nown\t1\tall\t\tunpacked\n",
		"dpkg":       "amd64\n",
		"apt-get":    main + "\tDebian\n" + own + "\t\n/not/fetched\tDebian\n",
		readList + main: "Package: bash\nArchitecture: amd64\nVersion: 5.2\nSection: base\nPackage: bash\nVersion: 5.3\nArchitecture: amd64\nSection: new\n" +
			"Package: libc6\nArchitecture: i386\nVersion: 2.36\nPackage: own\nVersion: 0.9\nArchitecture: all\nSection: x\n",
		readList + own: "Package: bash\nArchitecture: amd64\nVersion: 5.2\nSection: no\n",
		"rpm":          "kernel\t5.14\t1.el9\t(none)\tx86_64\nkernel\t5.15\t2.el9\t2\tx86_64\ngpg-pubkey\t1\t2\t(none)\t(none)\n",
		"apk":          "musl-utils-1.2.4-r2\nodd\n",
	}
	for _, c := range []struct {
		args  map[string]any
		tools []string
		want  string
	}{
		{nil, []string{"dpkg-query"}, `{"ansible_facts":{"packages":{` +
			`"bash":[{"arch":"amd64","category":"base","name":"bash","origin":"Debian","source":"apt","version":"5.2"}],` +
			`"libc6:i386":[{"arch":"i386","category":"libs","name":"libc6:i386","origin":"Debian","source":"apt","version":"2.36"}],` +
			`"own":[{"arch":"all","category":"","name":"own","origin":"","source":"apt","version":"1"}]}},"changed":false}`},
		{map[string]any{"manager": "rpm"}, []string{"rpm", "dpkg-query"}, `{"ansible_facts":{"packages":{` +
			`"gpg-pubkey":[{"arch":null,"epoch":null,"name":"gpg-pubkey","release":"2","source":"rpm","version":"1"}],` +
			`"kernel":[{"arch":"x86_64","epoch":null,"name":"kernel","release":"1.el9","source":"rpm","version":"5.14"},` +
			`{"arch":"x86_64","epoch":2,"name":"kernel","release":"2.el9","source":"rpm","version":"5.15"}]}},"changed":false}`},
		{map[string]any{"manager": "apk"}, []string{"apk"}, `{"ansible_facts":{"packages":{` +
			`"musl-utils":[{"name":"musl-utils","release":"r2","source":"apk","version":"1.2.4"}],` +
			`"odd":[{"name":"odd","release":"","source":"apk","version":""}]}},"changed":false}`},
		{map[string]any{"manager": "openbsd_pkg"}, nil, `{"changed":false,"failed":true,"msg":"Could not detect a supported package manager from the following list: ['pkg_info'],` +
			` or the required Python library is not installed. Check warnings for details."}`},
		{map[string]any{"manager": "apk"}, nil, `{"changed":false,"failed":true,"msg":"Could not detect a supported package manager from the following list: ['apk'],` +
			` or the required Python library is not installed. Check warnings for details."}`},
		{map[string]any{"manager": "foo"}, nil, `{"changed":false,"failed":true,"msg":"Unsupported package managers requested: foo"}`},
		{map[string]any{"manager": "auto,foo"}, nil, `{"changed":false,"failed":true,"msg":"Could not auto detect a usable package manager, check warnings for details."}`},
	} {
		r := PackageFacts.Run(context.Background(), factsEnv(t, answers, c.tools...), modtest.Args(c.args))
		raw := modtest.ResultJSON(t, r)
		if raw != c.want {
			t.Errorf("%v gave\n%s, want\n%s", c.args, raw, c.want)
		}
	}
}
