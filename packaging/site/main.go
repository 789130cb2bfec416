// Command site makes the documentation's site: a directory of plain pages out of README.md, docs and PROTOCOL.md,
// which needs no server and asks nothing of other machines. It fails if a link leads nowhere, or if a page of docs is
// missing in docs/README.md, the contents.
//
//	site -o DIR [-root CHECKOUT]
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", "../..", "the checkout")
	out := flag.String("o", "", "where the site goes; what an earlier call made there is replaced")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	n, err := build(*root, *out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d pages\n", *out, n)
}

// build reads the pages of a checkout, holds their links and writes the site. It gives the number of pages.
func build(root, out string) (int, error) {
	s, err := read(root)
	if err != nil {
		return 0, err
	}
	if err := s.check(); err != nil {
		return 0, err
	}
	return len(s.pages), s.write(out)
}
