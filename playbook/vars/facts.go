package vars

import (
	"strings"

	"hark/modules/py/value"
	"hark/modules/result"
)

// factViews are the layers that a host's facts make.
type factViews struct {
	of         *value.Dict // the Facts that they were made from
	namespaced *value.Dict // the one variable ansible_facts
	injected   *value.Dict // the facts as variables of their own
	local      *value.Dict // ansible_local only, which is a variable even without injection
}

// views makes the views on first use after a change.
func (h *Host) views() *factViews {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.facts == nil || h.facts.of != h.Facts {
		h.facts = &factViews{
			of: h.Facts, namespaced: single("ansible_facts", NamespaceFacts(h.Facts)),
			injected: InjectedFacts(h.Facts), local: value.NewDict(),
		}
		if local, ok := h.Facts.Get("ansible_local"); ok {
			h.facts.local.Set("ansible_local", local)
		}
	}
	return h.facts
}

func single(name string, v value.Value) *value.Dict {
	d := value.NewDict()
	d.Set(name, v)
	return d
}

// NamespaceFacts returns the value of ansible_facts: names lose the prefix ansible_, except ansible_local.
func NamespaceFacts(facts *value.Dict) *value.Dict {
	out := value.NewDict()
	facts.Each(func(k, v value.Value) bool {
		name, ok := value.Text(k)
		if ok && name != "ansible_local" && strings.HasPrefix(name, "ansible_") {
			out.SetKey(value.UnsafeStr(strings.TrimPrefix(name, "ansible_")), v)
		} else {
			out.SetKey(k, v)
		}
		return true
	})
	return out
}

// InjectedFacts returns the facts that are variables of their own too. Variables that no host may set are not among
// facts (Protected); this leaves out what Ansible keeps for itself.
func InjectedFacts(facts *value.Dict) *value.Dict {
	out := value.NewDict()
	facts.Each(func(k, v value.Value) bool {
		if name, ok := value.Text(k); !ok || !result.Internal(name) {
			out.SetKey(k, v)
		}
		return true
	})
	return out
}
