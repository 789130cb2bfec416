package builtin

import (
	"context"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

// What the arguments mean is for the package manager's module to say, as in Ansible: state may be left out.
func TestPackageLeavesTheArgumentsToTheManager(t *testing.T) {
	env := &modules.Env{Warn: func(string, ...any) {}}
	r := packageOf([]manager{{"/none", "apt", Apt}}).Run(context.Background(), env, modtest.Args(map[string]any{"use": "apt", "state": "odd", "name": "x"}))
	if !r.Failed || !strings.Contains(r.Msg, "value of state must be one of") {
		t.Errorf("a wrong state gave %+v", r)
	}
	r = packageOf([]manager{{"/none", "apt", Apt}}).Run(context.Background(), env, modtest.Args(map[string]any{"use": "none", "name": "x"}))
	if r.Msg != "Could not find a module for none." {
		t.Errorf("an unknown manager gave %+v", r)
	}
}
