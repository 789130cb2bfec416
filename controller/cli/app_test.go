package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hark/controller/config"
)

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestLostOutput: what could not be written is an error, though everything else went well.
func TestLostOutput(t *testing.T) {
	dir := t.TempDir()
	var stderr strings.Builder
	code := Main(context.Background(), System{
		Args: []string{"hark", "config", "dump"}, In: strings.NewReader(""), Out: fullDisk{}, Err: &stderr,
		World: config.World{Getenv: func(name string) (string, bool) { return "2.14", name == "HARK_ANSIBLE" }, Dir: dir, Home: dir},
	})
	if want := "ERROR! cannot write the output: no space left on device"; code != exitError || !strings.Contains(stderr.String(), want) {
		t.Errorf("code %d, %q, want %d and %q", code, stderr.String(), exitError, want)
	}
}
