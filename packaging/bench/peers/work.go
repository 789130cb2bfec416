package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// work is something to do, as a playbook that every tool plays.
type work struct {
	name string
	// tasks is the playbook's list of tasks, in a play over all hosts without facts; facts turns them on.
	tasks string
	facts bool
	// twice: what is measured is the second time, when nothing changes.
	twice bool
	// python: modules in Python are played, which hark leaves to the ansible-core on the controller.
	python bool
}

// largeFile is the size of the large file in MB.
const largeFile = 200

// writeLarge writes the large file, piece by piece: what this process has in memory counts as a command's until that
// is another program.
func writeLarge(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	piece := []byte(strings.Repeat("0123456789abcde\n", 1<<16))
	for range largeFile {
		_, err = f.Write(piece)
		if err != nil {
			break
		}
	}
	return errors.Join(err, f.Close())
}

// smallFiles is how many files the directory has.
const smallFiles = 1000

// works is what is measured. D stands for a directory of the host's own below the directory of the run.
func works() []work {
	return []work{
		{name: "50 commands", tasks: repeat(50, "- command: /bin/true")},
		{name: "a loop of 100 commands", tasks: "- command: /bin/true\n  loop: \"{{ range(100) | list }}\""},
		{name: "20 template, 20 lineinfile, 20 stat", tasks: strings.Join([]string{
			repeat(20, "- template: {src: some.j2, dest: \"D/conf-N\"}"),
			repeat(20, "- lineinfile: {path: \"D/lines\", line: line N, create: true}"),
			repeat(20, "- stat: {path: \"D/conf-N\"}"),
		}, "\n")},
		{name: "the same once more, nothing changes", twice: true, tasks: strings.Join([]string{
			repeat(20, "- template: {src: some.j2, dest: \"D/conf-N\"}"),
			repeat(20, "- lineinfile: {path: \"D/lines\", line: line N, create: true}"),
			repeat(20, "- stat: {path: \"D/conf-N\"}"),
		}, "\n")},
		{name: "facts", facts: true, tasks: "- debug: {msg: \"{{ ansible_distribution }}\"}"},
		{name: "10 jobs of a second at once",
			tasks: repeat(10, "- command: sleep 1\n  async: 60\n  poll: 0\n  register: jN") + "\n" +
				repeat(
					10, "- async_status: {jid: \"{{ jN.ansible_job_id }}\"}\n  register: r\n  until: r.finished\n  delay: 1\n"+
						"  retries: 30")},
		{name: fmt.Sprintf("%d small files", smallFiles), tasks: "- copy: {src: small/, dest: \"D/small/\"}"},
		{name: fmt.Sprintf("%d small files, nothing changes", smallFiles), twice: true,
			tasks: "- copy: {src: small/, dest: \"D/small/\"}"},
		{name: fmt.Sprintf("one file of %d MB", largeFile), tasks: "- copy: {src: large, dest: \"D/large\"}"},
		{name: "250 tasks, 230 of them skipped",
			tasks: repeat(230, "- command: /bin/false\n  when: inventory_hostname == 'nobody'") + "\n" +
				repeat(20, "- command: /bin/true")},
		{name: "a loop of 100 modules in Python", python: true, tasks: "- nothing:\n  loop: \"{{ range(100) | list }}\""},
	}
}

// repeat is a text n times, with the number in place of N.
func repeat(n int, text string) string {
	all := make([]string, n)
	for i := range n {
		all[i] = strings.ReplaceAll(text, "N", fmt.Sprint(i))
	}
	return strings.Join(all, "\n")
}

// playbook is the work for hosts that keep their files below dir.
func (w work) playbook(dir string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- hosts: all\n  gather_facts: %t\n  tasks:\n", w.facts)
	for line := range strings.Lines(strings.ReplaceAll(w.tasks, "\"D/", "\""+dir+"/{{ inventory_hostname }}/")) {
		b.WriteString("  " + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}

// files are what the playbooks need beside them, but for the large file.
func files() map[string]string {
	all := map[string]string{
		"some.j2": "# of {{ inventory_hostname }}\n{% for i in range(20) %}\nsetting_{{ i }} = {{ i * 2 }}\n" +
			"{% endfor %}\n",
		"library/nothing.py": "#!/usr/bin/python\nfrom ansible.module_utils.basic import AnsibleModule\n" +
			"AnsibleModule({}).exit_json()\n",
	}
	for i := range smallFiles {
		all[fmt.Sprintf("small/%d/%d", i%20, i)] = fmt.Sprintf("the file %d\n", i)
	}
	return all
}
