package fleet

import (
	"path/filepath"

	"hark/agent/atomicfile"
	"hark/agent/guarded"
	"hark/agent/wire"
)

// pairsFile keeps the keys that the operator shares with agents, closed for himself, in the directory of his files. Without it they are made anew.
const pairsFile = "pairs"

// recall gives an operator the keys that an earlier process has kept. One that cannot be read is as none.
func recall(home string, operator *wire.Identity) {
	if text, err := guarded.Read(filepath.Join(home, pairsFile), guarded.Ours); err == nil {
		_ = operator.KeepPairs(text) // of another key of the operator's: it is written anew
	}
}

// keep writes down the keys that were made since.
func keep(home string, operator *wire.Identity) {
	if text, err := operator.Pairs(); err == nil && text != nil {
		_ = atomicfile.WriteLoose(filepath.Join(home, pairsFile), text) // who comes next makes them anew
	}
}

// Close ends the connection, and keeps the keys that were made meanwhile for the next one.
func (b *Connection) Close() error {
	keep(b.home, b.Operator)
	return b.Transport.Close()
}
