package main

import (
	"os"
	"reflect"
	"testing"
	"time"
)

// timeout(1) sends two signals at once: the run is to be cancelled, not to be left to itself.
func TestASignalThatComesTwiceIsOneWish(t *testing.T) {
	signals, over, did := make(chan os.Signal), make(chan time.Time), make(chan string)
	say := func(what string) func() { return func() { did <- what } }
	go wishes{say("cancel"), say("detach"), say("exit")}.obey(signals,
		func(time.Duration) <-chan time.Time { return over })

	var got []string
	signals <- os.Interrupt
	got = append(got, <-did)
	signals <- os.Interrupt // the echo: it is taken, and nothing comes of it
	over <- time.Time{}
	signals <- os.Interrupt
	got = append(got, <-did)
	signals <- os.Interrupt
	got = append(got, <-did)
	if want := []string{"cancel", "detach", "exit"}; !reflect.DeepEqual(got, want) {
		t.Errorf("the signals did %v, want %v", got, want)
	}
}
