package syntax

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"hark/modules/py/value"
)

// FindVar returns where the value of a variable is in a file that was read; path is its name and the keys to it. Of
// several places it returns the one that a task at near would see: in the task's own vars, before it in its file, or in
// the file of variables that takes precedence. With an item, counted from 1, the name is that of the loop's variable.
func (l *Loader) FindVar(path []string, item int, near Place) (Place, bool) {
	n, err := l.Once(near.File)
	if err == nil && item > 0 {
		at := itemIn(mappingAt(n, near), item)
		if at = valueIn(at, path[1:]); at != nil {
			return placeOf(near.File, at), true
		}
		return Place{}, false
	}
	if err == nil {
		if at := valueIn(keyOf(mappingAt(n, near), "vars"), path); at != nil {
			return placeOf(near.File, at), true
		}
		if at := lastVar(n, path, near.Line); at != nil {
			return placeOf(near.File, at), true
		}
	}
	files := l.others(path[0], near.File)
	slices.SortStableFunc(files, func(a, b string) int { return rank(a) - rank(b) })
	for _, file := range files {
		top, err := l.Once(file)
		if err != nil {
			continue
		}
		if at := valueIn(top, path); at != nil {
			return placeOf(file, at), true
		}
	}
	return Place{}, false
}

// FindName returns where the name of a variable is in a file that was read, as FindVar finds values: in vars of near's
// file, in a file of variables, or in vars anywhere.
func (l *Loader) FindName(name string, near Place) (Place, bool) {
	if n, err := l.Once(near.File); err == nil {
		if at := keyNode(keyOf(mappingAt(n, near), "vars"), name); at != nil {
			return placeOf(near.File, at), true
		}
		if at := lastName(n, name, near.Line); at != nil {
			return placeOf(near.File, at), true
		}
	}
	files := l.others(name, near.File)
	slices.SortStableFunc(files, func(a, b string) int { return rank(a) - rank(b) })
	for _, file := range files {
		if top, err := l.Once(file); err == nil {
			if at := keyNode(top, name); at != nil {
				return placeOf(file, at), true
			}
		}
	}
	for _, file := range append([]string{near.File}, files...) {
		if top, err := l.Once(file); err == nil {
			if at := lastName(top, name, math.MaxInt); at != nil {
				return placeOf(file, at), true
			}
		}
	}
	return Place{}, false
}

// NameOrigin returns the text about the place that FindName finds; extra are the variables of -e.
func (l *Loader) NameOrigin(name string, near Place, extra *value.Dict) string {
	if extra.Has(name) {
		return "Origin: <CLI option '-e'>\n\n" + name
	}
	if at, found := l.FindName(name, near); found {
		return Origin(at, l.text(at.File, false))
	}
	return "Origin: <unknown>\n\n" + name
}

// keyNode returns a key of a mapping, nil if it is not there.
func keyNode(n *Node, key string) *Node {
	if n == nil {
		return nil
	}
	for _, k := range n.Keys {
		if text, ok := value.Text(k.Value); ok && text == key {
			return k
		}
	}
	return nil
}

// itemIn returns an item of the list of a task's loop, nil if there is none.
func itemIn(task *Node, item int) *Node {
	for _, name := range []string{"loop", "with_items", "with_list"} {
		if list := keyOf(task, name); list != nil && item <= len(list.Items) {
			return list.Items[item-1]
		}
	}
	return nil
}

// rank orders files of variables by precedence; others, such as those of vars_files and include_vars, come before all.
func rank(file string) int {
	for i, part := range []string{"/host_vars/", "/group_vars/", "/group_vars/all", "/defaults/"} {
		if strings.Contains(file, part) && (i != 1 || !strings.Contains(file, "/group_vars/all")) {
			return i + 1
		}
	}
	return 0
}

// lastVar returns the last value of a variable before a line, in vars of plays, blocks and tasks.
func lastVar(n *Node, path []string, line int) *Node {
	return lastIn(n, line, func(vars *Node) *Node { return valueIn(vars, path) })
}

// lastName returns the last name of a variable before a line, as lastVar does.
func lastName(n *Node, name string, line int) *Node {
	return lastIn(n, line, func(vars *Node) *Node { return keyNode(vars, name) })
}

func lastIn(n *Node, line int, find func(vars *Node) *Node) *Node {
	var last *Node
	var walk func(n *Node)
	walk = func(n *Node) {
		if n == nil || n.Mark.Line > line {
			return
		}
		if at := find(keyOf(n, "vars")); at != nil && at.Mark.Line <= line {
			last = at
		}
		for _, list := range [][]*Node{n.Items, n.Vals} {
			for _, item := range list {
				walk(item)
			}
		}
	}
	walk(n)
	return last
}

// valueIn returns the value at a path of keys of mappings and indices of lists, nil if there is none.
func valueIn(n *Node, path []string) *Node {
	for _, key := range path {
		if i, err := strconv.Atoi(key); err == nil && n != nil && i >= 0 && i < len(n.Items) {
			n = n.Items[i]
		} else {
			n = keyOf(n, key)
		}
		if n == nil {
			return nil
		}
	}
	return n
}

// keyOf returns the value of a key of a mapping, nil if there is none.
func keyOf(n *Node, key string) *Node {
	if n == nil {
		return nil
	}
	for i, k := range n.Keys {
		if text, ok := value.Text(k.Value); ok && text == key {
			return n.Vals[i]
		}
	}
	return nil
}
