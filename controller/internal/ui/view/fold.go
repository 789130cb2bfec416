package view

import "hark/controller/internal/ui/hostnames"

// Fold writes hosts that are numbered one after the other as a range, see hostnames.Fold.
func Fold(hosts []string) []string { return hostnames.Fold(hosts) }
