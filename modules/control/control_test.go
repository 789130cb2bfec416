package control

import (
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func TestCases(t *testing.T) {
	for _, m := range All() {
		t.Run(m.Name, func(t *testing.T) {
			modtest.Run(t, m, modtest.Options{Ask: ask, Setup: func(_ *testing.T, env *modules.Env, _ string) {
				env.Name, env.Task = m.Name[len("ansible.builtin."):], "role : the task"
			}})
		})
	}
}

// ask answers as a session does whose user types what he was asked.
func ask(kind string, args map[string]any) (map[string]any, error) {
	switch kind {
	case "add_host", "group_by":
		return map[string]any{"changed": true}, nil
	case "host":
		return map[string]any{"local": false}, nil
	case "reached":
		return map[string]any{"ok": true}, nil
	case "pause":
		return map[string]any{"text": args["text"]}, nil
	}
	switch args["id"] {
	case "j1":
		return map[string]any{"started": int64(1), "finished": int64(0)}, nil
	case "j2":
		return map[string]any{"finished": int64(1), "changed": true, "rc": int64(0), "stdout": "done"}, nil
	}
	return map[string]any{"failed": true, "msg": "could not find job", "started": int64(1), "finished": int64(1)}, nil
}
