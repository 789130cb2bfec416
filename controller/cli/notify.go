package cli

import (
	"fmt"

	"hark/controller/internal/notify"
)

// notifyTargets are those of the setting HARK_NOTIFY.
func notifyTargets(a *app) ([]string, error) {
	all := a.cfg.List("HARK_NOTIFY")
	for _, text := range all {
		if _, err := notify.Parse(text); err != nil {
			return nil, fmt.Errorf("the setting HARK_NOTIFY: %w", err)
		}
	}
	return all, nil
}
