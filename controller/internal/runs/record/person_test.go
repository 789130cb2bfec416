package record

import "testing"

// A colleague who has left is no longer known, and his key takes the place of his name: his runs stay readable in a
// list.
func TestAPersonWhoIsNotKnownHasAShortName(t *testing.T) {
	const key = "UCGRC4ZFEUMH4CSTIV3C6M6TBVMS4NG7A6YOIR5N6AIAMMKIKYUDJGHY"
	for _, c := range []struct {
		head Head
		want string
	}{
		{Head{Who: key, Name: "anna"}, "anna"},
		{Head{Who: key, Name: key}, "UCGRC4ZF…"},
		{Head{Who: key}, "UCGRC4ZF…"},
		{Head{Name: "anna"}, "anna"},
		{Head{}, ""},
	} {
		if got := c.head.Person(); got != c.want {
			t.Errorf("%q, %q is %q, want %q", c.head.Who, c.head.Name, got, c.want)
		}
	}
}
