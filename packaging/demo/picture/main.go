// Command picture runs commands and makes a moving picture of what they print: an SVG that plays in any browser, with
// the times that the commands took. `packaging/demo/run picture FILE` calls it with a fleet.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	out := flag.String("o", "run.svg", "the file")
	rows := flag.Int("rows", 30, "lines of the screen")
	columns := flag.Int("columns", 100, "columns of the screen")
	below := flag.String("below", "", "a directory that is left out of paths below it")
	flag.Parse()
	if err := run(*out, screen{rows: *rows, columns: *columns, below: *below}, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(out string, s screen, commands []string) error {
	for _, command := range commands {
		s.typed(command)
		if err := s.watch(command); err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	return errors.Join(s.write(f), f.Close())
}

// line is a line of the screen, and when it came.
type line struct {
	text string
	at   time.Duration
}

// screen is what came, in order.
type screen struct {
	rows, columns int
	below         string // a directory of this machine, which no picture shows
	lines         []line
	now           time.Duration
}

// The times of the one who types.
const (
	aKey      = 35 * time.Millisecond
	beforeRun = 400 * time.Millisecond
	afterRun  = 1500 * time.Millisecond
)

// typed puts a command on the screen.
func (s *screen) typed(command string) {
	s.now += afterRun
	s.lines = append(s.lines, line{"\x1b[1m$ " + command + "\x1b[0m", s.now})
	s.now += time.Duration(len(command))*aKey + beforeRun
}

// watch runs a command and notes when each line comes.
func (s *screen) watch(command string) error {
	cmd := exec.Command("sh", "-c", command)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(pipe)
	for {
		text, err := lines.ReadString('\n')
		if text != "" {
			s.add(text, time.Since(began))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	err = cmd.Wait()
	s.now += time.Since(began)
	return err
}

// add puts a line on the screen, cut to its width.
func (s *screen) add(text string, after time.Duration) {
	if s.below != "" {
		text = strings.ReplaceAll(text, s.below+"/", "")
	}
	s.lines = append(s.lines, line{text, s.now + after})
}
