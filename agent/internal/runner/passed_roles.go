package runner

import "hark/playbook/plan"

// passedRoles is what a host has done of the roles of its plan, by their Identity.
type passedRoles struct {
	// ran: a step of the role was not skipped; completed: the host passed its end after that.
	ran, completed map[string]bool
	// ending is the role whose remaining steps are skipped (meta end_role), "" for none.
	ending string
}

// end passes the end of a role; nil is none.
func (p *passedRoles) end(role *plan.Role) {
	if role == nil {
		return
	}
	if p.ran[role.Identity] {
		p.completed[role.Identity] = true
	}
	if p.ending == role.Identity {
		p.ending = ""
	}
}

// over reports whether a step belongs to a role that this host has completed before, or ends now. role is the step's,
// nil outside roles.
func (p *passedRoles) over(s *plan.Step, role *plan.Role) bool {
	if p.ending != "" {
		return true
	}
	return role != nil && !s.Handler && !role.AllowDuplicates && p.completed[role.Identity]
}

// resumption is the step at which a walk begins.
type resumption struct {
	at plan.ID // "" once it was found
}

// reached reports whether a step comes at or after it. Facts are gathered in any case. An include that brings the step
// is done again; what comes before the step in the fragment is passed over.
func (m *resumption) reached(s *plan.Step) bool {
	if m.at == "" || gathers(s) {
		return true
	}
	if !m.at.Within(s.ID) {
		return false
	}
	if s.Kind != plan.Include || m.at == s.ID {
		m.at = ""
	}
	return true
}

func gathers(s *plan.Step) bool { return s.Implicit && s.Kind == plan.Task }

// rescues reports whether the step is in the rescue section of a block: its body has failed before.
func (m *resumption) rescues(b *plan.Block) bool {
	return m.at != "" && m.among([]plan.Block{{Body: b.Rescue}})
}

// among reports whether the step is in blocks, or in what they include.
func (m *resumption) among(blocks []plan.Block) bool {
	found := false
	plan.Walk(blocks, func(s *plan.Step) { found = found || m.at.Within(s.ID) })
	return found
}

// begins reports whether a block has a step at or after it.
func (m *resumption) begins(b *plan.Block) bool {
	if m.at == "" {
		return true
	}
	found := false
	plan.Walk([]plan.Block{*b}, func(s *plan.Step) { found = found || gathers(s) || m.at.Within(s.ID) })
	return found
}
