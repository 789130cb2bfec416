package main

import (
	"os"
	"os/exec"
	"path/filepath"
)

// tool is a way to play a playbook.
type tool struct {
	name string
	// command and env are how it is called, without the playbook; python says whether it plays modules in Python here.
	command []string
	env     []string
	python  bool
	// slow: it is measured once. own: it is hark, which is not cut off.
	slow, own bool
	// sshd: it reaches the hosts over ssh, else over their agents. keeps: it leaves something in the home of its login.
	sshd, keeps bool
}

// tools are those that this machine has. bin is the directory of hark's programs.
func (s *site) tools(bin string) []tool {
	_, err := exec.LookPath("ansible-playbook")
	there := err == nil
	forks := []string{"-i", s.inventory}
	ssh := []string{"ANSIBLE_HOST_KEY_CHECKING=false",
		"ANSIBLE_SSH_ARGS=-o ControlMaster=auto -o ControlPersist=60s -o UserKnownHostsFile=/dev/null"}
	all := []tool{
		{name: "hark, agents", command: append([]string{filepath.Join(bin, "hark"), "play"}, forks...),
			env: []string{"HARK_BROKER=" + s.broker}, python: there, own: true},
		{name: "hark, ssh", command: append([]string{filepath.Join(bin, "hark"), "play", "--ephemeral"}, forks...),
			env: append([]string{"HARK_SSH_KEEP=no"}, ssh...), python: there, sshd: true, own: true},
		{name: "hark, ssh, program kept",
			command: append([]string{filepath.Join(bin, "hark"), "play", "--ephemeral"}, forks...),
			env:     append([]string{"HARK_SSH_KEEP=yes"}, ssh...),
			python:  there, sshd: true, keeps: true, own: true},
	}
	if !there {
		return all
	}
	core := append([]string{"ANSIBLE_PIPELINING=true", "ANSIBLE_FORKS=10"}, ssh...)
	all = append(all,
		tool{name: "ansible-core, pipelining", command: append([]string{"ansible-playbook"}, forks...), env: core,
			python: true, sshd: true, slow: true})
	if strategy := mitogen(); strategy != "" {
		all = append(all,
			tool{name: "mitogen", command: append([]string{"ansible-playbook"}, forks...), python: true, sshd: true,
				env: append(core, "ANSIBLE_STRATEGY_PLUGINS="+strategy, "ANSIBLE_STRATEGY=mitogen_linear")})
	}
	return all
}

// mitogen is the directory of Mitogen's strategies, "" if it is not installed.
func mitogen() string {
	for _, pattern := range []string{"/usr/lib/python3*/*-packages/ansible_mitogen/plugins/strategy",
		"/usr/local/lib/python3*/*-packages/ansible_mitogen/plugins/strategy"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// environ is the environment of everything that is started: of the caller's only what finds programs.
func (s *site) environ(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "LEASH=" + os.Getenv("LEASH"), "HOME=" + s.dir, "USER=root",
		"LANG=C.UTF-8", "ANSIBLE_CONFIG=" + s.dir + "/ansible.cfg", "ANSIBLE_NOCOLOR=1",
		"HARK_HOME=" + filepath.Join(s.dir, "hark"), "ANSIBLE_HOME=" + filepath.Join(s.dir, "ansible"),
		"ANSIBLE_LIBRARY=" + filepath.Join(s.dir, "library"),
		"ANSIBLE_LOCAL_TEMP=" + filepath.Join(s.dir, "tmp"), "ANSIBLE_REMOTE_TEMP=" + filepath.Join(s.dir, "remote")},
		more...)
}
