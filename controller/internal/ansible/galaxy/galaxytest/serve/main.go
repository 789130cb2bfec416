// Command serve is the Galaxy server of the tests as a process: collections out of directories, for hosts that are
// not this one.
//
//	serve ADDRESS:PORT NAMESPACE.NAME=VERSION=DIRECTORY...
//
// It prints its URL when it can be reached, and ends with its standard input.
package main

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"hark/controller/internal/ansible/galaxy/galaxytest"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("which address, and which collections?")
	}
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	s := galaxytest.On(l)
	defer s.Close()
	for _, arg := range args[1:] {
		c, err := collection(arg)
		if err != nil {
			return err
		}
		s.Add(c)
	}
	fmt.Println(s.URL)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// collection reads one from its directory.
func collection(arg string) (galaxytest.Collection, error) {
	parts := strings.Split(arg, "=")
	if len(parts) != 3 || strings.Count(parts[0], ".") != 1 {
		return galaxytest.Collection{}, fmt.Errorf("%q is not NAMESPACE.NAME=VERSION=DIRECTORY", arg)
	}
	namespace, name, _ := strings.Cut(parts[0], ".")
	c := galaxytest.Collection{Namespace: namespace, Name: name, Version: parts[1], Files: map[string]string{}}
	return c, fs.WalkDir(os.DirFS(parts[2]), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(parts[2], path))
		c.Files[path] = string(text)
		return err
	})
}
