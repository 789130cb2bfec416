package builtin

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/httpx"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

// install brings packages to the state: present, latest, build-dep or fixed.
func (a *apt) install(specs []spec) (modules.Result, error) {
	words, res, err := a.toInstall(specs)
	if err != nil || res.Failed {
		return res, err
	}
	res = modules.Result{Data: value.NewDict()}
	if len(words) > 0 {
		if res, err = a.runInstall(words); err != nil || res.Failed {
			return res, err
		}
	}
	if a.args.State == "build-dep" || a.env.Check || len(specs) == 0 {
		return res, nil
	}
	return a.markManual(specs, res)
}

// toInstall returns the words for apt-get install: what is missing, too old, or of another version than asked for.
func (a *apt) toInstall(specs []spec) (words []string, res modules.Result, err error) {
	if a.args.State == "build-dep" {
		for _, p := range specs {
			words = append(words, "'"+p.text+"'")
		}
		return words, res, nil
	}
	found, err := a.look(specs...)
	if err != nil {
		return nil, res, err
	}
	for _, p := range specs {
		v, err := a.verdict(p, found[p.name])
		if err != nil {
			return nil, res, err
		}
		if !v.installed && a.args.OnlyUpgrade {
			continue
		}
		if !v.fits && v.installable == "" {
			res, err = modules.Fail("no available installation candidate for %s", p.text)
			return nil, res, err
		}
		if word := a.word(p, v); word != "" {
			words = append(words, word)
		}
	}
	return words, res, nil
}

func (a *apt) word(p spec, v verdict) string {
	want := v.installable
	switch {
	case want != "" && (!v.installed || a.args.State == "latest" || !v.fits):
		if want == anyVersion {
			want = p.version
		}
	case v.fits && want != "" && p.compare == "=":
		want = p.version
	default:
		return ""
	}
	if want == "" {
		return "'" + p.name + "'"
	}
	return "'" + p.name + "=" + want + "'"
}

// verdict judges one spec; a virtual package counts as installed when its only provider is.
// For an unknown one the task fails at once, and its result tells nothing of the lists of packages.
func (a *apt) verdict(p spec, s status) (verdict, error) {
	if s.known && !s.virtual {
		return a.judge(p, s)
	}
	names, err := a.providers(p.name)
	if err != nil {
		return verdict{}, err
	}
	if len(names) == 0 {
		return verdict{}, tool.Fail(nil, "No package matching '%s' is available", p.name)
	}
	if len(names) == 1 {
		real := spec{name: names[0], compare: p.compare, version: p.version}
		found, err := a.look(real)
		if err != nil {
			return verdict{}, err
		}
		if s := found[real.name]; s.installed != "" {
			return a.judge(real, s)
		}
	}
	return verdict{installable: anyVersion}, nil
}

func (a *apt) runInstall(words []string) (modules.Result, error) {
	args, packages := a.args, strings.Join(words, " ")
	common := []string{when(args.OnlyUpgrade, "--only-upgrade"), when(args.State == "fixed", "--fix-broken"),
		when(args.Force, "--force-yes")}
	verb := "install"
	if args.State == "build-dep" {
		verb = "build-dep"
	} else {
		common = append(common, when(args.Autoremove, "--auto-remove"))
	}
	common = append(common, when(args.NoAutoremove, "--no-remove"), when(a.env.Check, "--simulate"))
	line := fmt.Sprintf("%s -y %s %s %s %s", a.aptGet(), a.dpkgOptions(), strings.Join(common, " "), verb, packages) +
		a.release()
	if args.Recommends != nil {
		line += " -o APT::Install-Recommends=" + map[bool]string{true: "yes", false: "no"}[*args.Recommends]
	}
	line += when(args.Unverified, " --allow-unauthenticated") + when(args.Downgrade, " --allow-downgrades") +
		when(args.ChangeHeld, " --allow-change-held-packages")
	out, err := a.act(line)
	if err != nil {
		return modules.Result{}, err
	}
	if out.Rc != 0 {
		return broke(out, "'%s' failed: %s", line, out.Stderr), nil
	}
	return a.done(out, verb != "build-dep" || !strings.Contains(string(out.Stdout), nothingDone)), nil
}

