package plan

// Walk calls f for every step of the blocks in order, also those of rescue and always.
func Walk(blocks []Block, f func(*Step)) {
	for i := range blocks {
		b := &blocks[i]
		for _, nodes := range [][]Node{b.Body, b.Rescue, b.Always} {
			walkNodes(nodes, f)
		}
	}
}

func walkNodes(nodes []Node, f func(*Step)) {
	for _, n := range nodes {
		if n.Step != nil {
			f(n.Step)
		}
		if n.Block != nil {
			Walk([]Block{*n.Block}, f)
		}
	}
}
