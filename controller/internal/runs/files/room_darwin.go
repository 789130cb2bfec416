package files

import "os"

// reserve promises nothing on macOS.
func reserve(*os.File, int64, int64) error { return nil }
