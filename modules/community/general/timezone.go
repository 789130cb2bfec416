package general

import (
	"context"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type timezoneArgs struct {
	Hwclock *string `arg:"hwclock,alias=rtc,choices=local|UTC" doc:"What the hardware clock keeps."`
	Name    *string `arg:"name" doc:"The time zone, as Europe/Paris."`
}

// Timezone is community.general.timezone.
var Timezone = modules.Define("community.general.timezone", "Sets the time zone and what the hardware clock keeps",
	func(ctx context.Context, env *modules.Env, a timezoneArgs) (modules.Result, error) {
		return runTimezone(ctx, env, "", a)
	},
	modules.Operands("name"), modules.StartsInCheck("timedatectl"),
	modules.WithRules(modules.Rules{OneOf: [][]string{{"hwclock", "name"}}}),
	modules.Documented(`- community.general.timezone: {name: Europe/Berlin}
- community.general.timezone: {hwclock: UTC}
`,
		modules.Return{Name: "diff", Type: "dict", When: "always", Doc: "What was and will be."},
	))

// clock is a host's way of keeping its time zone and its hardware clock; key is hwclock or name.
type clock interface {
	// now is the value of a key; what is planned says how closely to look.
	now(key, planned string) (string, error)
	// set makes a value the host's and returns what it did, "" if that is not worth a message.
	set(key, value string) (string, error)
}

// runTimezone works on the files below root.
func runTimezone(ctx context.Context, env *modules.Env, root string, a timezoneArgs) (modules.Result, error) {
	planned := map[string]string{}
	for key, v := range map[string]*string{"hwclock": a.Hwclock, "name": a.Name} {
		if v != nil {
			planned[key] = *v
		}
	}
	if zone, ok := planned["name"]; ok {
		if st, err := os.Stat(root + zoneDir + zone); err != nil || !st.Mode().IsRegular() {
			return modules.Fail("Error message:\ngiven timezone \"%s\" is not available", zone)
		}
	}
	k, err := clockOf(ctx, env, root)
	if err != nil {
		return modules.Result{}, err
	}
	before, err := values(k, planned)
	if err != nil {
		return modules.Result{}, err
	}
	after := planned
	var said []string
	if !env.Check {
		if said, err = setAll(k, before, planned); err != nil {
			return modules.Result{}, err
		}
		if after, err = values(k, planned); err != nil {
			return modules.Result{}, err
		}
		if !maps.Equal(after, planned) {
			return modules.Fail("Error message:\nstill not desired state, though changes have made - planned: %v, after: %v",
				planned, after)
		}
	}
	return modules.Result{
		Changed: !maps.Equal(before, after), Msg: strings.Join(said, "\n"),
		Data: value.DictOf("diff", value.DictOf("before", anyValues(before), "after", anyValues(after))),
	}, nil
}

// values returns the present values of the planned keys.
func values(k clock, planned map[string]string) (map[string]string, error) {
	now := map[string]string{}
	for key, want := range planned {
		v, err := k.now(key, want)
		if err != nil {
			return nil, err
		}
		now[key] = v
	}
	return now, nil
}

// setAll sets what differs, the hardware clock first.
func setAll(k clock, before, planned map[string]string) (said []string, err error) {
	for _, key := range []string{"hwclock", "name"} {
		want, ok := planned[key]
		if !ok || before[key] == want {
			continue
		}
		text, err := k.set(key, want)
		if err != nil {
			return nil, err
		}
		if text != "" {
			said = append(said, text)
		}
	}
	return said, nil
}

func anyValues(m map[string]string) *value.Dict {
	out := value.NewDict()
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out.Put(k, m[k])
	}
	return out
}

// clockOf is timedatectl where it works, else files.
func clockOf(ctx context.Context, env *modules.Env, root string) (clock, error) {
	if env.LookPath("timedatectl") != "" {
		if r, err := (tool.Host{Ctx: ctx, Env: env}).Run("timedatectl"); err == nil && r.Rc == 0 {
			return &systemdClock{ctx, env}, nil
		}
	}
	return newFileClock(ctx, env, root)
}

// systemdClock asks timedatectl.
type systemdClock struct {
	ctx context.Context
	env *modules.Env
}

var (
	statusRTC  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*RTC in local TZ\s*:\s*(\S+)`) })
	statusZone = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*Time ?zone\s*:\s*(\S+)`) })
)

func (s *systemdClock) now(key, _ string) (string, error) {
	text, err := must(s.ctx, s.env, "timedatectl", "status")
	if err != nil {
		return "", err
	}
	if key == "name" {
		return first(statusZone(), text, "n/a"), nil
	}
	if first(statusRTC(), text, "no") == "yes" {
		return "local", nil
	}
	return "UTC", nil
}

func (s *systemdClock) set(key, value string) (string, error) {
	words := []string{"set-timezone", value}
	if key == "hwclock" {
		words = []string{"set-local-rtc", map[string]string{"local": "yes", "UTC": "no"}[value]}
	}
	_, err := must(s.ctx, s.env, "timedatectl", words...)
	return "executed `" + s.env.LookPath("timedatectl") + " " + strings.Join(words, " ") + "`", err
}

// first returns the first group of the first match.
func first(re *regexp.Regexp, text, otherwise string) string {
	if m := re.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return otherwise
}

// must runs a tool that has to succeed.
func must(ctx context.Context, env *modules.Env, program string, args ...string) (string, error) {
	r, err := tool.Host{Ctx: ctx, Env: env}.Must(program, args...)
	return r.Stdout, err
}
