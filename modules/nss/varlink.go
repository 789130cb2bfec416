//go:build !darwin

package nss

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"time"
)

// Where systemd answers.
const (
	userdbSocket   = "/run/systemd/userdb/io.systemd.Multiplexer"
	resolvedSocket = "/run/systemd/resolve/io.systemd.Resolve"
)

// varlinkError is the name of an error that a service answered with.
type varlinkError string

func (e varlinkError) Error() string { return string(e) }

// varlink calls a method of a service and reads its answer.
func varlink(ctx context.Context, socket, method string, parameters, answer any) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	until, ok := ctx.Deadline()
	if !ok {
		until = time.Now().Add(patience)
	}
	text, err := json.Marshal(map[string]any{"method": method, "parameters": parameters})
	if err == nil {
		err = conn.SetDeadline(until)
	}
	if err == nil {
		_, err = conn.Write(append(text, 0))
	}
	if err != nil {
		return err
	}
	said, err := bufio.NewReader(conn).ReadBytes(0)
	if err != nil {
		return err
	}
	var reply struct {
		Error      string          `json:"error"`
		Parameters json.RawMessage `json:"parameters"`
	}
	if err := json.Unmarshal(said[:len(said)-1], &reply); err != nil {
		return err
	}
	if reply.Error != "" {
		return varlinkError(reply.Error)
	}
	return json.Unmarshal(reply.Parameters, answer)
}

// asksUserdb reports whether systemd answers for a database itself.
func (s *system) asksUserdb(database string, all bool) bool {
	if !s.asks(database, all) || !slices.Contains(s.services(database), "systemd") {
		return false
	}
	_, err := os.Stat(s.root + userdbSocket)
	return err == nil
}

// errIncomplete is a record that leaves to its reader what is usual: libc knows that.
var errIncomplete = errors.New("the record is not complete")

func (s *system) record(method string, key map[string]any, record any) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	key["service"] = "io.systemd.Multiplexer"
	answer := struct {
		Record any `json:"record"`
	}{record}
	return varlink(ctx, s.root+userdbSocket, "io.systemd.UserDatabase."+method, key, &answer)
}

func (s *system) userRecord(key map[string]any) (*User, error) {
	var r struct {
		UserName      string `json:"userName"`
		UID           *int   `json:"uid"`
		GID           *int   `json:"gid"`
		RealName      string `json:"realName"`
		HomeDirectory string `json:"homeDirectory"`
		Shell         string `json:"shell"`
	}
	if err := s.record("GetUserRecord", key, &r); err != nil {
		return nil, err
	}
	if r.UID == nil || r.GID == nil || r.HomeDirectory == "" || r.Shell == "" {
		return nil, errIncomplete
	}
	return &User{Name: r.UserName, UID: *r.UID, GID: *r.GID, Gecos: r.RealName, Home: r.HomeDirectory, Shell: r.Shell}, nil
}

func (s *system) groupRecord(key map[string]any) (*Group, error) {
	var r struct {
		GroupName string   `json:"groupName"`
		GID       *int     `json:"gid"`
		Members   []string `json:"members"`
	}
	if err := s.record("GetGroupRecord", key, &r); err != nil {
		return nil, err
	}
	if r.GID == nil {
		return nil, errIncomplete
	}
	return &Group{Name: r.GroupName, GID: *r.GID, Members: r.Members}, nil
}

// Families of addresses on the wire.
const (
	inet4 = 2
	inet6 = 10
)

// resolveHost asks resolved for the addresses of a host.
func (s *system) resolveHost(ctx context.Context, name string) ([]string, error) {
	var r struct {
		Addresses []struct {
			Family  int   `json:"family"`
			Address []int `json:"address"`
			Index   int   `json:"ifindex"`
		} `json:"addresses"`
	}
	if err := varlink(ctx, s.root+resolvedSocket, "io.systemd.Resolve.ResolveHostname", map[string]any{"name": name},
		&r); err != nil {
		return nil, err
	}
	var out []string
	for _, a := range r.Addresses {
		ip := make(net.IP, len(a.Address))
		for i, b := range a.Address {
			ip[i] = byte(b)
		}
		text := ip.String()
		if a.Family == inet6 && ip.IsLinkLocalUnicast() {
			if at, err := net.InterfaceByIndex(a.Index); err == nil {
				text += "%" + at.Name
			}
		}
		out = append(out, text)
	}
	return out, nil
}

// resolveAddress asks resolved for the names of an address.
func (s *system) resolveAddress(ctx context.Context, ip net.IP) ([]string, error) {
	family, raw := inet6, ip.To16()
	if four := ip.To4(); four != nil {
		family, raw = inet4, four
	}
	numbers := make([]int, len(raw))
	for i, b := range raw {
		numbers[i] = int(b)
	}
	var r struct {
		Names []struct {
			Name string `json:"name"`
		} `json:"names"`
	}
	err := varlink(ctx, s.root+resolvedSocket, "io.systemd.Resolve.ResolveAddress",
		map[string]any{"family": family, "address": numbers}, &r)
	var out []string
	for _, n := range r.Names {
		out = append(out, strings.TrimSuffix(n.Name, "."))
	}
	return out, err
}

// asksResolved reports whether resolved answers for hosts.
func (s *system) asksResolved() bool {
	if !slices.Contains(s.services("hosts"), "resolve") {
		return false
	}
	_, err := os.Stat(s.root + resolvedSocket)
	return err == nil
}
