package foreign

import (
	"fmt"
	"testing"
)

// BenchmarkForeignCall is what hark adds to a module in Python that does nothing: 60 files in ten packages are packed
// with it, about as many as come with ansible.module_utils.basic, and it imports them all.
func BenchmarkForeignCall(b *testing.B) {
	module := "from ansible.module_utils import basic\n"
	files := map[string]string{}
	for i := range 10 {
		files[fmt.Sprintf("ansible/module_utils/part%d/__init__.py", i)] = ""
		for j := range 5 {
			files[fmt.Sprintf("ansible/module_utils/part%d/file%d.py", i, j)] = "import json, subprocess, tempfile\n\ndef f():\n    return 1\n"
			module += fmt.Sprintf("import ansible.module_utils.part%d.file%d\n", i, j)
		}
	}
	h := newHost(b, "", "")
	h.more = files
	h.take(module+"print('{}')\nraise SystemExit\n", "")
	for b.Loop() {
		if res := h.run(b.Context(), map[string]any{}); res["failed"] != nil {
			b.Fatal(res)
		}
	}
}
