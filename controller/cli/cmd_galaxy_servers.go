package cli

import (
	"strconv"
	"strings"
	"time"

	"hark/controller/config"
	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ansible/galaxy"
)

// configured returns a server of server_list, as its section of ansible.cfg and the environment describe it.
func (j *galaxyJob) configured(name string) (galaxy.ServerOptions, error) {
	get := func(key string) string {
		v, _ := j.cfg.Entry("galaxy_server."+name, key,
			"ANSIBLE_GALAXY_SERVER_"+strings.ToUpper(name)+"_"+strings.ToUpper(key))
		return v
	}
	o := j.serverOptions(name, get("url"))
	if o.URL == "" {
		return o, ansibleerror.Errorf(
			"No setting was provided for required configuration plugin_type: galaxy_server plugin: %s setting: url ", name)
	}
	if text := get("timeout"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return o, ansibleerror.Errorf(
				"Invalid type for configuration option plugin_type: galaxy_server plugin: %s setting: timeout : %v", name, err)
		}
		o.Timeout = time.Duration(n) * time.Second
	}
	if text := get("validate_certs"); text != "" {
		o.Insecure = !config.Truth(text)
	}
	o.V3 = config.Truth(get("v3"))
	switch user, token := get("username"), get("token"); {
	case user != "":
		o.Auth = galaxy.Basic{User: user, Password: get("password")}
	case get("auth_url") != "" && token != "":
		o.Auth = &galaxy.Keycloak{Offline: token, URL: get("auth_url"), ClientID: get("client_id"), Insecure: o.Insecure}
	default:
		o.Auth = galaxy.Token{Text: token, None: true}
	}
	return o, nil
}
