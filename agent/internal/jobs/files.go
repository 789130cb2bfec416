package jobs

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"hark/agent/internal/call"
)

// filesDir holds the controller's files that a job reads, by their digests, as long as the job runs.
const filesDir = "files"

// provide copies the controller's files that a job reads into its directory: when the job needs them the controller may
// be gone, and the agent another one. It returns files that the agent keeps on no disk, since they came out of a vault
// or are small ones that came with the plan; the caller hands them over in memory.
func provide(ctx context.Context, dir string, inv call.Invocation) (map[string][]byte, error) {
	inMemory := map[string][]byte{}
	for _, digest := range inv.Call.Files {
		content, err := provideOne(ctx, filepath.Join(dir, filesDir), digest, inv)
		if err != nil {
			return nil, fmt.Errorf("cannot get a file of the controller: %w", err)
		}
		if content != nil {
			inMemory[digest] = content
		}
	}
	return inMemory, nil
}

func provideOne(ctx context.Context, dir, digest string, inv call.Invocation) ([]byte, error) {
	r, err := inv.Env.Open(ctx, digest)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cached, ok := r.(*os.File)
	if !ok || !named(cached) {
		content, err := io.ReadAll(r)
		return append([]byte{}, content...), err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, filepath.Base(digest))
	if os.Link(cached.Name(), path) == nil {
		return nil, nil
	}
	return nil, copyFile(path, cached) // the cache is on another disk, or has just dropped the file
}

// named reports whether a file has a name on a disk.
func named(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	return ok && sys.Nlink > 0
}

func copyFile(path string, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, r); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// provided opens the files in the directory of a job, and other files through next.
func provided(dir string, next func(context.Context, string) (io.ReadCloser, error)) func(context.Context,
	string) (io.ReadCloser, error) {
	return func(ctx context.Context, digest string) (io.ReadCloser, error) {
		if f, err := os.Open(filepath.Join(dir, filesDir, filepath.Base(digest))); err == nil {
			return f, nil
		}
		return next(ctx, digest)
	}
}

// unprovide removes the files.
func unprovide(dir string) { _ = os.RemoveAll(filepath.Join(dir, filesDir)) } // files that remain go with the job
