package pki

import (
	"encoding/asn1"
	"fmt"
	"math/big"
)

// shown is what BasicConstraints reads.
func (b basic) shown() []string {
	list := []string{"CA:FALSE"}
	if b.CA {
		list[0] = "CA:TRUE"
	}
	if b.PathLen >= 0 {
		list = append(list, fmt.Sprintf("pathlen:%d", b.PathLen))
	}
	return list
}

// constraints are the names of NameConstraints.
func constraints(der []byte, e Encoding) (permitted, excluded []string, err error) {
	body, err := inside(der)
	if err != nil {
		return nil, nil, err
	}
	lists := [2][]string{{}, {}}
	for len(body) > 0 {
		var part asn1.RawValue
		if body, err = asn1.Unmarshal(body, &part); err != nil {
			return nil, nil, err
		}
		if part.Tag > 1 {
			return nil, nil, fmt.Errorf("name constraints have a part %d", part.Tag)
		}
		if lists[part.Tag], err = subtrees(part.Bytes, e); err != nil {
			return nil, nil, err
		}
	}
	return lists[0], lists[1], nil
}

func subtrees(body []byte, e Encoding) ([]string, error) {
	list := []string{}
	for len(body) > 0 {
		var tree struct{ Base asn1.RawValue }
		rest, err := asn1.Unmarshal(body, &tree)
		if err != nil {
			return nil, err
		}
		text, err := showGeneral(tree.Base, e)
		if err != nil {
			return nil, err
		}
		list, body = append(list, text), rest
	}
	return list, nil
}

// parseAuthority reads what AuthorityKeyID makes.
func parseAuthority(der []byte, e Encoding) (a Authority, err error) {
	body, err := inside(der)
	if err != nil {
		return a, err
	}
	for len(body) > 0 {
		var part asn1.RawValue
		if body, err = asn1.Unmarshal(body, &part); err != nil {
			return a, err
		}
		switch part.Tag {
		case 0:
			a.KeyID = part.Bytes
		case 1:
			if a.Issuers, err = showGenerals(part.Bytes, e); err != nil {
				return a, err
			}
		case 2:
			integer, _ := asn1.Marshal(asn1.RawValue{Tag: asn1.TagInteger, Bytes: part.Bytes})
			a.Serial = new(big.Int)
			if _, err = asn1.Unmarshal(integer, &a.Serial); err != nil {
				return a, err
			}
		}
	}
	return a, nil
}
