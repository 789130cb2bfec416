package runner

import (
	"context"
	"testing"

	"hark/playbook/plan"
)

// TestWhichHandlerOfANameWins: of the last list that has the name, the first. How the handlers lie in the walk does
// not matter, since fragments add theirs when they come.
func TestWhichHandlerOfANameWins(t *testing.T) {
	roles := map[string]*plan.Role{"web": {Name: "web", FQCN: "a.b.web"}, "db": {Name: "db"}}
	type h struct {
		id    plan.ID
		name  string
		group int
		role  string
	}
	tests := []struct {
		title    string
		handlers []h
		name     string
		want     plan.ID
	}{
		{"one", []h{{"1", "x", 0, ""}}, "x", "1"},
		{"none", []h{{"1", "x", 0, ""}}, "y", ""},
		{"of a list the first", []h{{"1", "x", 0, ""}, {"2", "x", 0, ""}, {"3", "x", 0, ""}}, "x", "1"},
		{"of lists the last", []h{{"1", "x", 0, ""}, {"2", "x", 1, ""}, {"3", "x", 2, ""}}, "x", "3"},
		{"of the last list the first", []h{{"1", "x", 0, ""}, {"2", "x", 1, ""}, {"3", "x", 1, ""}}, "x", "2"},
		{"the last list lies before", []h{{"1", "x", 1, ""}, {"2", "x", 0, ""}, {"3", "x", 1, ""}}, "x", "1"},
		{"a later list without the name", []h{{"1", "x", 0, ""}, {"2", "y", 1, ""}}, "x", "1"},
		{"a role's by its plain name", []h{{"1", "x", 1, "web"}, {"2", "x", 0, ""}}, "x", "1"},
		{"a role's by the role's name", []h{{"1", "x", 1, "web"}, {"2", "x", 2, "db"}}, "web : x", "1"},
		{"a role's by the role's full name", []h{{"1", "x", 1, "web"}, {"2", "x", 2, "db"}}, "a.b.web : x", "1"},
		{"a role's name is no other's", []h{{"1", "x", 1, "web"}, {"2", "x", 2, ""}}, "db : x", ""},
		{"without a name", []h{{"1", "", 0, ""}}, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.title, func(t *testing.T) {
			hs := &handlers{roles: roles}
			for _, h := range tt.handlers {
				hs.list = append(hs.list, &handler{name: h.name, rendered: true,
					Handler: plan.Handler{Step: &plan.Step{ID: h.id, Name: h.name, Role: h.role}, Group: h.group}})
			}
			var got plan.ID
			if found := hs.named(context.Background(), "9", tt.name); found != nil {
				got = found.Step.ID
			}
			if got != tt.want {
				t.Errorf("handler %q, want %q", got, tt.want)
			}
		})
	}
}
