package general

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type alternativesArgs struct {
	Name        string         `arg:"name,required" doc:"The name of the link group: editor."`
	Path        string         `arg:"path,type=path" doc:"The program."`
	Link        *string        `arg:"link,type=path" doc:"The link; needed where the group is not there yet."`
	Priority    *int           `arg:"priority" doc:"The priority of the program; 50 by itself."`
	State       string         `arg:"state,default=selected,choices=present|selected|absent|auto" doc:"Whether it is known, and the one that is used."`
	Subcommands []*alternative `arg:"subcommands,alias=slaves" doc:"Links that go with it."`
	Family      *string        `arg:"family,extra" doc:"Family of the program, or of the one to select, on Red Hat's hosts."`
}

// alternative is a link that goes with a program.
type alternative struct {
	Name string `arg:"name,required" doc:"Name of the link group."`
	Path string `arg:"path,required,type=path" doc:"Where it leads."`
	Link string `arg:"link,required,type=path" doc:"The link."`
}

// Alternatives is community.general.alternatives.
var Alternatives = modules.Define("community.general.alternatives", "Manages alternative programs for common commands",
	runAlternatives,
	modules.Operands("name", "path", "link", "family"),
	modules.StartsInCheck("update-alternatives"),
	modules.WithRules(modules.Rules{OneOf: [][]string{{"path", "family"}}}),
	modules.Documented(`- community.general.alternatives: {name: editor, path: /usr/bin/vim.basic}
- community.general.alternatives: {name: tool, link: /usr/bin/tool, path: /opt/tool/bin/tool, priority: 10, state: present}
`,
		modules.Return{Name: "msg", Type: "str", When: "always", Doc: "What was done."},
		modules.Return{Name: "diff", Type: "dict", When: "always",
			Doc: "The program before and after, empty unless asked for."},
	), modules.RunsPrograms)

// linkGroup is a group of programs on its way to the state that was asked for.
type linkGroup struct {
	tool.Host
	args     alternativesArgs
	mode     string // auto or manual, "" if the group is not there
	current  string // the program that is used
	link     string
	programs map[string]*program
	messages []string
	// before and after are the diff.
	before, after *value.Dict
	changed       bool
}

type program struct {
	family   string
	priority int
	links    []alternative
}

func runAlternatives(ctx context.Context, env *modules.Env, a alternativesArgs) (modules.Result, error) {
	g := &linkGroup{Host: hostOf(ctx, env), args: a, programs: map[string]*program{}, before: value.NewDict(),
		after: value.NewDict()}
	out, err := g.Run("update-alternatives", "--display", a.Name)
	if err != nil {
		return modules.Result{}, err
	}
	if out.Rc == 0 {
		g.read(out.Stdout)
	}
	if env.Diff && g.mode != "" {
		g.before = g.now()
	}
	if err := g.bring(); err != nil {
		return modules.Result{}, err
	}
	res := modules.Result{Changed: g.changed, Data: value.DictOf("diff", modules.Here, "msg",
		strings.Join(g.messages, " "))}
	res.Diff = []modules.Diff{{Raw: value.DictOf("before", g.before, "after", g.after)}}
	return res, nil
}

