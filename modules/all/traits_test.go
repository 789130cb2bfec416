package all_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/modules"
	"hark/modules/all"
)

// The traits that other code goes by are in the declarations of these modules, and of no others.
func TestTraitsOfModules(t *testing.T) {
	for trait, want := range map[modules.Trait][]string{
		modules.ForAllHosts:      {"ansible.builtin.add_host", "ansible.builtin.pause"},
		modules.ChangesInventory: {"ansible.builtin.add_host", "ansible.builtin.group_by"},
		modules.SetsVariables:    {"ansible.builtin.set_fact"},
		modules.LoadsVariables:   {"ansible.builtin.include_vars"},
		modules.ShowsOnly:        {"ansible.builtin.debug"},
		modules.StartsNoPython: {"ansible.builtin.fetch", "ansible.builtin.raw", "ansible.builtin.reboot",
			"ansible.builtin.script"},
		modules.RestartsHost:   {"ansible.builtin.reboot"},
		modules.ChangesUsers:   {"ansible.builtin.user"},
		modules.AsksForJobs:    {modules.AsyncStatus},
		modules.BringsFiles:    {"ansible.builtin.fetch"},
		modules.ReadsFiles:     {"ansible.builtin.copy", "ansible.builtin.unarchive"},
		modules.ReadsTemplates: {"ansible.builtin.template"},
		modules.ReadsProgram:   {"ansible.builtin.script"},
		modules.ReadsBodies:    {"ansible.builtin.uri"},
		modules.ReadsFragments: {"ansible.builtin.assemble"},
		modules.AsksController: {"ansible.builtin.add_host", "ansible.builtin.fetch", "ansible.builtin.group_by",
			"ansible.builtin.include_vars", "ansible.builtin.pause",
			"ansible.posix.synchronize"},
		modules.ChangesController: {"ansible.builtin.fetch", "ansible.posix.synchronize"},
		modules.IsAction: {"ansible.builtin.add_host", "ansible.builtin.assert", "ansible.builtin.debug",
			"ansible.builtin.fail", "ansible.builtin.fetch",
			"ansible.builtin.group_by", "ansible.builtin.include_vars", "ansible.builtin.pause", "ansible.builtin.raw",
			"ansible.builtin.reboot", "ansible.builtin.script",
			"ansible.builtin.set_stats", "ansible.builtin.validate_argument_spec", "ansible.builtin.wait_for_connection"},
	} {
		var got []string
		for _, m := range all.Modules() {
			if m.Has(trait) {
				got = append(got, m.Name)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("trait %b (-want +got):\n%s", trait, diff)
		}
	}
}

// The modules that hark calls by itself exist.
func TestTheHouseCallsModulesThatAreThere(t *testing.T) {
	known := modules.NewRegistry(all.Modules()...)
	for _, name := range []string{modules.Setup, modules.GatherFacts, modules.ValidateArgumentSpec, modules.AsyncStatus,
		modules.Ping, modules.WaitFor, modules.Copy} {
		if known.Declared(name) == nil {
			t.Errorf("there is no module %s", name)
		}
	}
}

// Every module that is called on hosts says what it does in check mode: that it reads, or which programs it starts.
func TestModulesSayWhatTheyDoInCheckMode(t *testing.T) {
	for _, m := range all.Modules() {
		if says := m.Has(modules.ReadsInCheck) || len(m.StartsInCheck) > 0; !says && !m.NoCheck && !m.Session && !m.Foreign {
			t.Errorf("%s declares neither ReadsInCheck nor StartsInCheck", m.Name)
		}
	}
}

// Modules that can be kept to paths go to the host's files by package hostfs alone.
func TestModulesThatAreKeptToPathsOpenFilesThere(t *testing.T) {
	direct := regexp.MustCompile(`\b(os\.(Open|OpenFile|Create|CreateTemp|Mkdir|MkdirAll|MkdirTemp|Remove|RemoveAll|` +
		`Rename|Chmod|Chown|Lchown|Chtimes|Symlink|Link|Readlink|` +
		`Stat|Lstat|ReadFile|WriteFile|ReadDir|Truncate)|syscall\.(Stat|Lstat|Chmod|Chown|Access|Open|Unlink|Rename)|` +
		`filepath\.(Walk|WalkDir|EvalSymlinks|Glob))\(`)
	allowed := map[string]int{"mode.go": 1, "selinux.go": 1} // what the kernel tells of itself
	var files []string
	for _, pattern := range []string{
		"../internal/fsx/*.go", "../ansible/builtin/internal/editing/*.go", "../ansible/builtin/copy*.go",
		"../ansible/builtin/file*.go", "../ansible/builtin/find*.go",
		"../community/general/ini_file*.go",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		files = append(files, found...)
	}
	for _, m := range all.Modules() {
		if m.Has(modules.OpensByPath) && strings.HasPrefix(m.Name, "ansible.builtin.") {
			files = append(files, "../ansible/builtin/"+strings.TrimPrefix(m.Name, "ansible.builtin.")+".go")
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := direct.FindAllString(string(text), -1); !strings.HasSuffix(file, "_test.go") &&
			len(found) > allowed[filepath.Base(file)] {
			t.Errorf("%s opens files by itself: %v", file, found)
		}
	}
}
