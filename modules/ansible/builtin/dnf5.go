package builtin

// Dnf5 is ansible.builtin.dnf5.
var Dnf5 = dnfModule("ansible.builtin.dnf5", "Manages packages with the dnf5 package manager", "dnf5")
