// Package dialect holds Ansible's language as data: the rows that say what Ansible knows by name, and in which
// release. Code asks the rows and repeats none of their names, so that what a new release of ansible-core brings is a
// set of rows.
//
// The package does nothing by itself. Controllers and agents may import it.
package dialect
