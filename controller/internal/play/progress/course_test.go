package progress

import (
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/play/steps"
	"hark/playbook/plan"
)

// A role that is done again is passed over, and so is what is left of one that a host has ended. What comes behind it
// is not.
func TestRolesArePassedOver(t *testing.T) {
	step := func(id plan.ID, role, meta string) plan.Node {
		s := &plan.Step{ID: id, Kind: plan.Task, Role: role}
		if meta != "" {
			s.Kind = plan.Meta
		}
		return plan.Node{Step: s}
	}
	p := &plan.Plan{
		Blocks: []plan.Block{
			{ID: "b1", Body: []plan.Node{step("1", "k1", "end_role"), step("2", "k1", "")}}, {ID: "3", RoleEnd: "k1"},
			{ID: "b2", Body: []plan.Node{step("4", "k2", "")}}, {ID: "5", RoleEnd: "k2"},
			{ID: "b3", Body: []plan.Node{step("6", "k3", "")}}, {ID: "7", RoleEnd: "k3"},
		},
		Roles: map[string]*plan.Role{"k1": {Identity: "r"}, "k2": {Identity: "r"}, "k3": {Identity: "s"}},
	}
	c := New(steps.Of(p))
	if m := c.Missed("a", ""); m == nil || m.ID != "1" {
		t.Errorf("%v is missed", m)
	}
	c.Note(wire.Event{Host: "a", Kind: wire.Done, Step: "1", Outcome: &wire.Outcome{Status: wire.OK, Meta: "end_role"}})
	if m := c.Missed("a", ""); m == nil || m.ID != "6" {
		t.Errorf("%v is missed after the role was ended", m)
	}
}
