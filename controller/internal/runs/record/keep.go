package record

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Keep is how long and how many records are kept.
type Keep struct {
	// Age is how long lines are kept, Bytes how many bytes all records may take (0 is any), Heads how long heads and feet
	// are kept.
	Age   time.Duration
	Bytes int64
	Heads time.Duration
}

const day = 24 * time.Hour

// ParseKeep reads the setting: the age of lines, the size of all records and the age of heads and feet, such as
// 30d,2GB,400d. Values missing at the end have these defaults.
func ParseKeep(text string) (Keep, error) {
	k := Keep{Age: 30 * day, Bytes: 2 << 30, Heads: 400 * day}
	bad := fmt.Errorf("%q is not how long runs are kept: wanted is AGE,SIZE,AGE such as 30d,2GB,400d", text)
	fields := strings.Split(text, ",")
	if len(fields) > 3 || strings.TrimSpace(text) == "" {
		return k, bad
	}
	for i, field := range fields {
		var err error
		switch field = strings.TrimSpace(field); i {
		case 0:
			k.Age, err = ParseAge(field)
		case 1:
			k.Bytes, err = parseSize(field)
		case 2:
			k.Heads, err = ParseAge(field)
		}
		if err != nil {
			return k, bad
		}
	}
	if k.Heads < k.Age {
		k.Heads = k.Age
	}
	return k, nil
}

// ParseAge reads a duration that may be in days (7d) or weeks (2w).
func ParseAge(text string) (time.Duration, error) {
	units := map[string]time.Duration{"d": day, "w": 7 * day}
	if n := len(text); n > 0 && units[text[n-1:]] > 0 {
		count, err := strconv.Atoi(text[:n-1])
		if err != nil || count < 0 || count > 36500 {
			return 0, fmt.Errorf("%q is no time such as 90s, 12h or 7d", text)
		}
		return time.Duration(count) * units[text[n-1:]], nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no time such as 90s, 12h or 7d", text)
	}
	return d, nil
}

// parseSize reads a number of bytes such as 500MB; 0 is no limit.
func parseSize(text string) (int64, error) {
	text = strings.ToUpper(text)
	shift := 0
	for unit, s := range map[string]int{"KB": 10, "MB": 20, "GB": 30, "TB": 40} {
		if t, ok := strings.CutSuffix(text, unit); ok {
			text, shift = t, s
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 || n > 1<<20 && shift > 0 {
		return 0, fmt.Errorf("%q is no size", text)
	}
	return n << shift, nil
}
