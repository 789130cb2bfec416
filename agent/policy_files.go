package agent

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/agent/internal/runner"
	"hark/modules"
	"hark/modules/py/value"
)

// Parameters that name files of the host though their modules do not declare them as paths. Those of pathTexts hold
// nothing else, those of maybePaths also names of other things (of packages, for one), so that only an absolute path
// is taken for one.
var (
	pathTexts  = [...]string{"path", "paths", "src", "dest"}
	maybePaths = [...]string{"name", "device"}
	// urlTexts hold addresses, or paths too.
	urlTexts = [...]string{"url", "src", "repo", "uri", "baseurl", "gpgkey", "mirrorlist", "key", "deb", "file", "name",
		"uris", "signed_by"}
)

// files reports whether the files that a call names lie where they may. The arguments are read as the module will
// read them: under any of their names, lists written as text, ~ and variables in paths. A relative path could lie
// anywhere.
func (r *Rule) files(inv runner.Invocation) error {
	if !r.unconfined(inv.Module) && !kept(inv.Module) {
		return forbidden("the module %s, which cannot be kept to paths: it would have to be among the unconfined ones",
			inv.Module.Name)
	}
	parsed, err := inv.Module.Parse(inv.Module.Name, inv.Args, inv.Env.Reading())
	if err != nil {
		return nil // the module says so itself, and does nothing
	}
	for _, name := range []string{"mode", "directory_mode"} {
		if mode := modules.Argument(inv.Args, name); paramOf(inv.Module, "owner") != nil && privileged(mode) {
			return forbidden("the %s %s, with which a file could have its owner's rights", name, modules.Str(mode))
		}
	}
	call := pathCall{rule: r, foreign: ofController(inv)}
	return call.arguments(inv.Module.Params(), inv.Args, parsed.Params)
}

// kept reports whether a module can be kept to paths: because it opens what its arguments name and nothing else, or
// because it changes nothing and its arguments name no file.
func kept(m *modules.Module) bool {
	if m.Has(modules.OpensByPath | modules.AsksForJobs) {
		return true
	}
	namesFiles := slices.ContainsFunc(m.Params(), func(p modules.Param) bool {
		return isPath(&p) && !slices.Contains(m.Programs, p.Name) // programs are judged by themselves
	})
	return (m.Facts || m.Has(modules.OnlyLooks)) && !namesFiles && !m.Runs && !m.Foreign
}

// isPath reports whether a parameter names files.
func isPath(p *modules.Param) bool {
	return p.Type == "path" || p.Elements == "path" || slices.Contains(pathTexts[:], p.Name)
}

// ofController returns the parameter of a call that names a file of the controller, "" if there is none.
func ofController(inv runner.Invocation) string {
	given := func(name string) bool { return modules.IsGiven(inv.Args, name) }
	switch {
	case given("hark_source"), given("hark_digest"), given("hark_missing"),
		given("hark_tree") && inv.Args.Text("mode") != "pull":
		return "src"
	case given("hark_tree"), inv.Module.Has(modules.BringsFiles):
		return "dest"
	}
	return ""
}

// pathCall is a call whose paths are looked at.
type pathCall struct {
	rule    *Rule
	foreign string // the parameter that names no file of the host
}

// arguments looks at those of the parameters that were given; read are their values as the module reads them.
func (c pathCall) arguments(params []modules.Param, given, read *value.Dict) error {
	for i := range params {
		p := &params[i]
		if p.Hidden || p.Name == c.foreign || !isGiven(p, given) {
			continue
		}
		for _, text := range textsWithin(modules.Argument(read, p.Name)) {
			if err := c.rule.path(p, text); err != nil {
				return err
			}
		}
		for _, inner := range mappings(modules.Argument(read, p.Name)) {
			if err := c.arguments(p.Options, inner, inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func isGiven(p *modules.Param, given *value.Dict) bool {
	return slices.ContainsFunc(append([]string{p.Name}, p.Aliases...),
		func(name string) bool { return modules.IsGiven(given, name) })
}

// path reports whether one value of a parameter may be what it is.
func (r *Rule) path(p *modules.Param, text string) error {
	declared := p.Type == "path" || p.Elements == "path"
	always := isPath(p)
	if scheme, rest, ok := strings.Cut(text, ":"); ok && !declared && slices.Contains(urlTexts[:], p.Name) &&
		urlScheme().MatchString(scheme) {
		switch strings.ToLower(scheme) {
		case "http", "https", "ftp", "ftps":
			return nil
		case "file":
			return forbidden("the address %s, which is that of a file", text)
		}
		if strings.HasPrefix(rest, "//") {
			return forbidden("the address %s: only those of http, https and ftp", text)
		}
	}
	switch {
	case text == "" || !always && !(slices.Contains(maybePaths[:], p.Name) && filepath.IsAbs(text)):
		return nil
	case !filepath.IsAbs(text):
		return forbidden("the path %q, which is not absolute", text)
	case !declared && strings.Contains(text, "$"): // the module puts in variables by itself
		return forbidden("the path %q, which depends on variables", text)
	case slices.Contains(strings.Split(text, "/"), ".."): // behind a link it leads somewhere else than it reads
		return forbidden("the path %s, which holds ..", text)
	case !r.within(text) || !r.within(resolve(text)):
		return forbidden("the path %s", text)
	}
	return nil
}

var urlScheme = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*$`) })

// textsWithin returns the texts of a value that is one, or a list of them.
func textsWithin(v value.Value) []string {
	switch v := v.(type) {
	case value.None, *value.Dict:
		return nil
	case *value.List:
		var all []string
		for _, item := range v.Items {
			all = append(all, textsWithin(item)...)
		}
		return all
	}
	return []string{modules.Str(v)}
}

// mappings returns the mappings of a value that is one, or a list of them.
func mappings(v value.Value) []*value.Dict {
	switch v := v.(type) {
	case *value.Dict:
		return []*value.Dict{v}
	case *value.List:
		var all []*value.Dict
		for _, item := range v.Items {
			all = append(all, mappings(item)...)
		}
		return all
	}
	return nil
}

func (r *Rule) within(file string) bool {
	file = filepath.Clean(file)
	for _, dir := range r.Paths {
		dir = filepath.Clean(dir)
		if file == dir || strings.HasPrefix(file, strings.TrimSuffix(dir, "/")+"/") {
			return true
		}
	}
	return false
}

// maxLinks is how many links may lead from one to the next, as for the kernel.
const maxLinks = 40

// resolve follows the links of as much of a path as is there, also one that leads to nothing yet; "" is a circle of
// links.
func resolve(file string) string {
	file = filepath.Clean(file)
	for range maxLinks {
		dir, rest := existing(file)
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		target, err := os.Readlink(dir)
		parent, perr := filepath.EvalSymlinks(filepath.Dir(dir))
		if err != nil || perr != nil {
			return "" // it cannot be told where it leads
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(parent, target)
		}
		file = filepath.Join(target, rest)
	}
	return ""
}

// existing parts a path into what is there, if only as a link, and the rest.
func existing(file string) (dir, rest string) {
	for dir = file; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil {
			break
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
	return dir, rest
}
