package builtin

import (
	"context"
	"fmt"
	"os"
	"strings"

	"hark/modules"
)

// archived is what apt's lists of an archive say of one version of a package: they may put it into another section
// than the package does itself.
type archived struct{ origin, section string }

// archivedVersions looks for versions in apt's lists, by name=version as apt names them. Where several have one the
// first decides.
//
// apt-cache tells the same, but for a thousand packages it takes seconds where the lists are compressed, since it
// unpacks them anew for each record, and it builds its cache once a call where that is not kept.
func archivedVersions(ctx context.Context, env *modules.Env, native string,
	wanted map[string]bool) (map[string]archived, error) {
	lists, err := outputRows(ctx, env, "\t", 2, "apt-get", "indextargets", "--format", "$(FILENAME)\t$(ORIGIN)",
		"Created-By: Packages")
	if err != nil {
		return nil, err
	}
	found := map[string]archived{}
	for _, list := range lists {
		file, origin := list[0], list[1]
		if _, err := os.Stat(file); err != nil {
			continue // known, but not fetched yet
		}
		text, err := listFields(ctx, env, file)
		if err != nil {
			return nil, err
		}
		for version, section := range listedVersions(text, native) {
			if _, known := found[version]; wanted[version] && !known {
				found[version] = archived{origin, section}
			}
		}
	}
	return found, nil
}

// listFields returns the lines of a list that matter here. The rest is ten times as much.
func listFields(ctx context.Context, env *modules.Env, file string) (string, error) {
	const script = `/usr/lib/apt/apt-helper cat-file "$1" | grep -E '^(Package|Version|Architecture|Section): '`
	out, err := env.Exec(ctx,
		modules.Command{Argv: []string{"/bin/sh", "-c", script, "sh", file}, Env: []string{"LC_ALL=C"}})
	if err == nil && out.Rc > 1 { // 1: it is empty
		err = fmt.Errorf("cannot read %s: %s", file, out.Stderr)
	}
	return string(out.Stdout), err
}

// listedVersions calls yield with name=version and section of each record; a record begins with the package's name.
func listedVersions(text, native string) func(yield func(version, section string) bool) {
	return func(yield func(string, string) bool) {
		var name, version, arch, section string
		record := func() bool {
			return name == "" || yield(aptName(name, arch, native)+"="+version, section)
		}
		for line := range strings.Lines(text) {
			field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch field {
			case "Package":
				if !record() {
					return
				}
				name, version, arch, section = value, "", "", ""
			case "Version":
				version = value
			case "Architecture":
				arch = value
			case "Section":
				section = value
			}
		}
		record()
	}
}

// aptName returns how apt names a package: with its architecture if that is a foreign one.
func aptName(name, arch, native string) string {
	if arch == "all" || arch == native {
		return name
	}
	return name + ":" + arch
}
