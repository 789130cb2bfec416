package plan

// Walk calls f for every step of the blocks in order, also those of rescue and always.
func Walk(blocks []Block, f func(*Step)) {
	for i := range blocks {
		b := &blocks[i]
		for _, nodes := range [][]Node{b.Body, b.Rescue, b.Always} {
			walkNodes(nodes, f)
		}
	}
}

func walkNodes(nodes []Node, f func(*Step)) {
	for _, n := range nodes {
		if n.Step != nil {
			f(n.Step)
		}
		if n.Block != nil {
			Walk([]Block{*n.Block}, f)
		}
	}
}

// Free tells that hosts go through the play each for itself (strategies free and host_pinned).
func (p *Play) Free() bool { return p.Strategy == "free" || p.Strategy == "host_pinned" }

// Step finds a step or handler by its ID, nil if the plan has none. The run of a handler under a
// flush is not in the plan: it is made when the flush runs.
func (p *Plan) Step(id ID) *Step {
	var found *Step
	look := func(s *Step) {
		if s.ID == id {
			found = s
		}
	}
	Walk(p.Blocks, look)
	for _, h := range p.Handlers {
		look(h.Step)
	}
	return found
}

// FullName is the role's name with its collection: ansible_role_name.
func (r *Role) FullName() string {
	if r.FQCN != "" {
		return r.FQCN
	}
	return r.Name
}
