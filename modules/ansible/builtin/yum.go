package builtin

// Yum is ansible.builtin.yum.
var Yum = dnfModule("ansible.builtin.yum", "Manages packages with the yum package manager", "dnf", "dnf5", "yum")
