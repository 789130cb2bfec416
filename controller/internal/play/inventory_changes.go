package play

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"hark/agent/wire"
	"hark/controller/internal/fleet/connections"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
	"hark/playbook/inventory"
	"hark/playbook/jinja/templar"
	"hark/playbook/vars"
)

// hosts shows an inventory to the mirror.
type hosts struct{ inv *inventory.Inventory }

// Vars implements answer.Hosts.
func (h hosts) Vars(name string) (*value.Dict, bool) {
	host := h.inv.Host(name)
	if host == nil {
		return nil, false
	}
	d, err := h.inv.Vars(host)
	if err != nil {
		return nil, true // said when the host's play began
	}
	return d, true
}

// Magic implements answer.Hosts.
func (h hosts) Magic(name string) *value.Dict { return inventory.Magic(h.inv, name) }

// Groups implements answer.Hosts.
func (h hosts) Groups() *value.Dict { return h.inv.GroupsDict() }

// changeInventory does what add_host or group_by asks for.
func (r *runner) changeInventory(host, action string, args *value.Dict) (bool, error) {
	r.points.cannot("it changed the inventory (%s)", action)
	switch action {
	case "add_host":
		name := args.Text("host_name")
		if name == "" {
			return false, fmt.Errorf("name, host or hostname needs to be provided")
		}
		hostVars, _ := args.Get("host_vars")
		d, _ := hostVars.(*value.Dict)
		changed, err := r.in.Inventory.AddHost(name, textList(args, "groups"), d)
		if p := r.present.Load(); p != nil && changed {
			p.add(name)
		}
		return changed, err
	case "group_by":
		return r.in.Inventory.AddToGroup(host, args.Text("add_group"), textList(args, "parent_groups"))
	}
	return false, fmt.Errorf("internal error: %s does not change the inventory", action)
}

func textList(d *value.Dict, name string) []string {
	v, ok := d.Get(name)
	if !ok {
		return nil
	}
	l, ok := v.(*value.List)
	if !ok {
		if s, isText := value.Text(v); isText && s != "" {
			return strings.Split(s, ",")
		}
		return nil
	}
	var out []string
	for _, item := range l.Items {
		if s, err := value.ToStr(item); err == nil {
			out = append(out, s)
		}
	}
	return out
}

// refreshInventory reads the inventory again: meta refresh_inventory.
func (r *runner) refreshInventory() error {
	r.points.cannot("it read the inventory anew (refresh_inventory)")
	if err := r.in.Inventory.Refresh(r.ctx); err != nil {
		return err
	}
	r.mirror.Refresh()
	return nil
}

// tell shows the messages of an action plug-in.
func (r *runner) tell(warning bool, text string) {
	if warning {
		r.messages.Warn(text)
	} else {
		r.messages.Print(view.NoColor, text)
	}
}

// exec runs a call on a host. The host's answer goes through package admit.
func (r *runner) exec(ctx context.Context, e wire.Exec) ([]byte, error) {
	e.Late = r.cause() != nil
	raw, err := r.link.Exec(ctx, e)
	if err != nil {
		return nil, err
	}
	return r.admission.Result(&e, raw)
}

// locals knows how hosts are reached, by what variables and plays say: which are this process, and which agents serve
// the others. It is safe for concurrent use.
type locals struct {
	r *runner

	mu         sync.Mutex
	connection string       // of the play: guarded by mu
	shared     *vars.Shared // of the play, nil before the first: guarded by mu
}

// enter takes the connection keyword and the variables of the play that begins.
func (l *locals) enter(connection string, shared *vars.Shared) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.connection, l.shared = connection, shared
}

// is reports whether a host's connection is local.
func (l *locals) is(host string) bool { return l.kind(host) == connections.Here }

// named reports whether it is said how a host is to be reached: not by its agent, or what comes in its place.
func (l *locals) named(host string) bool { return l.kind(host) != connections.Smart }

// kind returns the connection of a host: by its variables, else by the play.
func (l *locals) kind(host string) connections.Kind {
	connection := l.variable(host, "ansible_connection")
	if connection == "" {
		l.mu.Lock()
		connection = l.connection
		l.mu.Unlock()
	}
	return connections.KindOf(connection)
}

// agent returns the name of the agent that serves a host.
func (l *locals) agent(host string) string {
	if name := l.variable(host, "hark_agent"); name != "" {
		return name
	}
	return host
}

func (l *locals) variable(host, name string) string {
	ctx := context.Background()
	raw, ok, err := l.scope(host).Raw(ctx, name)
	if err != nil || !ok {
		return ""
	}
	v, err := l.r.render(ctx, host, raw)
	if err != nil {
		return ""
	}
	text, _ := value.Text(v)
	return text
}

// set returns a variable of a host where something sets it, rendered; "" if nothing does. It is false if that cannot
// be told.
func (l *locals) set(host, name string) (string, bool) {
	ctx := context.Background()
	raw, ok, err := l.scope(host).Set(ctx, name)
	if err != nil || !ok {
		return "", err == nil
	}
	v, err := l.r.render(ctx, host, raw)
	if err != nil || value.IsNone(v) || templar.IsOmit(v) {
		return "", err == nil
	}
	text, err := value.ToStr(v)
	return text, err == nil
}

// scope returns the variables of a host in the play under way, or before the first.
func (l *locals) scope(host string) *vars.Scope {
	l.mu.Lock()
	shared := l.shared
	l.mu.Unlock()
	if shared == nil {
		shared = &vars.Shared{Extra: l.r.in.Extra, InjectFacts: true}
	}
	return l.r.mirror.Scope(host, shared)
}
