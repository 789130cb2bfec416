package services

import (
	"testing"

	"hark/modules/modtest"
)

// The service of a case is the script $DIR/svc, which writes how it was called to $HOME/told as the programs do.
func TestSysvinitCases(t *testing.T) {
	modtest.Run(t, Sysvinit, modtest.Options{Tools: modtest.Tools(t)})
}
