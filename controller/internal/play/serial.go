package play

import (
	"fmt"
	"strconv"
	"strings"
)

// split parts hosts into batches by the entries of serial: numbers and percentages of all hosts. The last entry counts for
// the rest; an entry of 0 or less takes all that are left. No hosts are no batches.
func split(hosts []string, serial []string) ([][]string, error) {
	var batches [][]string
	rest := hosts
	for i := 0; len(rest) > 0; i++ {
		size := 0
		if len(serial) > 0 {
			n, err := batchSize(serial[min(i, len(serial)-1)], len(hosts))
			if err != nil {
				return nil, err
			}
			size = n
		}
		if size <= 0 || size > len(rest) {
			size = len(rest)
		}
		batches = append(batches, rest[:size:size])
		rest = rest[size:]
	}
	return batches, nil
}

// batchSize is one entry of serial. A percentage is at least one host.
func batchSize(entry string, hosts int) (int, error) {
	if percent, ok := strings.CutSuffix(entry, "%"); ok {
		f, err := strconv.ParseFloat(percent, 64)
		if err != nil {
			return 0, fmt.Errorf("invalid serial value: %q", entry)
		}
		return max(1, int(f/100*float64(hosts))), nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(entry))
	if err != nil {
		return 0, fmt.Errorf("invalid serial value: %q", entry)
	}
	return n, nil
}
