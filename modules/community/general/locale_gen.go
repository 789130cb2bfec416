package general

import (
	"context"
	"os"
	"regexp"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

type localeGenArgs struct {
	Name  []string `arg:"name,required" doc:"The locale with its encoding, or several: de_CH.UTF-8."`
	State string   `arg:"state,default=present,choices=absent|present" doc:"Whether it shall be there."`
}

// LocaleGen is community.general.locale_gen.
var LocaleGen = modules.Define("community.general.locale_gen", "Creates or removes locales", runLocaleGen,
	modules.Operands("name"),
	modules.StartsInCheck("locale"),
	modules.Documented("- community.general.locale_gen: {name: de_CH.UTF-8, state: present}\n",
		modules.Return{Name: "msg", Type: "str", When: "success", Doc: "OK."},
		modules.Return{Name: "name", Type: "raw", When: "success", Doc: "The locale."},
	))

// locales is one call of the module.
type locales struct {
	tool.Host
	args localeGenArgs
	// list is Debian's list; supported and local are Ubuntu's, used where localDir is there.
	list, supported, localDir string
}

func runLocaleGen(ctx context.Context, env *modules.Env, a localeGenArgs) (modules.Result, error) {
	l := &locales{Host: hostOf(ctx, env), args: a, list: "/etc/locale.gen", supported: "/usr/share/i18n/SUPPORTED",
		localDir: "/var/lib/locales/supported.d"}
	return l.bring()
}

func (l *locales) bring() (modules.Result, error) {
	ubuntu := fsx.Exists(l.localDir)
	if !ubuntu && !fsx.Exists(l.list) {
		return modules.Fail(`/etc/locale.gen and /var/lib/locales/supported.d/local are missing. Is the package "locales" ` +
			`installed?`)
	}
	have, err := l.Run("locale", "-a")
	if err != nil {
		return modules.Result{}, err
	}
	var wanted []string
	for _, name := range l.args.Name {
		known, err := l.known(name, ubuntu)
		if err != nil {
			return modules.Result{}, err
		}
		if !known {
			return modules.Fail("The locale you've entered is not available on your system.")
		}
		if listed(have.Stdout, name) != (l.args.State == "present") {
			wanted = append(wanted, name)
		}
	}
	res := modules.Result{Changed: len(wanted) > 0}
	if l.Env.Check {
		return res, nil
	}
	if res.Changed {
		if ubuntu {
			err = l.applyUbuntu(wanted)
		} else {
			err = l.applyDebian(wanted)
		}
	}
	res.Msg, res.Data = "OK", value.DictOf("name", l.args.Name[0])
	if len(l.args.Name) > 1 {
		res.Data.Put("name", l.args.Name)
	}
	return res, err
}

// known reports whether the host could have the locale.
func (l *locales) known(name string, ubuntu bool) (bool, error) {
	if !strings.Contains(name, "_") { // C and POSIX are not generated
		return false, nil
	}
	path, start := l.list, `^#?\s*`
	if ubuntu {
		path, start = l.supported, `^`
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return false, tool.Fail(nil, "cannot read %s: %s", path, oserr.Path(err, path))
	}
	return regexp.MustCompile(`(?m)` + start + regexp.QuoteMeta(name) + ` \S+\s*$`).Match(raw), nil
}

// listed reports whether a locale is among those of locale -a, which writes encodings in its own way.
func listed(all, name string) bool {
	for _, line := range strings.Split(all, "\n") {
		if line != "" && usualEncoding(line) == usualEncoding(name) {
			return true
		}
	}
	return false
}

func usualEncoding(name string) string {
	return strings.NewReplacer(
		".utf8", ".UTF-8", ".eucjp", ".EUC-JP", ".iso885915", ".ISO-8859-15", ".cp1251", ".CP1251", ".koi8r", ".KOI8-R",
		".armscii8", ".ARMSCII-8", ".euckr", ".EUC-KR", ".gbk", ".GBK", ".gb18030", ".GB18030", ".euctw", ".EUC-TW",
	).Replace(name)
}

func (l *locales) applyDebian(names []string) error {
	raw, err := os.ReadFile(l.list)
	if err != nil {
		return tool.Fail(nil, "cannot read %s: %s", l.list, oserr.Path(err, l.list))
	}
	content := string(raw)
	for _, name := range names {
		line := name + " $1"
		if l.args.State == "absent" {
			line = "# " + line
		}
		// The name comes literally, the encoding is the line's own.
		re := regexp.MustCompile(`(?m)^#?\s*` + regexp.QuoteMeta(name) + ` (.+)$`)
		content = re.ReplaceAllString(content, strings.ReplaceAll(line, "$1", "${1}"))
	}
	if err := fsx.WriteFile(l.list, []byte(content), false); err != nil {
		return err
	}
	return l.generate()
}

func (l *locales) applyUbuntu(names []string) error {
	if l.args.State == "present" {
		return l.generate(names...)
	}
	path := l.localDir + "/local"
	raw, err := os.ReadFile(path)
	if err != nil {
		return tool.Fail(nil, "cannot read %s: %s", path, oserr.Path(err, path))
	}
	content := ""
	for _, line := range strings.SplitAfter(string(raw), "\n") {
		name, _, _ := strings.Cut(line, " ")
		gone := false
		for _, n := range names {
			gone = gone || n == name
		}
		if !gone {
			content += line
		}
	}
	if err := fsx.WriteFile(path, []byte(content), false); err != nil {
		return err
	}
	return l.generate("--purge")
}

func (l *locales) generate(args ...string) error {
	out, err := l.Run("locale-gen", args...)
	if err == nil && out.Rc != 0 {
		err = tool.Fail(value.DictOf("exitValue", int64(out.Rc)), "[Errno %d] locale.gen failed to execute, it returned %d",
			out.Rc, out.Rc)
	}
	return err
}
