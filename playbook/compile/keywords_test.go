package compile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hark/playbook/plan/keywordtest"
	"hark/playbook/vars"
)

// elsewhere are the keywords that a step has in another form, or not at all.
var elsewhere = []string{"action", "args", "async_val", "collections", "loop_control", "loop_with", "module_defaults",
	"name", "tags", "vars"}

// What a task says, and what it inherits, is in its step.
func TestKeywordsComeToTheirSteps(t *testing.T) {
	const play = "name: k\n-- site.yml --\n- hosts: all\n%s  vars: {said_so: yes}\n  tasks:\n  - block:\n    - " +
		"command: x\n%s%s\n"
	for _, w := range keywordtest.Words(t) {
		if slices.Contains(elsewhere, w.Name) || !w.Stands("task") && !w.Stands("loop") {
			continue
		}
		line, onPlay, onBlock, onTask := w.Name+": \"{{ said_so }}\"\n", "", "", ""
		switch {
		case w.Inherit != "own" && w.Stands("play"):
			onPlay = "  " + line
		case w.Inherit != "own":
			onBlock = "    " + line
		case w.Stands("loop"):
			onTask = "      loop: [1]\n      loop_control:\n        " + line
		default:
			onTask = "      " + line
		}
		got := parseCase(t, fmt.Sprintf(play, onPlay, onTask, onBlock)).run(t)
		if !strings.Contains(got, w.Name+": \"{{ said_so }}\"") && !strings.Contains(got, w.Name+": [\"{{ said_so }}\"]") {
			t.Errorf("%s is not in its step:\n%s", w.Name, got)
		}
	}
}

// A step whose keyword uses what only the controller has is the controller's.
func TestKeywordsDecideWhoEvaluates(t *testing.T) {
	for _, w := range keywordtest.Words(t) {
		if slices.Contains(elsewhere, w.Name) || !w.Stands("task") || w.Name == "register" {
			continue
		}
		text := "\"{{ hostvars['b'].x }}\""
		if slices.Contains([]string{"when", "until", "changed_when", "failed_when"}, w.Name) {
			text = "hostvars['b'].x"
		}
		got := parseCase(t, "name: k\n-- site.yml --\n- hosts: all\n  tasks:\n  - command: x\n    "+w.Name+": "+text+"\n").
			run(t)
		if !strings.Contains(got, "controller: ") {
			t.Errorf("%s is not looked at:\n%s", w.Name, got)
		}
	}
}

// Variables should not be called as keywords are.
func TestKeywordsAreReservedNames(t *testing.T) {
	for _, w := range keywordtest.Words(t) {
		if want := w.Stands("reserved") && w.Name != "vars"; vars.IsReserved(w.Name) != want {
			t.Errorf("%s is reserved: %v", w.Name, !want)
		}
	}
}
