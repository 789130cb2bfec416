package nss

import (
	"context"
	"net"
	"os/user"
	"strconv"
)

// On macOS the standard library asks the system itself.

// UserNamed returns the user of a name.
func UserNamed(name string) (*User, error) { return ours(user.Lookup(name)) }

// UserOf returns the user of an id.
func UserOf(uid int) (*User, error) { return ours(user.LookupId(strconv.Itoa(uid))) }

// GroupNamed returns the group of a name.
func GroupNamed(name string) (*Group, error) { return ourGroup(user.LookupGroup(name)) }

// GroupOf returns the group of an id.
func GroupOf(gid int) (*Group, error) { return ourGroup(user.LookupGroupId(strconv.Itoa(gid))) }

// Groups returns the ids of all groups of the user; the first is the user's own.
func (u *User) Groups() ([]int, error) {
	all, err := (&user.User{Username: u.Name, Uid: strconv.Itoa(u.UID), Gid: strconv.Itoa(u.GID)}).GroupIds()
	ids := []int{u.GID}
	for _, text := range all {
		if gid, ok := number(text); ok && gid != u.GID {
			ids = append(ids, gid)
		}
	}
	return ids, err
}

// Forget does nothing: nothing is remembered.
func Forget() {}

// HostAddresses returns the addresses of a host.
func HostAddresses(ctx context.Context, host string) ([]string, error) {
	return net.DefaultResolver.LookupHost(ctx, host)
}

// AddressNames returns the names of an address.
func AddressNames(ctx context.Context, address string) ([]string, error) {
	return net.DefaultResolver.LookupAddr(ctx, address)
}

func ours(u *user.User, err error) (*User, error) {
	if err != nil {
		return nil, ErrUnknown
	}
	uid, _ := number(u.Uid)
	gid, _ := number(u.Gid)
	return &User{Name: u.Username, UID: uid, GID: gid, Gecos: u.Name, Home: u.HomeDir}, nil
}

func ourGroup(g *user.Group, err error) (*Group, error) {
	if err != nil {
		return nil, ErrUnknown
	}
	gid, _ := number(g.Gid)
	return &Group{Name: g.Name, GID: gid}, nil
}
