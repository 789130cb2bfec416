package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"
)

// most is the load above which figures are not written: another program has its share of them.
const most = 1.0

// tries is how often the load is looked at, every ten seconds: what was built before takes a few minutes to be
// forgotten.
const tries = 36

// quiet waits until the load of this machine is low. The error is that it is not.
func quiet(ctx context.Context, load func() (float64, error), pause func(context.Context) error) error {
	for n := 1; ; n++ {
		now, err := load()
		if err != nil || now <= most {
			return err
		}
		if n == tries {
			return fmt.Errorf(
				"the load of this machine is %.2f, above %.0f: its figures would be those of other programs too, and no page is "+
					"written", now, most)
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// load is the average of the last minute.
func load() (minute float64, err error) {
	text, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		_, err = fmt.Sscan(string(text), &minute)
	}
	if err != nil {
		return 0, fmt.Errorf("cannot read the load of this machine: %w", err)
	}
	return minute, nil
}

// tenSeconds is the pause between two looks.
func tenSeconds(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(10 * time.Second):
		return nil
	}
}

// median is the cost in the middle by the clock; the slower one of two.
func median(costs []cost) cost {
	slices.SortFunc(costs, func(a, b cost) int { return int(a.Wall - b.Wall) })
	return costs[len(costs)/2]
}
