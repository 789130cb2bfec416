package play

import "hark/playbook/plan"

// reboot is the action that restarts a host in the middle of a play.
const reboot = "ansible.builtin.reboot"

// restarts tells whether a step of the plan may restart its host. A session on the host would not live through that, so it is kept in
// this process.
func restarts(p *plan.Plan) bool {
	found := false
	look := func(s *plan.Step) { found = found || s.Action == reboot }
	plan.Walk(p.Blocks, look)
	for i := range p.Handlers {
		look(p.Handlers[i].Step)
	}
	return found
}
