package compile

import "hark/playbook/vars"

// Shared returns the variables that all hosts of a batch share, before the play is compiled for it.
func (p *Project) Shared(play *Play, b Batch) *vars.Shared { return play.batch(b).shared() }

// Outline returns the names of a play's own tasks, without those of its roles, block by block; tasks outside blocks are
// together in one.
func (p *Play) Outline() [][]string {
	var out [][]string
	for _, list := range [][]*block{p.pre, p.tasks, p.post} {
		for _, b := range list {
			var names []string
			for _, section := range [][]item{b.body, b.rescue, b.always} {
				for _, it := range section {
					if it.block != nil {
						names = append(names, it.block.name)
					} else {
						names = append(names, it.task.listName())
					}
				}
			}
			out = append(out, names)
		}
	}
	return out
}

// HandlerNames returns the names of a play's handlers as written, with those of its roles.
func HandlerNames(p *Play) []string {
	var out []string
	for _, b := range p.allHandlers() {
		for _, it := range b.body {
			if it.task != nil && it.task.src.Name != "" {
				out = append(out, it.task.src.Name)
			}
		}
	}
	return out
}
