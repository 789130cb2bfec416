package ansihtml

import "strconv"

// numbered reads a colour given by number (5;N) or by its parts (2;R;G;B) as the nearest of the sixteen, from 1 on, and
// returns how many parameters it used.
func numbered(codes []string) (colour, used int) {
	if len(codes) == 0 {
		return 0, 0
	}
	part := func(i int) int {
		if i >= len(codes) {
			return 0
		}
		n, err := strconv.Atoi(codes[i])
		if err != nil || n > 255 {
			return 0
		}
		return n
	}
	switch codes[0] {
	case "5":
		return of256(part(1)), min(2, len(codes))
	case "2":
		return nearest(part(1), part(2), part(3)), min(4, len(codes))
	}
	return 0, len(codes)
}

// of256 returns one of the usual 256 colours: the sixteen, a cube of six steps a side, and 24 greys.
func of256(n int) int {
	switch {
	case n < 16:
		return n + 1
	case n < 232:
		step := func(v int) int {
			if v == 0 {
				return 0
			}
			return 55 + 40*v
		}
		n -= 16
		return nearest(step(n/36), step(n/6%6), step(n%6))
	}
	grey := 8 + 10*(n-232)
	return nearest(grey, grey, grey)
}

// nearest returns the most similar of the eight colours, plain or bright.
func nearest(r, g, b int) int {
	most := max(r, g, b)
	if most < 64 {
		return 1
	}
	n := 0
	for i, v := range []int{r, g, b} {
		if v > most/2 {
			n |= 1 << i
		}
	}
	if most > 200 {
		n += 8
	}
	return n + 1
}
