package call

import (
	"context"
	"runtime"

	"hark/modules"
	"hark/modules/nss"
	"hark/modules/py/cwd"
)

// InProcess runs the module in this process. Where the call names a directory the module has a thread of its own that
// stands there, since relative paths in arguments are from there, and the directory of the process is everybody's.
func (inv Invocation) InProcess(ctx context.Context) modules.Result {
	nss.Forget() // what one task has read of a directory is not the next one's
	if here, err := cwd.Get(); inv.Call.Dir == "" || err == nil && here == inv.Call.Dir {
		return inv.Module.Run(ctx, inv.Env, inv.Args)
	}
	done := make(chan modules.Result, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if err := standIn(inv.Call.Dir); err != nil {
			done <- modules.Result{Failed: true, Msg: "cannot change to " + inv.Call.Dir + ": " + err.Error()}
			return
		}
		res := inv.Module.Run(ctx, inv.Env, inv.Args)
		_ = chdirThread("/") // the first thread of a process does not end, and would keep the directory in use
		done <- res
	}()
	return <-done
}

// standIn changes the directory of this thread only. A directory that is not for this user leaves it in the root,
// where it can read what it names and write nothing: Ansible's processes are started in the directory by somebody who
// may enter it.
func standIn(dir string) error {
	if err := ownDir(); err != nil {
		return err
	}
	if err := chdirThread(dir); err != nil {
		return chdirThread("/")
	}
	return nil
}
