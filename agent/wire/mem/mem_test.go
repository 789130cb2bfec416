package mem_test

import (
	"testing"

	"hark/agent/wire"
	"hark/agent/wire/mem"
	"hark/agent/wire/wiretest"
)

func TestTransport(t *testing.T) {
	wiretest.Run(t, func(t *testing.T) wiretest.Connect {
		var bus mem.Bus
		return func(t *testing.T, id string) wire.Transport {
			tr := bus.Connect(id)
			t.Cleanup(func() { _ = tr.Close() })
			return tr
		}
	})
}
