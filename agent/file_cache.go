package agent

import (
	"path/filepath"
	"sync"

	"hark/agent/internal/store"
	"hark/agent/tempdir"
)

// fileCache is the cache of pulled files, made when it is first used.
type fileCache struct {
	dir string // "" makes one for the life of the agent

	mu    sync.Mutex
	blobs *store.Blobs // guarded by mu
	tmp   *tempdir.Dir // directory of blobs if the cache made it; guarded by mu
}

// open returns the cache of files. The first call makes it.
func (f *fileCache) open() (*store.Blobs, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.blobs != nil {
		return f.blobs, nil
	}
	dir := f.dir
	if dir == "" {
		tmp, err := tempdir.Make("files")
		if err != nil {
			return nil, err
		}
		f.tmp, dir = tmp, filepath.Join(tmp.Path, "blobs")
	}
	b, err := store.OpenBlobs(dir)
	if err == nil {
		f.blobs = b
	}
	return b, err
}

func (f *fileCache) remove() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tmp != nil {
		_ = f.tmp.Remove()
	}
}
