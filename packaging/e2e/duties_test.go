//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAKeeperOfAGitProjectPlaysRolesWithFiles: all that a role has in the project comes to the hosts: the checkout is
// the project's and not hark's.
func TestAKeeperOfAGitProjectPlaysRolesWithFiles(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	tm := newTeam(t, roleSite(out, "- {name: base, play: site.yml, hosts: web, every: 7d, splay: 1s, mode: enforce}\n"), "h1", "h2")
	tm.keep(tm.url)
	tm.until(40*time.Second, "all hosts are mended", "base", 2, func(s stand) bool { return s.State == "mended" })
	for _, host := range []string{"h1", "h2"} {
		text, err := os.ReadFile(filepath.Join(out, host, "motd"))
		if want := host + " first read at run time a plain file\n"; err != nil || string(text) != want {
			t.Errorf("%s: %v %q, want %q", host, err, text, want)
		}
		for _, name := range []string{"plain", "tree/one", "globbed"} {
			if _, err := os.Stat(filepath.Join(out, host, name)); err != nil {
				t.Error(err)
			}
		}
	}
	// What is hark's own stays so, also by way of a link in the project.
	if err := os.Symlink(filepath.Join(tm.keeper, "operator.nk"), filepath.Join(tm.work, "roles/base/files/key")); err != nil {
		t.Fatal(err)
	}
	tm.push(map[string]string{"roles/base/tasks/main.yml": `- copy: {src: key, dest: "{{ out }}/{{ inventory_hostname }}/key"}` + "\n"})
	tm.until(40*time.Second, "the new commit is in force", "base", 2, func(s stand) bool {
		tm.try(tm.home, "duties", "run", "base")
		return s.State == "failed" && strings.Contains(s.Why, "among hark's own files")
	})
}

