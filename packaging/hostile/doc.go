// Package hostile plays those who mean ill against the real programs: an agent whose host was taken over, the
// broker itself, an operator who may do less than he tries, another user of the controller's machine. Broker,
// controller and honest agents are processes of their own on the loopback, without root; the hostile agent is this
// process, with a key and credentials as good as any (see agent_test.go).
//
// A case says what may not come of it: no file of the controller read or written (place, secret), no program
// started (witness), nothing that honest hosts did or were shown changed (play, compared with a run in which
// nobody was hostile). Hosts that keep to the protocol and lie in what they answer are made in lie_test.go and
// liar_test.go. The canaries (canary_test.go) are texts of others that would start a program if anybody took them for a
// template: they are put wherever the tables of keywords and modules say that a value can be.
package hostile
