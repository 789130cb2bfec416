package scrollback_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"hark/controller/internal/console/scrollback"
)

func fresh(t testing.TB) *scrollback.Lines {
	t.Helper()
	r, err := scrollback.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// TestAnyLineIsFound: however text is cut into writes, and however long lines are, each line is read back from its
// number on.
func TestAnyLineIsFound(t *testing.T) {
	r, rnd := fresh(t), rand.New(rand.NewPCG(1, 2))
	var lines []string
	var all strings.Builder
	for i := range 6000 {
		length := rnd.IntN(300)
		if i%1500 == 7 {
			length = 700_000 // longer than frames
		}
		lines = append(lines, fmt.Sprintf("%d ", i)+strings.Repeat(string(rune('a'+i%26)), length))
		all.WriteString(lines[i] + "\n")
	}
	for text := all.String(); len(text) > 0; {
		n := min(len(text), 1+rnd.IntN(100_000))
		if _, err := r.Write([]byte(text[:n])); err != nil {
			t.Fatal(err)
		}
		text = text[n:]
	}
	if r.Page() != len(lines) || r.Size() != int64(all.Len()) {
		t.Fatalf("%d lines of %d bytes, want %d of %d", r.Page(), r.Size(), len(lines), all.Len())
	}
	for _, from := range []int{0, 1, 6, 7, 8, 1506, 1507, 1508, 3000, 4507, 5999, 6000} {
		next := from
		err := r.Each(from, 1<<20, func(n int, line []byte, length int) bool {
			if n != next || string(line) != lines[n] || length != len(lines[n]) {
				t.Fatalf("from %d: line %d is %.40q of %d bytes, want line %d %.40q", from, n, line, length, next, lines[next])
			}
			next++
			return next < from+50
		})
		if err != nil || next != min(from+50, len(lines)) {
			t.Fatalf("from %d to %d: %v", from, next, err)
		}
	}
	var b bytes.Buffer
	if _, err := r.WriteTo(&b); err != nil || b.String() != all.String() {
		t.Fatalf("the whole text differs, or %v", err)
	}
}

func TestLongLinesAreGivenInPart(t *testing.T) {
	r := fresh(t)
	fmt.Fprintf(r, "short\n%s\nend\n", strings.Repeat("x", 10<<20))
	var got []string
	err := r.Each(0, 10, func(_ int, line []byte, length int) bool {
		got = append(got, fmt.Sprintf("%s %d", line, length))
		return true
	})
	if want := "[short 5 xxxxxxxxxx 10485760 end 3]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
}

func TestReadersSeeWholeLinesWhileOthersAreWritten(t *testing.T) {
	r := fresh(t)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 50_000 {
			fmt.Fprintf(r, "line %d of a run that goes on\n", i)
		}
	})
	for range 20 {
		want := r.Page()
		seen := 0
		if err := r.Each(0, 100, func(n int, line []byte, _ int) bool {
			if string(line) != fmt.Sprintf("line %d of a run that goes on", n) {
				t.Errorf("line %d is %q", n, line)
			}
			seen++
			return true
		}); err != nil || seen < want {
			t.Errorf("%d lines of %d, %v", seen, want, err)
		}
	}
	wg.Wait()
}

func TestFindCountsAll(t *testing.T) {
	r := fresh(t)
	for i := range 10_000 {
		fmt.Fprintf(r, "Line %d Übung\xff\n", i)
	}
	fmt.Fprint(r, "line that is not ended")
	var first []string
	places, lines, err := r.Find(context.Background(), "ÜBUNG", strings.TrimSpace, func(at, n int, line string) {
		if at < 2 {
			first = append(first, fmt.Sprint(at, n))
		}
	})
	if err != nil || places != 10_000 || lines != 10_000 || fmt.Sprint(first) != "[0 0 1 1]" {
		t.Errorf("%d places in %d lines, %v, first %v", places, lines, err, first)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := r.Find(ctx, "x", strings.Clone, func(int, int, string) {}); err == nil {
		t.Error("a search that nobody waits for goes on")
	}
}