// markManual keeps autoremove away from what was asked for.
func (a *apt) markManual(specs []spec, res modules.Result) (modules.Result, error) {
	tool := a.env.LookPath("apt-mark")
	if tool == "" {
		a.env.Warn("Could not find apt-mark binary, not marking package(s) as manually installed.")
		return res, nil
	}
	argv := []string{tool, "manual"}
	for _, p := range specs {
		argv = append(argv, p.name)
	}
	out, err := a.ask(argv...)
	if err != nil {
		return modules.Result{}, err
	}
	if out.Rc != 0 {
		return broke(out, "'%s' failed: %s", strings.Join(argv, " "), out.Stderr), nil
	}
	return res, nil
}

func (a *apt) remove(specs []spec) (modules.Result, error) {
	var words []string
	found, err := a.disk(specs...)
	if err != nil {
		return modules.Result{}, err
	}
	for _, p := range specs {
		s := found[p.name]
		v, err := a.judge(p, s)
		if err != nil {
			return modules.Result{}, err
		}
		if v.fits || s.files && a.args.Purge {
			words = append(words, "'"+p.text+"'")
		}
	}
	if len(words) == 0 {
		return modules.Result{}, nil
	}
	packages := strings.Join(words, " ")
	out, err := a.act(fmt.Sprintf("%s -q -y %s %s %s %s %s remove %s", a.aptGet(), a.dpkgOptions(),
		when(a.args.Purge, "--purge"),
		when(a.args.Force, "--force-yes"), when(a.args.Autoremove, "--auto-remove"), when(a.env.Check, "--simulate"),
		packages))
	if err != nil {
		return modules.Result{}, err
	}
	if out.Rc != 0 {
		return broke(out, "'apt-get remove %s' failed: %s", packages, out.Stderr), nil
	}
	return a.done(out, true), nil
}

// debs installs package files; apt-get brings what they depend on.
func (a *apt) debs() (modules.Result, error) {
	if a.args.State != "present" {
		return modules.Fail("deb only supports state=present")
	}
	files := *a.args.Deb
	if strings.Contains(files, "://") {
		dir, err := os.MkdirTemp("", "hark-deb-")
		if err != nil {
			return modules.Result{}, err
		}
		defer os.RemoveAll(dir)
		if files, err = a.download(files, dir); err != nil {
			return modules.Result{}, err
		}
	}
	var words []string
	for _, file := range strings.Split(files, ",") {
		out, err := a.ask("dpkg-deb", "--show", "--showformat", "${Package} ${Version} ${Architecture}", file)
		if err != nil {
			return modules.Result{}, err
		}
		f := strings.Fields(string(out.Stdout))
		if out.Rc != 0 || len(f) != 3 {
			return modules.Fail("Unable to install package: %s", strings.TrimSpace(string(out.Stderr)))
		}
		found, err := a.disk(spec{name: f[0]})
		if err != nil {
			return modules.Result{}, err
		}
		s := found[f[0]]
		if s.installed == f[1] {
			continue
		}
		if s.installed != "" && !a.args.Force && !a.args.Downgrade {
			if out, err := a.ask("dpkg", "--compare-versions", f[1], "lt", s.installed); err != nil || out.Rc == 0 {
				return modules.FailOr(err, "A later version is already installed")
			}
		}
		if !strings.Contains(file, "/") {
			file = "./" + file // else apt-get takes it for a package's name
		}
		words = append(words, "'"+file+"'")
	}
	if len(words) == 0 {
		return modules.Result{Data: value.DictOf("stdout", "", "stderr", "", "diff", "")}, nil
	}
	return a.runInstall(words)
}

// download brings a package file to the host.
func (a *apt) download(address, dir string) (string, error) {
	body, msg, err := httpx.Open(a.ctx, a.env, address, true)
	if err != nil {
		return "", err
	}
	if body == nil {
		return "", fmt.Errorf("Failure downloading %s, %s", address, msg) //lint:ignore ST1005 the words that users see
	}
	defer body.Close()
	path := filepath.Join(dir, "package.deb")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, body)
	return path, errors.Join(err, f.Close())
}
