package plan

import "testing"

func steps(ids ...ID) []Node {
	var nodes []Node
	for _, id := range ids {
		nodes = append(nodes, Node{Step: &Step{ID: id, Kind: Task}})
	}
	return nodes
}

// nested is a block with rescue and always around a block with neither, an include in its rescue, and a flush.
func nested() *Plan {
	inner := Block{Body: steps("2")}
	outer := Block{Body: append(steps("1"), Node{Block: &inner}), Rescue: steps("3"), Always: steps("5")}
	outer.Rescue = append(outer.Rescue, Node{Step: &Step{ID: "4", Kind: Include}})
	section := Block{Body: []Node{{Block: &outer}, {Step: &Step{ID: "6", Kind: Meta}}}}
	section.Body = append(section.Body, steps("7")...)
	return &Plan{Blocks: []Block{section}, Handlers: []Handler{{Step: &Step{ID: "h1", Name: "restart"}}}}
}

func TestRefugeIsWhereAFailingHostGoes(t *testing.T) {
	x := NewIndex(nested())
	x.Add(&Fragment{Blocks: []Block{{Body: steps("4.0.1")}}})
	for _, c := range []struct {
		id     ID
		want   Section
		refuge bool
	}{
		{"1", InRescue, true}, {"2", InRescue, true}, {"3", InAlways, true}, {"4.0.1", InAlways, true},
		{"5", InBody, false}, {"7", InBody, false}, {"nowhere", InBody, false},
	} {
		got, ok := x.Refuge(c.id)
		if got != c.want || ok != c.refuge {
			t.Errorf("Refuge(%q) = %v, %v; want %v, %v", c.id, got, ok, c.want, c.refuge)
		}
	}
}

func TestAFailingHandlerGoesToTheOutermostBlock(t *testing.T) {
	flush := func(id ID) Node { return Node{Step: &Step{ID: id, Kind: Meta}} }
	inner := Block{Body: []Node{flush("1")}, Rescue: steps("2")}
	outer := Block{Body: []Node{{Block: &inner}}, Rescue: append(steps("3"), flush("4")),
		Always: append(steps("5"), flush("6"))}
	plain := Block{Body: []Node{{Block: &Block{Body: []Node{flush("7")}, Rescue: steps("8")}}}}
	x := NewIndex(&Plan{Blocks: []Block{outer, plain}, Handlers: []Handler{{Step: &Step{ID: "0.1"}}}})
	for _, c := range []struct {
		id     ID
		want   Section
		refuge bool
	}{{"1.0.1", InRescue, true}, {"4.0.1", InRescue, true}, {"6.0.1", InAlways, true}, {"7.0.1", InBody, false}} {
		if got, ok := x.Refuge(c.id); got != c.want || ok != c.refuge {
			t.Errorf("Refuge(%q) = %v, %v; want %v, %v", c.id, got, ok, c.want, c.refuge)
		}
	}
}

func TestShelterIsDirectlyInRescueOrAlways(t *testing.T) {
	flush := Block{Body: steps("3")}
	x := NewIndex(&Plan{Blocks: []Block{
		{Body: steps("1"), Always: steps("2")},
		{Body: steps("4"), Always: []Node{{Block: &flush}}},
	}})
	if !x.Shelter("1") || x.Shelter("4") || x.Shelter("2") {
		t.Errorf("Shelter is %v, %v and %v; want true, false, false", x.Shelter("1"), x.Shelter("4"), x.Shelter("2"))
	}
	if _, ok := x.Refuge("4"); !ok {
		t.Error("a host does not go to the flush of its section")
	}
}

func TestBetweenKnowsOnlyStepsOfThePlan(t *testing.T) {
	x := NewIndex(nested())
	if x.Between("1", "2") {
		t.Error("a step lies between 1 and 2")
	}
	if !x.Between("1", "3") {
		t.Error("no step lies between 1 and 3")
	}
	if !x.Between("6", "7") {
		t.Error("no handler can run between the flush and the step after it")
	}
	x.Add(&Fragment{Blocks: []Block{{Body: steps("4.0.1")}}})
	if !x.Between("4", "5") {
		t.Error("the step of the fragment does not lie between 4 and 5")
	}
}
