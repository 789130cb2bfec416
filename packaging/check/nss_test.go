package check

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// lookups are what looks names of users, groups and hosts up in the standard library, or dials them, by package. The
// network is read from package net by other names too: addresses, listeners and errors are nobody's names.
func lookups() map[string][]string {
	return map[string][]string{
		"os/user": nil, // all of it
		"net": {"Dial", "DialTimeout", "Dialer", "Resolver", "DefaultResolver", "LookupHost", "LookupIP", "LookupAddr", "LookupCNAME", "LookupPort",
			"LookupTXT", "LookupMX", "LookupNS", "LookupSRV", "LookupNetIP", "DialTCP", "DialUDP", "DialIP", "ResolveTCPAddr", "ResolveUDPAddr", "ResolveIPAddr"},
		"net/http":   {"DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"},
		"crypto/tls": {"Dial", "DialWithDialer", "Dialer"},
	}
}

// TestNamesOfTheSystemComeFromOnePackage: modules/nss has users, groups and hosts as libc's programs see them, and
// connects to them.
func TestNamesOfTheSystemComeFromOnePackage(t *testing.T) {
	inNSS := 0
	eachSource(t, func(dir string, file *ast.File) {
		found := lookupsOf(file)
		switch {
		case dir == "modules/nss":
			inNSS += len(found)
		case under(dir, "packaging"), strings.HasSuffix(file.Name.Name, "test"): // no part of hark
		default:
			for _, name := range found {
				t.Errorf("%s: %s does not see what the machine's directories know: use modules/nss", dir, name)
			}
		}
	})
	if inNSS == 0 {
		t.Error("modules/nss looks nothing up: the check looks in the wrong place")
	}
}

// TestTransportsDialByTheMachinesNames: an http.Transport without a way to dial takes the standard library's.
func TestTransportsDialByTheMachinesNames(t *testing.T) {
	found := 0
	eachSource(t, func(dir string, file *ast.File) {
		if under(dir, "packaging") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if sel, ok := lit.Type.(*ast.SelectorExpr); !ok || sel.Sel.Name != "Transport" || identOf(sel.X) != "http" {
				return true
			}
			found++
			dials := slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
				kv, ok := e.(*ast.KeyValueExpr)
				return ok && identOf(kv.Key) == "DialContext"
			})
			if !dials {
				t.Errorf("%s: an http.Transport without DialContext: give it that of a nss.Dialer", dir)
			}
			return true
		})
	})
	if found == 0 {
		t.Error("no transport was found: the check looks in the wrong place")
	}
}

// lookupsOf are the names in a file that look names up. A socket of the machine is no name.
func lookupsOf(file *ast.File) []string {
	local := map[string]string{} // packages by what the file calls them
	var found []string
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		names, watched := lookups()[path]
		if !watched {
			continue
		}
		if names == nil {
			found = append(found, path)
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		local[name] = path
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 {
			if lit, ok := call.Args[0].(*ast.BasicLit); ok && lit.Value == `"unix"` {
				return false
			}
		}
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if path := local[identOf(sel.X)]; path != "" && slices.Contains(lookups()[path], sel.Sel.Name) {
				found = append(found, path+"."+sel.Sel.Name)
			}
		}
		return true
	})
	return found
}

func identOf(e ast.Expr) string {
	id, ok := e.(*ast.Ident)
	if !ok {
		return ""
	}
	return id.Name
}

// TestTheZoneIsNotTheOneOfTheFirstDay: package time reads the zone of a process once, and agents live for months.
func TestTheZoneIsNotTheOneOfTheFirstDay(t *testing.T) {
	seen := 0
	eachSource(t, func(dir string, file *ast.File) {
		if !under(dir, "modules") && !under(dir, "agent") || dir == "agent/hark-agent" {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if name := identOf(sel.X); name == "localtime" {
				seen++
			} else if sel.Sel.Name == "Local" && name == "time" {
				t.Errorf("%s: time.Local is the zone in which the process began: use modules/py/localtime", dir)
			}
			return true
		})
		for _, call := range calls(file, "Local") {
			if identOf(call.X) != "scope" {
				t.Errorf("%s: Local() is the zone in which the process began: use modules/py/localtime", dir)
			}
		}
	})
	if seen == 0 {
		t.Error("modules/py/localtime is not used: the check looks in the wrong place")
	}
}

// calls are the calls of a method without arguments.
func calls(file *ast.File, name string) []*ast.SelectorExpr {
	var found []*ast.SelectorExpr
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 0 {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == name {
				found = append(found, sel)
			}
		}
		return true
	})
	return found
}
