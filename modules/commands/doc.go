// Package commands are the modules that run commands of the user's.
package commands

import (
	"fmt"
	"time"

	"hark/modules"
)

// All are the modules of this package.
func All() []*modules.Module {
	return []*modules.Module{Command, Expect, Raw, Script, Shell}
}

// deltaText is a span as Python's timedelta prints it.
func deltaText(d time.Duration) string {
	micros := d.Microseconds()
	secs := micros / 1e6
	text := fmt.Sprintf("%d:%02d:%02d", secs/3600%24, secs/60%60, secs%60)
	if days := secs / 86400; days == 1 {
		text = "1 day, " + text
	} else if days > 1 {
		text = fmt.Sprintf("%d days, %s", days, text)
	}
	if rest := micros % 1e6; rest != 0 {
		text += fmt.Sprintf(".%06d", rest)
	}
	return text
}
