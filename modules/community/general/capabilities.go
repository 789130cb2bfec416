package general

import (
	"context"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type capabilitiesArgs struct {
	Path       string `arg:"path,required,alias=key" doc:"The file."`
	Capability string `arg:"capability,required,alias=cap" doc:"The capability; to set one, with operator and flags: cap_net_raw+ep."`
	State      string `arg:"state,default=present,choices=absent|present" doc:"Whether the file shall have it."`
}

// Capabilities is community.general.capabilities.
var Capabilities = modules.Define("community.general.capabilities", "Manage Linux capabilities", runCapabilities,
	modules.Operands("path", "capability"),
	modules.StartsInCheck("getcap"),
	modules.Documented(`- community.general.capabilities: {path: /usr/bin/ping, capability: cap_net_raw+ep}
- community.general.capabilities: {path: /usr/bin/ping, capability: cap_net_raw, state: absent}
`,
		modules.Return{Name: "state", Type: "str", When: "success", Doc: "Whether the file has it."},
		modules.Return{Name: "stdout", Type: "str", When: "it changed", Doc: "What setcap printed."},
	), modules.RunsPrograms)

// capability is a name with an operator and flags; these are empty where only the name is of concern.
type capability struct{ name, op, flags string }

func (c capability) String() string { return c.name + c.op + c.flags }

// parseCapability parts a capability at the operator; false if it has none.
func parseCapability(given string) (capability, bool) {
	for _, op := range []string{"=", "-", "+"} {
		if name, flags, ok := strings.Cut(given, op); ok {
			return capability{name, op, flags}, true
		}
	}
	return capability{name: given}, false
}

func runCapabilities(ctx context.Context, env *modules.Env, a capabilitiesArgs) (modules.Result, error) {
	h := hostOf(ctx, env)
	path := strings.TrimSpace(a.Path)
	wanted, ok := parseCapability(strings.ToLower(strings.TrimSpace(a.Capability)))
	if !ok && a.State == "present" {
		return modules.Fail("Couldn't find operator (one of: ('=', '-', '+'))")
	}
	current, err := capabilitiesOf(h, path)
	if err != nil {
		return modules.Result{}, err
	}
	others := slices.DeleteFunc(slices.Clone(current), func(c capability) bool { return c.name == wanted.name })
	if a.State == "present" && slices.Contains(current, wanted) || a.State == "absent" && len(others) == len(current) {
		return modules.Result{Data: value.DictOf("state", a.State)}, nil
	}
	res := modules.Result{Changed: true, Msg: "capabilities changed"}
	if env.Check {
		return res, nil
	}
	if a.State == "present" {
		others = append(others, wanted)
	}
	words := make([]string, len(others))
	for i, c := range others {
		words[i] = c.String()
	}
	out, err := h.Run("setcap", strings.Join(words, " "), path)
	if err == nil && out.Rc != 0 {
		err = tool.Fail(value.DictOf("stdout", out.Stdout, "stderr", out.Stderr), "Unable to set capabilities of %s", path)
	}
	res.Data = value.DictOf("state", a.State, "msg", modules.Here, "stdout", out.Stdout)
	return res, err
}

// capabilitiesOf returns those of a file. getcap puts such with the same flags together, and before libcap 2.41 an
// equals sign before all.
func capabilitiesOf(h tool.Host, path string) ([]capability, error) {
	out, err := h.Run("getcap", "-v", path)
	if err != nil {
		return nil, err
	}
	shown := strings.TrimSpace(out.Stdout)
	if out.Rc != 0 || out.Stderr != "" {
		return nil, tool.Fail(value.DictOf("stdout", shown, "stderr", out.Stderr), "Unable to get capabilities of %s", path)
	}
	_, rest, old := strings.Cut(shown, " =")
	if !old {
		rest = strings.TrimPrefix(shown, path)
	}
	var list []capability
	for _, group := range strings.Fields(strings.ToLower(rest)) {
		names := strings.Split(group, ",")
		last, _ := parseCapability(names[len(names)-1])
		names[len(names)-1] = last.name
		for _, name := range names {
			list = append(list, capability{name, last.op, last.flags})
		}
	}
	return list, nil
}
