//go:build hostile

package hostile

import (
	"os"
	"testing"

	"hark/packaging/leash"
)

// TestMain is also the far end of connections to hosts that lie, see liar_test.go.
func TestMain(m *testing.M) {
	if file := os.Getenv(liarVar); file != "" {
		os.Exit(lyingFar(file, os.Args[1:]))
	}
	os.Exit(leash.Main(m))
}
