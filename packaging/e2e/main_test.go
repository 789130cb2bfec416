//go:build e2e || fleet

package e2e

import (
	"os"
	"testing"

	"hark/packaging/leash"
)

func TestMain(m *testing.M) { os.Exit(leash.Main(m)) }
