// Package fleet boots hosts with systemd in network namespaces and holds what must be true after each kind of trouble.
// Its tests have the build tag fleet.
package fleet
