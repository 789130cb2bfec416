package builtin

import (
	"context"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/py/value"
)

// AddHost adds a host to the inventory of the run.
var AddHost = modules.Define("ansible.builtin.add_host",
	"Add a host (and alternatively a group) to the ansible-playbook in-memory inventory.", runAddHost,
	modules.InSession, modules.Is(modules.ForAllHosts|modules.ChangesInventory|modules.AsksController|modules.IsAction),
	modules.With(func(m *modules.Module) {
		m.AnyArgs, m.KeepsAll = true, true
		m.Examples = "- ansible.builtin.add_host: {name: \"{{ new.ip }}\", groups: [fresh], ansible_user: admin}\n"
	}))

type addHostArgs struct {
	Name      value.Value `arg:"name" doc:"The host's name, also hostname or host; host:port sets the port."`
	Hostname  value.Value `arg:"hostname,hidden"`
	Groups    value.Value `arg:"groups" doc:"Groups to put it in, also groupname or group: a list, or names parted by commas."`
	Groupname value.Value `arg:"groupname,hidden"`
	Raw       value.Value `arg:"_raw_params,hidden"`
	Vars      *value.Dict `arg:"*"`
}

func runAddHost(_ context.Context, env *modules.Env, a addHostArgs) (modules.Result, error) {
	if err := a.takeRaw(); err != nil {
		return modules.Result{}, err
	}
	given := first(a.Name, a.Hostname, a.given("host"))
	if given == nil {
		return modules.Result{}, modules.ActionFail("", "name, host or hostname needs to be provided")
	}
	name, port := splitPort(modules.Str(given))
	vars := a.Vars.Copy()
	if port > 0 {
		vars.Put("ansible_ssh_port", int64(port))
	}
	groups, err := groupNames(first(a.Groupname, a.Groups, a.given("group")))
	if err != nil {
		return modules.Result{}, err
	}
	env.Asks.AddHost(modules.NewHost{Name: name, Groups: groups, Vars: vars})
	data := value.DictOf("host_name", name, "groups", groups, "host_vars", value.Unsafe(vars))
	return modules.Result{Data: value.DictOf("add_host", data)}, nil
}

// takeRaw reads arguments that came as one mapping; those given by name win.
func (a *addHostArgs) takeRaw() error {
	raw, ok := a.Raw.(*value.Dict)
	if a.Raw != nil && !ok {
		return modules.ActionFail("", "Invalid raw parameters passed, requires a dictonary/mapping got a  %s",
			modules.TypeName(a.Raw))
	}
	for i := range raw.Len() {
		k, v := raw.At(i)
		switch modules.Str(k) {
		case "name":
			a.Name = first(a.Name, v)
		case "hostname":
			a.Hostname = first(a.Hostname, v)
		case "groups":
			a.Groups = first(a.Groups, v)
		case "groupname":
			a.Groupname = first(a.Groupname, v)
		default:
			if _, has := a.Vars.GetKey(k); !has {
				a.Vars.SetKey(k, v)
			}
		}
	}
	return nil
}

// given returns a further variable, nil if it was not given.
func (a *addHostArgs) given(name string) value.Value {
	v, _ := a.Vars.Get(name)
	return v
}

func first(values ...value.Value) value.Value {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

// splitPort parts host:port and [ipv6]:port; what is neither is a name.
func splitPort(text string) (string, int) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return text, 0
	}
	host := text[:at]
	bracketed := strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]")
	port, err := strconv.Atoi(text[at+1:])
	if err != nil || port <= 0 || strings.Contains(host, ":") && !bracketed {
		return text, 0
	}
	return strings.Trim(host, "[]"), port
}

func groupNames(v value.Value) ([]string, error) {
	given, isList := value.Items(v)
	text, isText := value.Text(v)
	switch {
	case isText && text != "":
		for _, name := range strings.Split(text, ",") {
			given = append(given, value.UnsafeStr(name))
		}
	case v != nil && !isList && !isText:
		return nil, modules.ActionFail("", "Groups must be specified as a list.")
	}
	out := []string{}
	seen := map[string]bool{}
	for _, x := range given {
		if name := modules.Str(x); !seen[name] {
			seen[name] = true
			out = append(out, strings.TrimSpace(name))
		}
	}
	return out, nil
}
