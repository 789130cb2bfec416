package version

import (
	"cmp"
	"regexp"
	"testing"
)

// TestReleaseIsASemanticVersion: what cannot be ordered cannot be upgraded.
func TestReleaseIsASemanticVersion(t *testing.T) {
	number := `(0|[1-9]\d*)`
	if !regexp.MustCompile(`^` + number + `\.` + number + `\.` + number + `(-rc\.` + number + `)?$`).MatchString(Release) {
		t.Errorf("Release is %q: want MAJOR.MINOR.PATCH, or that with -rc.N", Release)
	}
}

func TestStringFallsBackToTheRelease(t *testing.T) {
	was := build
	t.Cleanup(func() { build = was })
	for set, want := range map[string]string{"": Release + "-dev", "1.2.3-dev.4+abcdef01": "1.2.3-dev.4+abcdef01"} {
		if build = set; String() != want {
			t.Errorf("with build %q the version is %q, want %q", set, String(), want)
		}
	}
}

// ladder are versions in the order in which they come, with those of semver.org.
func ladder() []string {
	return []string{
		"9c3747a4", "0.0.9", "0.1.0-dev", "0.1.0-dev.0+9c3747a4", "0.1.0-dev.9+ffffffff", "0.1.0-dev.1115+00000000",
		"0.1.0-rc.1", "0.1.0", "0.1.1-dev.1116+0a0a0a0a",
		"0.1.1", "0.2.0", "0.10.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2",
		"1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "10.0.0",
	}
}

func TestCompareOrdersVersions(t *testing.T) {
	all := ladder()
	for i, a := range all {
		for j, b := range all {
			if got, want := Compare(a, b), cmp.Compare(i, j); got != want {
				t.Errorf("Compare(%q, %q) is %d, want %d", a, b, got, want)
			}
		}
	}
	if Compare("1.0.0+one", "v1.0.0+two") != 0 {
		t.Error("what comes after + makes a difference")
	}
}
