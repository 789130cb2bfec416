// Package version says which release of hark a program is. Release is the only place that states it; packages,
// images, agents, the doctor and the console take it from here. The versions of formats (wire, plans, records, files)
// are constants of their own packages: docs/upgrade.md lists them.
package version

// Release is the release that this source is, or will be: a semantic version (semver.org). A commit with the tag "v"
// + Release is that release.
const Release = "0.1.0"

// build is the full version. The linker sets it to what packaging/release/version prints.
var build = ""

// String returns the version of this program: Release for a release, Release-dev.N+COMMIT for the Nth commit on the
// way to it, and Release-dev for a program that "go build" made.
func String() string {
	if build != "" {
		return build
	}
	return Release + "-dev"
}
