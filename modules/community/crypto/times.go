package crypto

import (
	"regexp"
	"strconv"
	"sync"
	"time"

	"hark/modules/internal/host/tool"
)

var relative = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([+-])(?:(\d+)[wW])?(?:(\d+)[dD])?(?:(\d+)[hH])?(?:(\d+)[mM])?(?:(\d+)[sS]?)?$`)
})

// readTime reads a time: from now on, +1w2d3h4m5s, or in numbers, 20300102030405Z. name is the argument, for messages.
func readTime(given, name string) (time.Time, error) {
	if m := relative().FindStringSubmatch(given); m != nil && len(given) > 1 {
		return fromNow(m), nil
	}
	for _, form := range []string{"20060102150405Z", "200601021504Z", "20060102150405-0700", "200601021504-0700"} {
		if t, err := time.Parse(form, given); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, tool.Fail(nil, `The time spec "%s" for %s is invalid`, given, name)
}

func fromNow(m []string) time.Time {
	days, seconds := 0, 0
	for i, unit := range []int{7, 1} {
		n, _ := strconv.Atoi(m[2+i])
		days += n * unit
	}
	for i, unit := range []int{3600, 60, 1} {
		n, _ := strconv.Atoi(m[4+i])
		seconds += n * unit
	}
	if m[1] == "-" {
		days, seconds = -days, -seconds
	}
	// A duration would end after 292 years.
	return time.Now().UTC().AddDate(0, 0, days+seconds/86400).Add(time.Duration(seconds%86400) * time.Second)
}
