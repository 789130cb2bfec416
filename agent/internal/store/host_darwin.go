package store

import "os"

// nameless returns a file without a name: macOS has none that is only in memory.
func nameless(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return f, os.Remove(path)
}

func syncContent(f *os.File) error { return f.Sync() }
