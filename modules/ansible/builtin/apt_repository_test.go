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

// sourcesHost has one list and a directory of such.
func sourcesHost(t *testing.T) (env *modules.Env, list, parts string) {
	t.Helper()
	dir := t.TempDir()
	list, parts = filepath.Join(dir, "sources.list"), filepath.Join(dir, "sources.list.d")
	if err := os.Mkdir(parts, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(list, []byte("# mine\ndeb http://a/debian sid main # old\n#deb http://b/debian sid main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	env = factsEnv(t, map[string]string{"apt-config": "LIST='" + list + "'\nPARTS='" + parts + "/'\n"}, "apt-get")
	return env, list, parts
}

func TestAptRepositoryEditsTheLists(t *testing.T) {
	for name, c := range map[string]struct {
		args map[string]any
		file string // that changes, "" for none
		want string // "" if it goes away
	}{
		"new": {map[string]any{"repo": "deb  [arch=amd64] https://me:pw@x.example/deb-s/ sid  main"}, "sources.list.d/x_example_deb_s.list",
			"deb [arch=amd64] https://me:pw@x.example/deb-s/ sid main\n"},
		"named":    {map[string]any{"repo": "deb-src http://c sid main", "filename": "own", "mode": "0600"}, "sources.list.d/own.list", "deb-src http://c sid main\n"},
		"there":    {map[string]any{"repo": "deb http://a/debian sid main"}, "", ""},
		"disabled": {map[string]any{"repo": "deb http://b/debian sid main"}, "sources.list", "# mine\ndeb http://a/debian sid main # old\ndeb http://b/debian sid main\n"},
		"absent":   {map[string]any{"repo": "deb http://a/debian sid main", "state": "absent"}, "sources.list", "# mine\n# deb http://b/debian sid main\n"},
		"ghost":    {map[string]any{"repo": "deb http://z sid main", "state": "absent"}, "", ""},
		"ppa":      {map[string]any{"repo": "ppa:me/it", "state": "absent", "codename": "noble"}, "", ""},
	} {
		env, list, _ := sourcesHost(t)
		c.args["update_cache"] = false
		file := filepath.Join(filepath.Dir(list), c.file)
		old, _ := os.ReadFile(file)
		env.Check, env.Diff = true, true
		r := AptRepository.Run(context.Background(), env, modtest.Args(c.args))
		if now, _ := os.ReadFile(file); r.Failed || r.Changed != (c.file != "") || string(now) != string(old) {
			t.Errorf("%s in check mode: %+v", name, r)
		}
		env.Check = false
		r = AptRepository.Run(context.Background(), env, modtest.Args(c.args))
		if r.Failed || r.Changed != (c.file != "") {
			t.Errorf("%s: %+v", name, r)
		}
		if raw, _ := os.ReadFile(file); c.file != "" && string(raw) != c.want {
			t.Errorf("%s left %q, want %q", name, raw, c.want)
		}
		if info, err := os.Stat(file); name == "named" && (err != nil || info.Mode().Perm() != 0o600) {
			t.Errorf("%s: %v %v", name, info, err)
		}
		if r := AptRepository.Run(context.Background(), env, modtest.Args(c.args)); r.Failed || r.Changed {
			t.Errorf("%s changes twice: %+v", name, r)
		}
	}
}

func TestAptRepositoryRemovesEmptyFiles(t *testing.T) {
	env, _, parts := sourcesHost(t)
	args := map[string]any{"repo": "deb http://c sid main", "update_cache": false}
	AptRepository.Run(context.Background(), env, modtest.Args(args))
	args["state"] = "absent"
	r := AptRepository.Run(context.Background(), env, modtest.Args(args))
	if left, _ := os.ReadDir(parts); !r.Changed || len(left) != 0 {
		t.Errorf("left %v: %+v", left, r)
	}
}

func TestAptRepositoryTakesBackWhatCannotBeUpdated(t *testing.T) {
	env, _, parts := sourcesHost(t)
	exec, updates := env.Exec, 0
	env.Exec = func(ctx context.Context, c modules.Command) (modules.Output, error) {
		if strings.Contains(strings.Join(c.Argv, " ")+c.Shell, "apt-get update") {
			updates++
			return modules.Output{Rc: 100, Stderr: []byte("E: no such host\n")}, nil
		}
		return exec(ctx, c)
	}
	args := map[string]any{"repo": "deb http://c sid main", "update_cache_retries": 1, "update_cache_retry_max_delay": 0}
	r := AptRepository.Run(context.Background(), env, modtest.Args(args))
	if left, _ := os.ReadDir(parts); !r.Failed || len(left) != 0 || updates == 0 || !strings.HasPrefix(r.Msg, "Failed to update apt cache: ") {
		t.Errorf("%d updates left %v: %+v", updates, left, r)
	}
}

func TestAptRepositoryNamesWhatIsWrong(t *testing.T) {
	for want, repo := range map[string]string{
		"Invalid repository string: foo bar":                                   "foo bar",
		"Invalid repository string: deb":                                       "deb",
		"Please set argument 'repo' to a non-empty value":                      "",
		"Either apt-key or gpg binary is required, but neither could be found": "ppa:me/it",
	} {
		env, _, _ := sourcesHost(t)
		r := AptRepository.Run(context.Background(), env, modtest.Args(map[string]any{"repo": repo, "codename": "noble"}))
		if !r.Failed || r.Msg != want {
			t.Errorf("%q gave %q", repo, r.Msg)
		}
	}
}
