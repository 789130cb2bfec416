package pki

import (
	"bytes"
	"cmp"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"slices"
)

// SameExtensions tells whether both have the same extensions of the kinds that requests ask for; where these are sets their order does
// not count.
func SameExtensions(a, b []pkix.Extension) bool {
	return slices.Equal(extensionTexts(a), extensionTexts(b))
}

// extensionTexts is a text for each extension, sorted.
func extensionTexts(list []pkix.Extension) []string {
	var out []string
	for _, e := range list {
		out = append(out, fmt.Sprintf("%s %t %x", e.Id, e.Critical, meaning(e)))
	}
	slices.Sort(out)
	return out
}

// meaning is the value with its sets sorted, so that equal ones are equal bytes.
func meaning(e pkix.Extension) []byte {
	switch {
	case e.Id.Equal(oidAltName()), e.Id.Equal(oidExtKeyUsage()):
		if body, err := inside(e.Value); err == nil {
			return sortedParts(body)
		}
	case e.Id.Equal(oidNameConstraint()):
		if body, err := inside(e.Value); err == nil {
			return sortedTrees(body)
		}
	case e.Id.Equal(oidKeyUsage()):
		var bits asn1.BitString
		if _, err := asn1.Unmarshal(e.Value, &bits); err == nil {
			out := make([]byte, len(usageNames()))
			for i := range out {
				out[i] = byte(bits.At(i))
			}
			return out
		}
	}
	return e.Value
}

// sortedParts are the elements of a sequence's body, sorted and each once.
func sortedParts(body []byte) []byte {
	var parts [][]byte
	for len(body) > 0 {
		var part asn1.RawValue
		rest, err := asn1.Unmarshal(body, &part)
		if err != nil {
			return body
		}
		parts, body = append(parts, part.FullBytes), rest
	}
	slices.SortFunc(parts, bytes.Compare)
	return bytes.Join(slices.CompactFunc(parts, bytes.Equal), nil)
}

func sortedTrees(body []byte) []byte {
	type tree struct {
		tag   int
		names []byte
	}
	var trees []tree
	for len(body) > 0 {
		var part asn1.RawValue
		rest, err := asn1.Unmarshal(body, &part)
		if err != nil {
			return body
		}
		trees, body = append(trees, tree{part.Tag, sortedParts(part.Bytes)}), rest
	}
	slices.SortFunc(trees, func(a, b tree) int { return cmp.Compare(a.tag, b.tag) })
	var out []byte
	for _, t := range trees {
		out = append(out, tagged(t.tag, true, t.names)...)
	}
	return out
}