// TestTheFixComesAfterTheBrokenCommit is a bad commit and the good one after it, with stages: the first host gets the
// bad one and the duty stops; the fix goes out by itself, to the host that has the bad commit at once, and nobody is
// played the bad one any more. Then what had been good breaks, and the fix goes to all hosts, whose play has another
// name in it.
func TestTheFixComesAfterTheBrokenCommit(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	gone := filepath.Join(t.TempDir(), "mirror-gone")
	duties := func(play string) string {
		return "- {name: base, play: " + play + ", hosts: web, every: 1m, splay: 1s, mode: enforce, after_changes: '1,100%', stop_at: 1}\n"
	}
	files := roleSite(out, duties("site.yml"))
	tasks := files["roles/base/tasks/main.yml"]
	tm := newTeam(t, files, "h1", "h2")
	tm.keep(tm.url)
	tm.until(mostOf, "the first commit is everywhere", "base", 2, func(s stand) bool { return s.State == "kept" || s.State == "mended" })

	tm.push(map[string]string{"roles/base/tasks/main.yml": tasks + "- command: /bin/false\n"})
	bad := tm.head()
	tm.paused(mostOf, "1 of 1 hosts failed", bad)
	tm.push(map[string]string{"roles/base/tasks/main.yml": tasks + "- command: test ! -e " + gone + "\n"})
	good := tm.head()
	tm.until(2*mostOf, "the fix is everywhere", "base", 2, func(s stand) bool { return s.Commit == good && s.State != "failed" })
	if n := tm.failures("base"); n != 1 {
		t.Errorf("%d turns had the bad commit", n)
	}

	if err := os.WriteFile(gone, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tm.paused(mostOf, "failed", good)
	files["light.yml"] = files["site.yml"]
	if err := os.Remove(filepath.Join(tm.work, "site.yml")); err != nil {
		t.Fatal(err)
	}
	tm.push(map[string]string{"light.yml": files["site.yml"], "roles/base/tasks/main.yml": tasks, "duties.yml": duties("light.yml")})
	fix := tm.head()
	tm.until(2*mostOf, "the second fix is everywhere", "base", 2, func(s stand) bool { return s.Commit == fix && s.State != "failed" })
	if list := tm.as(tm.home, "duties", "list"); strings.Contains(list, "paused") {
		t.Error(list)
	}
}

// TestABrokenEditOfADirectoryIsNotPlayed: a turn plays the project as it was read, also while somebody edits it.
func TestABrokenEditOfADirectoryIsNotPlayed(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	tm := newTeam(t, roleSite(out, "- {name: base, play: site.yml, hosts: web, every: 7d, splay: 1s, mode: enforce}\n"), "h1", "h2")
	tm.keep(tm.work)
	done := func(s stand) bool { return s.State == "kept" || s.State == "mended" }
	tm.until(mostOf, "the first state is everywhere", "base", 2, done)
	commit := tm.stands("base")["h1"].Commit
	writeTree(t, tm.work, map[string]string{"roles/base/tasks/main.yml": "- name: half\n  file: {path: [\n"})
	await(t, "the project is stale", func() bool {
		list, _, _ := tm.try(tm.home, "duties", "list")
		return strings.Contains(list, "stale: ")
	})
	if err := os.RemoveAll(filepath.Join(out, "h1")); err != nil {
		t.Fatal(err)
	}
	tm.as(tm.home, "duties", "run", "base")
	await(t, "the version before is played", func() bool { _, err := os.Stat(filepath.Join(out, "h1", "motd")); return err == nil })
	tm.until(mostOf, "the version before is in force", "base", 2, func(s stand) bool { return done(s) && s.Commit == commit })
	writeTree(t, tm.work, map[string]string{"roles/base/tasks/main.yml": "- file: {path: '{{ out }}/{{ inventory_hostname }}/new', state: touch}\n"})
	tm.until(mostOf, "the mend is in force", "base", 2, func(s stand) bool {
		tm.try(tm.home, "duties", "run", "base")
		return done(s) && s.Commit != commit
	})
}

// requiredDir is where a keeper puts what a commit requires.
const requiredDir = ".hark-requirements"

// TestAKeeperFetchesWhatItsProjectRequires: roles and collections of requirements.yml come with a commit, into its copy
// and not into the user's home. Commits that require the same need no server. One whose requirements cannot be fetched
// is stale with the reason, and the commit before stays in force.
func TestAKeeperFetchesWhatItsProjectRequires(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	out, far := t.TempDir(), filepath.Join(t.TempDir(), "far")
	writeTree(t, far, map[string]string{
		"motd/meta/main.yml":          "galaxy_info: {author: anna, description: m, license: MIT, min_ansible_version: '2.9'}\ndependencies: []\n",
		"motd/templates/motd.j2":      "{{ word }} for {{ inventory_hostname }}\n",
		"motd/tasks/main.yml":         "- file: {path: '{{ out }}/{{ inventory_hostname }}', state: directory}\n- template: {src: motd.j2, dest: '{{ out }}/{{ inventory_hostname }}/motd'}\n",
		"coll/galaxy.yml":             "{namespace: acme, name: web, version: 1.0.0, readme: README.md, authors: [anna], license: [MIT]}\n",
		"coll/README.md":              "web\n",
		"coll/roles/x/files/f":        "of a collection\n",
		"coll/roles/x/tasks/main.yml": "- copy: {src: f, dest: '{{ out }}/{{ inventory_hostname }}/coll'}\n",
	})
	for _, name := range []string{"motd", "coll"} {
		for _, args := range [][]string{{"init", "--quiet", "--initial-branch=main"}, {"add", "--all"}, {"commit", "--quiet", "-m", "one"},
			{"tag", "v1"}} {
			cmd := exec.Command("git", append([]string{"-c", "user.name=anna", "-c", "user.email=anna@example.org"}, args...)...)
			cmd.Dir = filepath.Join(far, name)
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, text)
			}
		}
	}
	requires := func(version string) string {
		return "roles:\n  - {name: motd, src: 'git+file://" + far + "/motd', version: " + version + "}\n" +
			"collections:\n  - {name: 'git+file://" + far + "/coll', type: git, version: v1}\n"
	}
	site := func(word string) string {
		return "- hosts: web\n  gather_facts: false\n  vars: {word: " + word + ", out: '" + out + "'}\n  roles: [motd, acme.web.x]\n"
	}
	tm := newTeam(t, map[string]string{
		"ansible.cfg":      "[defaults]\ninventory = inventory\n[hark]\nansible = 2.14\n",
		"inventory":        "[web]\nh1\n",
		"duties.yml":       "- {name: base, play: site.yml, hosts: web, every: 7d, splay: 1s, mode: enforce}\n",
		"requirements.yml": requires("v1"), "site.yml": site("first"),
	}, "h1")
	tm.keep(tm.url)
	played := func(word string) {
		t.Helper()
		commit := tm.head()
		tm.until(mostOf, word, "base", 1, func(s stand) bool {
			if s.Commit != commit || s.State != "mended" && s.State != "kept" {
				tm.try(tm.home, "duties", "run", "base")
				return false
			}
			return true
		})
		if text, err := os.ReadFile(filepath.Join(out, "h1", "motd")); err != nil || string(text) != word+" for h1\n" {
			t.Errorf("%q, %v: want %s", text, err, word)
		}
	}
	played("first")
	if text, err := os.ReadFile(filepath.Join(out, "h1", "coll")); err != nil || string(text) != "of a collection\n" {
		t.Errorf("%q, %v", text, err)
	}
	if entries, err := os.ReadDir(filepath.Join(home, ".ansible")); err == nil {
		t.Errorf("the user's home has %v", entries)
	}

	if err := os.Rename(far, far+"-away"); err != nil {
		t.Fatal(err)
	}
	tm.push(map[string]string{"site.yml": site("second")})
	played("second")

	before := tm.stands("base")["h1"].Commit
	tm.push(map[string]string{"requirements.yml": requires("v2"), "site.yml": site("third")})
	await(t, "the reason is told", func() bool {
		list, _, _ := tm.try(tm.home, "duties", "list")
		_, why, _ := strings.Cut(list, "stale: requirements.yml: cannot fetch what the project requires: ")
		return strings.Contains(why, "far/coll") && !strings.Contains(why, requiredDir)
	})
	tm.as(tm.home, "duties", "run", "base")
	if now := tm.stands("base")["h1"].Commit; now != before {
		t.Errorf("%s is in force, and not %s", now, before)
	}
	if err := os.Rename(far+"-away", far); err != nil {
		t.Fatal(err)
	}
	tm.push(map[string]string{"requirements.yml": requires("main")})
	played("third")
}

