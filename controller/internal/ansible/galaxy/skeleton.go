package galaxy

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
	"hark/playbook/jinja/templar"
)

// Skeleton is what init makes a role or a collection of.
type Skeleton struct {
	// Parent is where the new directory goes; Name is the role's or the collection's full name.
	Parent, Name string
	Collection   bool
	// Own is a tree to copy, in which names that end in .j2 are templates; without it hark's is made.
	Own string
	// Ignore are regular expressions for names of that tree.
	Ignore []string
	// RoleType is a variable of the templates of a role's own tree; hark's tree is of the type default.
	RoleType string
	Force    bool
	// AnsibleVersion is the release that is named in the files, 2.14.
	AnsibleVersion string
}

// Init makes the tree.
func (c *Client) Init(ctx context.Context, s Skeleton) error {
	what, dir := "Role", strings.TrimSuffix(s.Parent, "/")+"/"+s.Name // not cleaned: messages have it as it was given
	if s.Collection {
		what, dir = "Collection", strings.TrimSuffix(s.Parent, "/")+"/"+strings.Replace(s.Name, ".", "/", 1)
	}
	if err := s.makeRoom(dir); err != nil {
		return err
	}
	switch {
	case s.Own != "" && !exists(s.Own):
		return failf("- the skeleton path '%s' does not exist, cannot init %s", s.Own, strings.ToLower(what))
	case s.Own == "" && !s.Collection && s.RoleType != "default":
		return failf("- there is no skeleton for roles of the type '%s', cannot init role: name a tree with --role-skeleton",
			s.RoleType)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	err := s.own(ctx, dir)
	if s.Own == "" {
		err = s.standard(dir)
	}
	if err == nil {
		c.Screen.Say("- " + what + " " + s.Name + " was created successfully")
	}
	return err
}

// makeRoom refuses a place where something lies; with force the directory is emptied and stays, since one may stand
// in it.
func (s Skeleton) makeRoom(dir string) error {
	switch {
	case !exists(dir):
		return nil
	case !isDir(dir):
		return failf("- the path %s already exists, but is a file - aborting", dir)
	case !s.Force:
		return failf("- the directory %s already exists. You can use --force to re-initialize this directory,\n"+
			"however it will reset any main.yml files that may have\nbeen modified there already.", dir)
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return err
}

// variables returns what templates of a skeleton may use.
func (s Skeleton) variables() *value.Dict {
	text := func(s string) value.Value { return value.Str(s) }
	d := pairs("description", text("your role description"), "ansible_plugin_list_dir",
		text("https://docs.ansible.com/ansible-core/"+s.AnsibleVersion+"/plugins/plugins.html"))
	if !s.Collection {
		merge(d, pairs("author", text("your name"), "company", text("your company (optional)"),
			"license", text("license (GPL-2.0-or-later, MIT, etc)"), "role_name", text(s.Name), "role_type", text(s.RoleType),
			"issue_tracker_url", text("http://example.com/issue/tracker"), "repository_url",
			text("http://example.com/repository"),
			"documentation_url", text("http://docs.example.com"), "homepage_url", text("http://example.com"),
			"min_ansible_version", text(s.AnsibleVersion[:3]), "dependencies", value.NewList()))
		return d
	}
	n := splitName(s.Name)
	merge(d, pairs("description", text("your collection description"), "namespace", text(n.namespace), "collection_name",
		text(n.name),
		"version", text("1.0.0"), "readme", text("README.md"), "authors",
		value.NewList(text("your name <example@domain.com>")),
		"license", value.NewList(text("GPL-2.0-or-later")), "repository", text("http://example.com/repository"),
		"documentation", text("http://docs.example.com"), "homepage", text("http://example.com"),
		"issues", text("http://example.com/issue/tracker"), "build_ignore", value.NewList()))
	return d
}

// own copies the user's tree. Directories of templates hold templates that the role renders later.
func (s Skeleton) own(ctx context.Context, dir string) error {
	if s.Own == "" {
		return nil
	}
	var ignore []*regexp.Regexp
	for _, pattern := range s.Ignore {
		re, err := regexp.Compile(`^(?:` + pattern + `)`)
		if err != nil {
			return failf("%s is no regular expression: %v", pattern, err)
		}
		ignore = append(ignore, re)
	}
	t := templar.New(templar.DictVars{Dict: s.variables()}, templar.Options{})
	return filepath.WalkDir(s.Own, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(s.Own, path)
		if err != nil || rel == "." {
			return err
		}
		to := filepath.Join(dir, rel)
		if isDir(path) {
			if ignoredBy(ignore, e.Name()) {
				return fs.SkipDir
			}
			return os.MkdirAll(to, 0o777)
		}
		full := rel
		if !strings.Contains(rel, "/") {
			full = "./" + rel
		}
		if ignoredBy(ignore, full) {
			return nil
		}
		return s.copy(ctx, t, path, to, rel)
	})
}

func (s Skeleton) copy(ctx context.Context, t *templar.Templar, from, to, rel string) error {
	dirs := strings.Split(filepath.Dir(rel), "/")
	templates := dirs[0] == "templates"
	if s.Collection {
		templates = (dirs[0] == "playbooks" || dirs[0] == "roles") && slices.Contains(dirs, "templates")
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if plain, ok := strings.CutSuffix(to, ".j2"); ok && !templates {
		words, err := t.Text(ctx, value.SourceText(string(data)))
		if err != nil {
			return failf("%s: %v", from, err)
		}
		to, data = plain, []byte(words)
	}
	return os.WriteFile(to, data, 0o666)
}

// standard writes hark's own tree: the directories that Ansible looks into, with files that name what goes there.
func (s Skeleton) standard(dir string) error {
	files, dirs := roleTree(s.Name), []string{"files", "templates"}
	if s.Collection {
		var err error
		if files, err = collectionTree(s); err != nil {
			return err
		}
		dirs = []string{"docs", "roles", "plugins"}
	}
	for _, d := range dirs {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o777); err != nil {
			return err
		}
	}
	for name, words := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(words), 0o666); err != nil {
			return err
		}
	}
	return nil
}

