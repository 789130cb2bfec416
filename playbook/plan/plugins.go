package plan

// Plugins are the filters and tests of the project's own directories that are written in Python, by name: they hide hark's. Those of
// collections are asked for by the full names that nobody knows.
type Plugins struct {
	Filters []string `json:"filters,omitempty"`
	Tests   []string `json:"tests,omitempty"`
	// More: roles that are included later may bring more of them.
	More bool `json:"more,omitempty"`
}
