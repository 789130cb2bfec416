// Package hostnames writes many names of hosts in few words.
package hostnames

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
)

var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*?)(0|[1-9][0-9]{0,8})$`) })

// Fold writes hosts that are numbered one after the other as a range, as inventories and patterns do: web[1:3] for
// web1, web2, web3.
func Fold(hosts []string) []string {
	var out []string
	for i := 0; i < len(hosts); {
		stem, first, ok := numberOf(hosts[i])
		last, j := first, i+1
		for ok && j < len(hosts) {
			next, n, numbered := numberOf(hosts[j])
			if !numbered || next != stem || n != last+1 {
				break
			}
			last, j = n, j+1
		}
		if j-i > 2 {
			out = append(out, fmt.Sprintf("%s[%d:%d]", stem, first, last))
		} else {
			out = append(out, hosts[i:j]...)
		}
		i = j
	}
	return out
}

func numberOf(host string) (stem string, n int, ok bool) {
	m := numbered().FindStringSubmatch(host)
	if m == nil {
		return "", 0, false
	}
	n, err := strconv.Atoi(m[2])
	return m[1], n, err == nil
}