func roleTree(name string) map[string]string {
	out := map[string]string{
		"README.md": fmt.Sprintf("# %s\n\nWhat this role does.\n\n## Variables\n\nThose of defaults/main.yml.\n\n## "+
			"Example\n\n```yaml\n- hosts: servers\n  roles:\n    - role: %s\n```\n", name, name),
		"tests/inventory": "localhost\n",
		"tests/test.yml":  fmt.Sprintf("---\n- hosts: localhost\n  remote_user: root\n  roles:\n    - %s\n", name),
		"meta/main.yml": "galaxy_info:\n  author: your name\n  description: your role description\n  company: your " +
			"company (optional)\n" +
			"  # one of https://spdx.org/licenses\n  license: license (GPL-2.0-or-later, MIT, etc)\n  min_ansible_version: " +
			"2.1\n" +
			"  # platforms:\n  #   - name: Debian\n  #     versions: [all]\n  galaxy_tags: []\n\n# roles that this one " +
			"needs\ndependencies: []\n",
	}
	for part, what := range map[string]string{"defaults": "defaults", "handlers": "handlers", "tasks": "tasks",
		"vars": "vars"} {
		out[part+"/main.yml"] = fmt.Sprintf("---\n# %s file for %s\n", what, name)
	}
	return out
}

func collectionTree(s Skeleton) (map[string]string, error) {
	v := s.variables()
	n := splitName(s.Name)
	var b strings.Builder
	b.WriteString("# What galaxy servers and installers know of the collection.\n")
	for _, key := range []struct{ name, about string }{
		{"namespace", "the namespace that the collection belongs to"}, {"name", "its name there"},
		{"version", "its version, by https://semver.org"},
		{"readme", "the file of Markdown that describes it"}, {"authors", "who made it: a list of name <mail> (or URL)"},
		{"description", "what it is, in a sentence"}, {"license", "licences, by their SPDX names"},
		{"license_file", "the file with the licence, in place of license"}, {"tags", "words to find it by"},
		{"dependencies", "collections that it needs, each with a range of versions"}, {"repository", "where its source is"},
		{"documentation", "where its documentation is"}, {"homepage", "where it is at home"},
		{"issues", "where to tell of mistakes"},
		{"build_ignore", "patterns of files that do not belong to the archive"}} {
		one := value.NewDict()
		one.Set(key.name, s.meta(v, key.name, n))
		words, err := pyyaml.Dump(one, pyyaml.DumpOptions{})
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "\n# %s\n%s", key.about, words)
	}
	return map[string]string{
		"galaxy.yml":       b.String(),
		"README.md":        fmt.Sprintf("# Ansible Collection - %s\n\nDocumentation for the collection.\n", s.Name),
		"meta/runtime.yml": "---\n# requires_ansible: '>=2.9.10'\n",
		"plugins/README.md": "# Plugins\n\nA directory for each kind: modules, module_utils, lookup, filter, test, " +
			"inventory, callback, action and so on.\n",
	}, nil
}

func (s Skeleton) meta(v *value.Dict, key string, n fqcn) value.Value {
	if got, ok := v.Get(key); ok {
		return got
	}
	switch key {
	case "name":
		return value.Str(n.name)
	case "tags":
		return value.NewList()
	case "dependencies":
		return value.NewDict()
	}
	return value.Str("")
}
