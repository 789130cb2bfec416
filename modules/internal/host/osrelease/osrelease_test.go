package osrelease

import "testing"

func TestDistributionsAreNamedAsModulesChooseByThem(t *testing.T) {
	for text, want := range map[string]string{
		"NAME=x\nID=debian\nVERSION_ID=12\n": "Debian", "ID=\"ubuntu\"": "Ubuntu", "ID='rhel'\n": "Redhat", "ID=ol": "Oracle",
		"ID=amzn":          "Amazon",
		"ID_LIKE=debian\n": "OtherLinux", "ID=\n": "OtherLinux", "": "OtherLinux", "ID=openSUSE-leap": "Opensuse-leap",
	} {
		if got := nameIn([]byte(text)); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
