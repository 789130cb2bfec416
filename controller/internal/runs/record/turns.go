package record

// Turns are turns of one duty that stand together in a list of runs, or one run of somebody.
type Turns struct {
	// Newest is the run, or the newest of the turns.
	Newest Entry
	// N is how many there are, Failed how many of them came out other than well.
	N, Failed int
	// Hosts are how many hosts they met in all, States how those came out.
	Hosts  int
	States map[HostState]int
}

// MergeTurns puts turns of the same duty together, where nothing else lies between them but turns of other duties. The
// entries are the newest first. apart leaves each as it is.
func MergeTurns(all []Entry, apart bool) []*Turns {
	var out []*Turns
	open := map[string]*Turns{} // by keeper and duty, since the last run that was no turn
	for _, e := range all {
		key := e.Head.Who + "\x00" + e.Head.Duty
		s := open[key]
		if e.Head.Duty == "" || apart {
			s = nil
			clear(open)
		}
		if s == nil {
			s = &Turns{Newest: e, States: map[HostState]int{}}
			out = append(out, s)
			if e.Head.Duty != "" && !apart {
				open[key] = s
			}
		}
		s.N++
		s.Hosts += e.Met()
		if e.Failed() {
			s.Failed++
		}
		for state, n := range e.Counts {
			s.States[state] += n
		}
	}
	return out
}
