package cli

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"hark/agent/tempdir"
)

// browseTime is how long a browser may take to read the page that it is given.
const browseTime = 30 * time.Second

// browsePage leads the browser on. It has the address twice.
const browsePage = `<!DOCTYPE html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=%[1]s">
<title>hark console</title>
<a href="%[1]s">Open the console</a>
`

// browse opens an address in the browser, if there is one, and does not wait for it. Who has the address is let in,
// and every user of a machine can list the arguments of programs: so the browser is given the name of a page that
// leads there and that this user alone can read. removed is closed when the page is gone, which is when the browser
// has had its time or ctx is over.
func browse(ctx context.Context, a *app, address string) (removed <-chan struct{}) {
	gone := make(chan struct{})
	dir, err := openPage(address)
	if err != nil {
		a.display.Warn(fmt.Sprintf("cannot open the browser: %v", err))
		close(gone)
		return gone
	}
	go func() {
		defer close(gone)
		select {
		case <-ctx.Done():
		case <-time.After(browseTime):
		}
		if err := dir.Remove(); err != nil {
			a.display.Warn(fmt.Sprintf("cannot remove the page for the browser: %v", err))
		}
	}()
	return gone
}

// openPage opens a page that leads to an address, in a directory of its own.
func openPage(address string) (*tempdir.Dir, error) {
	dir, err := tempdir.Make("browser")
	if err != nil {
		return nil, err
	}
	page := filepath.Join(dir.Path, "console.html")
	if err := os.WriteFile(page, fmt.Appendf(nil, browsePage, html.EscapeString(address)), 0o600); err != nil {
		return nil, errors.Join(err, dir.Remove())
	}
	opener := exec.Command("xdg-open", (&url.URL{Scheme: "file", Path: page}).String())
	if err := opener.Start(); err != nil {
		return nil, errors.Join(err, dir.Remove())
	}
	go func() { _ = opener.Wait() }() // it may be the browser itself; what it says of its end is for nobody
	return dir, nil
}
