package pki

import (
	"encoding/asn1"
	"testing"
)

func TestGeneralNamesComeBack(t *testing.T) {
	for _, c := range []struct{ given, want, letters string }{
		{"DNS:example.org", "DNS:example.org", "DNS:example.org"},
		{"DNS:*.MÜLLER.de", "DNS:*.xn--mller-kva.de", "DNS:*.müller.de"},
		{"email:x@müller.de", "email:x@xn--mller-kva.de", "email:x@müller.de"},
		{"URI:https://u:p@MÜLLER.de:80/a", "URI:https://u:p@xn--mller-kva.de:80/a", "URI:https://u:p@müller.de:80/a"},
		{"URI:urn:a:b", "URI:urn:a:b", "URI:urn:a:b"},
		{"IP:10.0.0.0/255.0.0.0", "IP:10.0.0.0/8", "IP:10.0.0.0/8"},
		{"IP:2001:db8::/32", "IP:2001:db8::/32", "IP:2001:db8::/32"},
		{"IP:::ffff:1.2.3.4", "IP:::ffff:102:304", "IP:::ffff:102:304"},
		{"RID:1.2.3.4", "RID:1.2.3.4", "RID:1.2.3.4"},
		{`dirName:/CN=a, b/O=\#x `, `dirName:CN=a\, b,O=\#x\ `, `dirName:CN=a\, b,O=\#x\ `},
		{`dirName:CN=\41\,,O=#6162`, `dirName:CN=A\,,O=ab`, `dirName:CN=A\,,O=ab`},
		{"otherName:1.2.3;IMPLICIT:40A,UTF8:abc", "otherName:1.2.3;5f:28:03:61:62:63", "otherName:1.2.3;5f:28:03:61:62:63"},
	} {
		der, err := GeneralName(c.given, "name")
		if err != nil {
			t.Errorf("%s: %v", c.given, err)
			continue
		}
		var raw asn1.RawValue
		if _, err := asn1.Unmarshal(der, &raw); err != nil {
			t.Fatal(err)
		}
		for e, want := range map[Encoding]string{AsIs: c.want, IDNA: c.want, Unicode: c.letters} {
			if got, err := showGeneral(raw, e); err != nil || got != want {
				t.Errorf("%s with %s is %s, %v; want %s", c.given, e, got, err, want)
			}
		}
	}
}

func FuzzGeneralNamesNeverPanic(f *testing.F) {
	for _, seed := range []string{"DNS:a", "IP:1.2.3.4/8", `dirName:CN=\41,O=#61`, "otherName:1.2.3;EXPLICIT:1,UTF8:x", "RID:1.2", "URI:http://a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		der, err := GeneralName(text, "name")
		if err != nil {
			return
		}
		var raw asn1.RawValue
		if _, err := asn1.Unmarshal(der, &raw); err == nil {
			_, _ = showGeneral(raw, Unicode)
		}
	})
}

func FuzzWhatIsShownNeverPanics(f *testing.F) {
	f.Add([]byte{0x82, 1, 'a'}, []byte{0x30, 0})
	f.Fuzz(func(_ *testing.T, names, value []byte) {
		_, _ = showGenerals(names, Unicode)
		_, _, _ = constraints(value, AsIs)
		_, _ = parseAuthority(value, AsIs)
		_, _ = ParseName(value)
	})
}
