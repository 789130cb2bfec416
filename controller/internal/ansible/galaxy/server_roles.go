package galaxy

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"hark/modules/py/value"
)

// roleServer returns the first server that knows roles, the first of all if none says so.
func (c *Client) roleServer(ctx context.Context) *Server {
	for _, s := range c.Servers {
		if _, _, err := s.api(ctx, "available_api_versions", "v1"); err == nil {
			return s
		}
	}
	return c.Servers[0]
}

// role returns what the server knows of a role, nil if it has none of the name.
func (s *Server) role(ctx context.Context, name string, notify bool) (value.Value, error) {
	name = strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
	cut := max(strings.LastIndex(name, "."), 0)
	user, short := name[:cut], strings.TrimPrefix(name[cut:], ".")
	_, path, err := s.api(ctx, "lookup_role_by_name", "v1")
	if err != nil {
		return nil, err
	}
	if notify {
		s.screen.Say(fmt.Sprintf("- downloading role '%s', owned by %s", short, user))
	}
	v, err := s.get(ctx, urlJoin(s.url, path, "roles", "?owner__username="+user+"&name="+short), "", "", false)
	if err != nil {
		return nil, err
	}
	if list := items(value.Under(v, "results")); len(list) > 0 {
		return list[0], nil
	}
	return nil, nil
}

// roleVersions returns the versions of a role, as the server lists them. A list that breaks off is told and is no
// failure.
func (s *Server) roleVersions(ctx context.Context, id string) []value.Value {
	var all []value.Value
	_, path, err := s.api(ctx, "fetch_role_related", "v1")
	at := urlJoin(s.url, path, "roles", id, "versions", "?page_size=50")
	for err == nil && at != "" {
		var v value.Value
		if v, err = s.get(ctx, at, "", "", false); err == nil {
			all = append(all, items(value.Under(v, "results"))...)
			at, err = follow(s.url, text(value.Under(v, "next_link")))
		}
	}
	if err != nil {
		s.screen.Warn(fmt.Sprintf("Unable to retrieve role (id=%s) data (versions), but this is not fatal so we continue: %v",
			id, err))
	}
	return all
}

// RoleQuery is what role search looks for.
type RoleQuery struct {
	Words                   []string
	Platforms, Tags, Author string
}

// SearchRoles asks the server for roles: how many match, and the first of them.
func (c *Client) SearchRoles(ctx context.Context, q RoleQuery) (string, bool, error) {
	if len(q.Words) == 0 && q.Platforms == "" && q.Tags == "" && q.Author == "" {
		return "", false, failed("Invalid query. At least one search term, platform, galaxy tag or author must be provided.")
	}
	const page = 1000
	s := c.roleServer(ctx)
	_, path, err := s.api(ctx, "search_roles", "v1")
	if err != nil {
		return "", false, err
	}
	at := urlJoin(s.url, path, "search", "roles", "?")
	add := func(key, words string) {
		if words != "" {
			at += "&" + key + "=" + words
		}
	}
	add("autocomplete", url.QueryEscape(strings.Join(q.Words, "+")))
	add("tags_autocomplete", strings.ReplaceAll(q.Tags, ",", "+"))
	add("platforms_autocomplete", strings.ReplaceAll(q.Platforms, ",", "+"))
	add("page_size", fmt.Sprint(page))
	add("username_autocomplete", q.Author)
	v, err := s.get(ctx, at, "", "", false)
	if err != nil {
		return "", false, err
	}
	count, _ := value.Under(v, "count").(value.Int)
	if count == 0 {
		return "No roles match your search.", false, nil
	}
	lines := []string{"", fmt.Sprintf("Found %d roles matching your search:", count), ""}
	if count > page {
		lines[1] = fmt.Sprintf("Found %d roles matching your search. Showing first %d.", count, page)
	}
	width := 0
	for _, r := range items(value.Under(v, "results")) {
		width = max(width, len([]rune(text(value.Under(r, "username"))+"."+text(value.Under(r, "name")))))
	}
	row := func(name, about string) { lines = append(lines, fmt.Sprintf(" %-*s %s", width, name, about)) }
	row("Name", "Description")
	row("----", "-----------")
	for _, r := range items(value.Under(v, "results")) {
		row(text(value.Under(r, "username"))+"."+text(value.Under(r, "name")), text(value.Under(r, "description")))
	}
	return strings.Join(lines, "\n"), true, nil
}
