package runner

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	"hark/agent/internal/call"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// blobs are the contents of the controller's files as a session has them: those that came with their names, those that
// its agent caches, and those that it asks the controller for.
type blobs struct {
	line *controllerLink
	// open reads from the agent's cache, or pulls; nil asks every time.
	open func(ctx context.Context, digest string) (io.ReadCloser, error)

	mu sync.Mutex

	// guarded by mu: inline are contents that came with their names, by digest; about is what templates may ask of
	// their files, by path.
	inline map[string][]byte
	about  map[string]*value.Dict
	packs  map[plan.ID]plan.File // of modules that are not native, by step: an answer holds for the run
}

// pack returns the pack of a step's module, if it was asked for before.
func (b *blobs) pack(step plan.ID) (plan.File, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, ok := b.packs[step]
	return f, ok
}

// keepPack remembers the pack of a step's module, since a loop needs it for each item.
func (b *blobs) keepPack(step plan.ID, f plan.File) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.packs[step] = f
}

// keep remembers what came with the name of a file.
func (b *blobs) keep(f plan.File) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f.Inline != nil {
		b.inline[f.Digest] = f.Inline
	}
	if f.TemplateVars.Dict != nil {
		b.about[f.Path] = f.TemplateVars.Dict
	}
}

// templateVars returns what templates may ask of a file, empty if nothing came with it. The caller may change it.
func (b *blobs) templateVars(path string) *value.Dict {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.about[path].Copy()
}

// reader reads a blob.
func (b *blobs) reader(ctx context.Context, digest string) (io.ReadCloser, error) {
	b.mu.Lock()
	raw, ok := b.inline[digest]
	b.mu.Unlock()
	if ok {
		return io.NopCloser(bytes.NewReader(raw)), nil
	}
	if b.open != nil {
		return b.open(ctx, digest)
	}
	return call.Blob(ctx, b.line.ask, digest), nil
}

// template returns the text of a template file that the controller has found.
func (b *blobs) template(ctx context.Context, src *modules.Source) (value.Source, error) {
	text, err := b.text(ctx, src.Digest)
	return value.SourceText(string(text)), err
}

// text returns the whole of a blob that is a text.
func (b *blobs) text(ctx context.Context, digest string) ([]byte, error) {
	in, err := b.reader(ctx, digest)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, value.MaxText+1))
	if err == nil && len(text) > value.MaxText {
		err = fmt.Errorf("cannot read a text from the controller: it has more than %d bytes", value.MaxText)
	}
	return text, err
}
