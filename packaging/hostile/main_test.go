//go:build hostile

package hostile

import (
	"os"
	"testing"

	"hark/packaging/leash"
)

func TestMain(m *testing.M) { os.Exit(leash.Main(m)) }
