package view

// JUnitOptions are the settings of the junit view.
type JUnitOptions struct {
	// Dir is where the report goes.
	Dir string
	// RelativeTo makes the paths of tasks relative to a directory; OutOfTree replaces the directory of those that lie
	// outside of it.
	RelativeTo string
	OutOfTree  *string
	// ClassPerFile drops the line from a task's place; FailOnChange and FailOnIgnore count those as failures.
	ClassPerFile, FailOnChange, FailOnIgnore bool
	// HideArgs leaves arguments out of names, HideSetup the gathering of facts out of the report.
	HideArgs, HideSetup bool
	// Prefix limits the report to tasks whose name starts with it, and failures.
	Prefix string
}