// TestAListWithoutDutiesSaysWhy: nobody has said anything, the project cannot be read, or it has no duties.
func TestAListWithoutDutiesSaysWhy(t *testing.T) {
	t.Parallel()
	files := roleSite(t.TempDir(), "- {name: base, play: site.yml, hosts: web, every: sometimes, mode: check}\n")
	tm := newTeam(t, files, "h1")
	if out, code, errs := tm.try(tm.home, "duties", "list"); code != 0 || !strings.Contains(errs, "no keeper that you believe") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	tm.keep(tm.url)
	says := func(want int, text string, args ...string) {
		t.Helper()
		await(t, text, func() bool {
			_, code, errs := tm.try(tm.home, append([]string{"duties", "list"}, args...)...)
			return code == want && strings.Contains(errs, text)
		})
	}
	says(3, "duties.yml:1")
	says(3, "sometimes", "--json")
	tm.push(map[string]string{"duties.yml": "version: 1\nduties: []\n"})
	says(0, "there are no duties in "+tm.url)
	tm.push(map[string]string{"duties.yml": "- {name: base, play: site.yml, hosts: web, every: 7d, mode: check}\n"})
	await(t, "the duty is there", func() bool {
		out, code, errs := tm.try(tm.home, "duties", "list")
		return code == 0 && errs == "" && strings.Contains(out, "base")
	})
}
