// Package deprecation words what Ansible says of features that will go, and of those that are gone.
package deprecation

import "strings"

// Notice is a feature that will go, or that went.
type Notice struct {
	// Text says what is used and what to use instead.
	Text string
	// Date or Version say when; neither means some day.
	Version, Date string
	// Collection is what loses the feature: a collection, "ansible.builtin" for ansible-core, "" if that is not told.
	Collection string
	// Help is what to do instead, and Origin where it is used; both are told in the tagged language only.
	Help, Origin string
}

// Warning returns what users see as long as the feature is there.
func (n Notice) Warning() string {
	return n.sentence("[DEPRECATION WARNING]: ", "This feature will be removed",
		"Deprecation warnings can be disabled by setting deprecation_warnings=False in ansible.cfg.")
}

// Removal returns what users see once it is gone.
func (n Notice) Removal() string {
	return n.sentence("[DEPRECATED]: ", "This feature was removed", "Please update your playbooks.")
}

// Tagged returns what Warning says in the words of ansible-core 2.19.
func (n Notice) Tagged() string {
	text := strings.TrimSpace(n.Text)
	if text != "" && !strings.ContainsRune("!?.", rune(text[len(text)-1])) {
		text += "."
	}
	parts := []string{text, "This feature will be removed"}
	switch n.Collection {
	case "":
		parts = append(parts, "in the future.")
	case "ansible.builtin":
		parts = append(parts, "from ansible-core", n.taggedWhen())
	default:
		parts = append(parts, "from collection '"+n.Collection+"'", n.taggedWhen())
	}
	text = strings.Join(parts, " ")
	if n.Origin != "" {
		text += "\n" + n.Origin
	}
	if n.Help != "" {
		text += "\n\n" + n.Help
	}
	return text
}

func (n Notice) taggedWhen() string {
	switch {
	case n.Date != "":
		return "in a release after " + n.Date + "."
	case n.Version != "":
		return "version " + n.Version + "."
	}
	return "in a future release."
}

func (n Notice) sentence(prefix, event, help string) string {
	text := strings.TrimSpace(n.Text)
	if text != "" && !strings.ContainsRune("!?.", rune(text[len(text)-1])) {
		text += "."
	}
	parts := []string{prefix + text, event}
	switch n.Collection {
	case "":
	case "ansible.builtin":
		parts = append(parts, "from ansible-core")
	default:
		parts = append(parts, "from "+n.Collection)
	}
	return strings.Join(append(parts, n.when(), help), " ")
}

func (n Notice) when() string {
	switch {
	case n.Date != "":
		return "in a release after " + n.Date + "."
	case n.Version != "":
		return "in version " + n.Version + "."
	}
	return "in a future release."
}
