//go:build hostile

package hostile

import (
	"os"
	"path/filepath"
	"testing"
)

// What a host says is data as well where an agent has said it over a broker, and where it came over ssh: a sample of
// the sinks, at the oldest level and at the newest.
func TestForeignTextsOfHostsAreNeverRun(t *testing.T) {
	beside, _ := sinksOfTasks()
	all := cases(beside)
	dir := perches(t, len(all))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH")) // of the agent too
	marks := t.TempDir()
	t.Setenv("CANARIES", marks)
	client, err := filepath.Abs("../e2e/testdata/ssh")
	if err != nil {
		t.Fatal(err)
	}
	from := sources()[0]
	for _, way := range []struct {
		name, inventory string
		env             []string
		agent           bool
		levels          []string
	}{
		{name: "agent", inventory: "here\nother ansible_connection=local\n", agent: true, levels: []string{oldest(), newest()}},
		{name: "ssh", inventory: "here ansible_connection=ssh\nother ansible_connection=local\n",
			env:    []string{"ANSIBLE_SSH_EXECUTABLE=" + client, "ANSIBLE_SSH_TRANSFER_METHOD=piped", "HARK_SSH_KEEP=no"},
			levels: []string{newest()}},
	} {
		t.Run(way.name, func(t *testing.T) {
			c := &cage{level: oldest()}
			if way.agent {
				c.site = newBroker(t)
				c.startAgent("here")
			} else {
				c.site = newCage(t, dir, c.level).site
			}
			c.env = append(c.env, append(way.env, "ANSIBLE_PYTHON_INTERPRETER=/usr/bin/python3")...)
			for _, c.level = range way.levels {
				p := caged(from, all)
				p["inventory"] = way.inventory
				s := c.loose(from, p)
				s.silent(t, all)
			}
		})
	}
	for _, n := range marksIn(t, marks) {
		t.Errorf("a foreign text was run by an agent: %s", all[n])
	}
}
