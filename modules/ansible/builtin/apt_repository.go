package builtin

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/py/value"
)

type aptRepositoryArgs struct {
	Repo        string      `arg:"repo,required" doc:"The line of the repository, or ppa:owner/name."`
	State       string      `arg:"state,default=present,choices=absent|present" doc:"Whether it shall be there."`
	Mode        value.Value `arg:"mode" doc:"Permissions of a file that is made."`
	UpdateCache bool        `arg:"update_cache,alias=update-cache,default=yes" doc:"Run apt-get update after a change."`
	Retries     int         `arg:"update_cache_retries,default=5" doc:"How often an update is tried."`
	RetryDelay  int         `arg:"update_cache_retry_max_delay,default=12" doc:"Most seconds between tries."`
	Filename    *string     `arg:"filename" doc:"The file to put it into, without .list; named after the repository by itself."`
	InstallApt  bool        `arg:"install_python_apt,default=yes" doc:"Of no meaning here: no Python is needed."`
	Validate    bool        `arg:"validate_certs,default=yes" doc:"Whether to check the certificate of Launchpad when the key of a PPA is looked for."`
	Codename    *string     `arg:"codename" doc:"The release that a PPA is for."`
}

// AptRepository is ansible.builtin.apt_repository.
var AptRepository = modules.Define("ansible.builtin.apt_repository", "Adds and removes apt repositories",
	runAptRepository,
	modules.StartsInCheck("apt-config", "apt-key", "gpg"),
	modules.Documented(`- ansible.builtin.apt_repository:
    repo: deb [signed-by=/etc/apt/keyrings/example.asc] https://apt.example.org/debian stable main
    filename: example
- ansible.builtin.apt_repository: {repo: "ppa:nginx/stable", codename: noble}
`,
		modules.Return{Name: "repo", Type: "str", When: "always", Doc: "The line as given."},
		modules.Return{Name: "state", Type: "str", When: "always", Doc: "Whether it is there."},
		modules.Return{Name: "diff", Type: "raw", When: "always", Doc: "The files that changed."},
	), modules.RunsPrograms)

func runAptRepository(ctx context.Context, env *modules.Env, a aptRepositoryArgs) (modules.Result, error) {
	return a.bring(ctx, env, newKeyFetcher(ctx, env, a.Validate))
}

func (a *aptRepositoryArgs) bring(ctx context.Context, env *modules.Env, keys *keyFetcher) (modules.Result, error) {
	if a.Repo == "" {
		return modules.Fail("Please set argument 'repo' to a non-empty value")
	}
	s, err := readSources(ctx, env)
	if err != nil {
		return modules.Result{}, err
	}
	line, file, err := a.line(s, keys)
	if err != nil {
		return modules.Result{}, err
	}
	before := s.dump()
	created := ""
	if a.State == "present" {
		created = s.add(line, file)
	} else {
		s.remove(line)
	}
	after := s.dump()
	res := modules.Result{Changed: !maps.Equal(before, after), Data: value.DictOf("repo", a.Repo, "state", a.State)}
	res.Diff = []modules.Diff{{Raw: value.NewDict()}}
	if res.Changed && env.Diff {
		res.Diff = sourcesDiff(before, after)
	}
	if !res.Changed || env.Check {
		return res, nil
	}
	undo, err := saveSources(before, after)
	if err == nil && created != "" && a.Mode != nil {
		_, err = fsx.Attrs{Path: created, Mode: a.Mode}.Apply(false, fsx.NewDelta(created))
	}
	if err != nil {
		undo()
		return modules.Result{}, err
	}
	if !a.UpdateCache {
		return res, nil
	}
	yes := true
	lists := &apt{ctx: ctx, env: env, args: aptArgs{UpdateCache: &yes, Retries: a.Retries, RetryDelay: a.RetryDelay},
		deadline: time.Now().Add(time.Minute)}
	if _, failed, err := lists.refresh(); err != nil || failed.Failed {
		undo()
		return failed, err
	}
	return res, nil
}

// line returns the repository's line in its usual form, and the name of the file for it. A PPA that is to be added
// has its key then.
func (a *aptRepositoryArgs) line(s *sources, keys *keyFetcher) (line, file string, err error) {
	codename := s.codename()
	if modules.Text(a.Codename) != "" {
		codename = *a.Codename
	}
	if p, ok := parsePPA(a.Repo, codename); ok {
		line, file = p.line(), suggestName(a.Repo+"_"+codename)
		if a.State == "present" && !s.has(line) {
			err = keys.trust(p)
		}
	} else {
		l := parseSource(a.Repo)
		if !l.valid || !l.enabled || len(strings.Fields(l.source)) < 2 {
			return "", "", fmt.Errorf("Invalid repository string: %s", l.rest) //lint:ignore ST1005 the words that users see
		}
		line, file = l.source, suggestName(l.source)
	}
	if a.Filename != nil {
		file = *a.Filename
	}
	return line, file + ".list", err
}

// sourcesDiff returns an entry for each file, as it was and will be.
func sourcesDiff(before, after map[string]string) []modules.Diff {
	var list []modules.Diff
	for _, file := range allFiles(before, after) {
		header := func(texts map[string]string) string {
			if _, ok := texts[file]; ok {
				return file
			}
			return "/dev/null"
		}
		list = append(list,
			modules.Diff{Before: before[file], After: after[file], BeforeHeader: header(before), AfterHeader: header(after)})
	}
	return list
}

func allFiles(before, after map[string]string) []string {
	all := maps.Clone(before)
	maps.Copy(all, after)
	return slices.Sorted(maps.Keys(all))
}

// saveSources writes the files that differ and removes those that have nothing left. undo brings back what was there;
// it is never nil.
func saveSources(before, after map[string]string) (undo func(), err error) {
	old := map[string][]byte{}
	undo = func() {
		for file, raw := range old {
			if raw == nil {
				_ = os.Remove(file)
			} else {
				_ = fsx.WriteFile(file, raw, false)
			}
		}
	}
	for _, file := range allFiles(before, after) {
		text, stays := after[file]
		if was, had := before[file]; had == stays && was == text {
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			return undo, err
		}
		old[file] = raw
		if !stays {
			err = os.Remove(file)
		} else if err = os.MkdirAll(filepath.Dir(file), 0o755); err == nil {
			err = fsx.WriteFile(file, []byte(text), false)
		}
		if err != nil {
			return undo, fmt.Errorf("cannot change %s: %w", file, err)
		}
	}
	return undo, nil
}
