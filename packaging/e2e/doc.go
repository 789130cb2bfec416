// Without this file, which has no tag, the package would be none for go vet.

package e2e