var (
	groupMode = sync.OnceValue(
		func() *regexp.Regexp { return regexp.MustCompile(`(?m)\s-\s(?:status\sis\s)?(\w*)(?:\smode|.)$`) })
	groupCurrent = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*link currently points to ` + `(.*)$`)
	})
	groupLink  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*link \w+ is (.*)$`) })
	groupSlave = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*(?:slave|follower) (\S+) ` + `is (.*)$`)
	})
	groupProgram = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(/.*)\s-\s(?:family\s(\S+)\s)?priority\s(\d+)((?:\s+(?:slave|follower).*)*)`)
	})
	programSlave = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s+(?:slave|follower) (.*): ` + `(.*)$`)
	})
)

// read parses what update-alternatives prints about the group.
func (g *linkGroup) read(shown string) {
	first := func(re *regexp.Regexp) string {
		if m := re.FindStringSubmatch(shown); m != nil {
			return m[1]
		}
		return ""
	}
	if g.mode = first(groupMode()); g.mode == "" {
		return
	}
	g.current, g.link = first(groupCurrent()), first(groupLink())
	links := map[string]string{}
	for _, m := range groupSlave().FindAllStringSubmatch(shown, -1) {
		links[m[1]] = m[2]
	}
	if len(links) == 0 {
		for _, s := range g.args.Subcommands {
			links[s.Name] = s.Link
		}
	}
	for _, m := range groupProgram().FindAllStringSubmatch(shown, -1) {
		priority, _ := strconv.Atoi(m[3])
		p := &program{family: m[2], priority: priority}
		for _, s := range programSlave().FindAllStringSubmatch(m[4], -1) {
			if s[2] != "(null)" {
				p.links = append(p.links, alternative{s[1], s[2], links[s[1]]})
			}
		}
		g.programs[m[1]] = p
	}
}

// now describes the program as it is known.
func (g *linkGroup) now() *value.Dict {
	p := g.programs[g.args.Path]
	if p == nil {
		return value.DictOf("state", "absent")
	}
	out := value.DictOf("state", "present", "path", g.args.Path, "priority", int64(p.priority), "link", nilIfEmpty(g.link))
	if len(p.links) > 0 {
		out.Put("subcommands", described(p.links))
	}
	if g.mode == "manual" && g.current != g.args.Path {
		out.Put("state", "selected")
	}
	return out
}

func nilIfEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func described(links []alternative) []any {
	out := []any{}
	for _, l := range links {
		out = append(out, value.DictOf("name", l.Name, "path", l.Path, "link", nilIfEmpty(l.Link)))
	}
	return out
}

// wanted returns the links that were asked for.
func (g *linkGroup) wanted() []alternative {
	out := []alternative{}
	for _, s := range g.args.Subcommands {
		out = append(out, *s)
	}
	return out
}

func (g *linkGroup) bring() error {
	a, p := g.args, g.programs[g.args.Path]
	if a.State == "absent" {
		if p == nil {
			return nil
		}
		g.after = g.described("state", "absent")
		return g.change(fmt.Sprintf("Remove alternative '%s' from '%s'.", a.Path, a.Name), "--remove", a.Name, a.Path)
	}
	differs := p == nil || a.Priority != nil && p.priority != *a.Priority ||
		a.Subcommands != nil && !sameLinks(p.links, g.wanted())
	if a.Path != "" && differs {
		if err := g.install(p); err != nil {
			return err
		}
	}
	if a.State == "selected" && !g.isSelected() {
		g.note("selected")
		which := a.Path
		if which == "" {
			which = modules.Text(a.Family)
		}
		if err := g.change(fmt.Sprintf("Set alternative '%s' for '%s'.", which, a.Name), "--set", a.Name, which); err != nil {
			return err
		}
	}
	if a.State == "auto" && g.mode == "manual" {
		g.note("present")
		return g.change(fmt.Sprintf("Set alternative to auto for '%s'.", a.Name), "--auto", a.Name)
	}
	return nil
}

// isSelected reports whether the program that is used is the one, or one of the family.
func (g *linkGroup) isSelected() bool {
	if g.args.Path != "" && g.current == g.args.Path {
		return true
	}
	p := g.programs[g.current]
	return p != nil && g.args.Family != nil && p.family == *g.args.Family
}

func sameLinks(a, b []alternative) bool {
	within := func(a, b []alternative) bool {
		return !slices.ContainsFunc(a, func(x alternative) bool { return !slices.Contains(b, x) })
	}
	return within(a, b) && within(b, a)
}

func (g *linkGroup) note(state string) {
	if g.Env.Diff {
		g.after.Put("state", state)
	}
}

func (g *linkGroup) described(kv ...any) *value.Dict {
	out := value.NewDict()
	for i := 0; g.Env.Diff && i+1 < len(kv); i += 2 {
		out.Put(kv[i].(string), kv[i+1])
	}
	return out
}

func (g *linkGroup) install(p *program) error {
	a := g.args
	link := g.link
	if modules.Text(a.Link) != "" {
		link = *a.Link
	}
	switch {
	case !fsx.Exists(a.Path):
		return tool.Fail(nil, "Specified path %s does not exist", a.Path)
	case link == "":
		return tool.Fail(nil, "Needed to install the alternative, but unable to do so as we are missing the link")
	}
	priority := 50
	if p != nil {
		priority = p.priority
	}
	if a.Priority != nil {
		priority = *a.Priority
	}
	argv := []string{"--install", link, a.Name, a.Path, strconv.Itoa(priority)}
	if a.Family != nil {
		argv = append(argv, "--family", *a.Family)
	}
	links := g.wanted()
	for _, s := range links {
		argv = append(argv, "--slave", s.Link, s.Name, s.Path)
	}
	if a.Subcommands == nil && p != nil {
		links = p.links
	}
	g.after = g.described("state", "present", "path", a.Path, "priority", int64(priority), "link", link)
	if g.Env.Diff && len(links) > 0 {
		g.after.Put("subcommands", described(links))
	}
	return g.change(fmt.Sprintf("Install alternative '%s' for '%s'.", a.Path, a.Name), argv...)
}

// change runs update-alternatives and says what was done; in check mode it only says so.
func (g *linkGroup) change(message string, args ...string) error {
	g.changed = true
	g.messages = append(g.messages, message)
	if g.Env.Check {
		return nil
	}
	out, err := g.Run("update-alternatives", args...)
	if err == nil {
		err = out.Check()
	}
	return err
}
