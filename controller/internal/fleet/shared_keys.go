package fleet

import (
	"path/filepath"

	"hark/agent/atomicfile"
	"hark/agent/securefile"
	"hark/agent/wire"
)

// What an operator's processes keep for the next one, closed for himself, in the directory of his files. Without it
// all is made again.
const (
	// pairsFile has the keys that the operator shares with agents, hellosFile what agents have said and was verified.
	pairsFile  = "pairs"
	hellosFile = "hellos"
)

// recall gives an operator what an earlier process has kept. What cannot be read is as none.
func loadSharedKeys(home string, operator *wire.Identity, hellos *wire.Verified) {
	if text, err := securefile.Read(filepath.Join(home, pairsFile), securefile.Ours); err == nil {
		_ = operator.KeepPairs(text) // of another key of the operator's: it is written again
	}
	if text, err := securefile.Read(filepath.Join(home, hellosFile), securefile.Ours); err == nil {
		_ = hellos.Keep(operator, text) // likewise
	}
}

// keep writes down what was made since.
func keep(home string, operator *wire.Identity, hellos *wire.Verified) {
	if text, err := operator.Pairs(); err == nil && text != nil {
		_ = atomicfile.WriteLoose(filepath.Join(home, pairsFile), text) // who comes next makes them again
	}
	if text, err := hellos.Kept(operator); err == nil && text != nil {
		_ = atomicfile.WriteLoose(filepath.Join(home, hellosFile), text) // likewise
	}
}

// Close ends the connection, and keeps what was made meanwhile for the next one.
func (b *Connection) Close() error {
	if b.stop != nil {
		b.stop()
	}
	keep(b.home, b.Operator, b.Roster.Verified)
	return b.Transport.Close()
}
