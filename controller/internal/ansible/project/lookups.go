package project

import (
	"slices"
	"strings"

	"hark/controller/internal/play/answer"
	"hark/modules"
	"hark/playbook/jinja/templar"
)

// collectionLookups returns the lookups of collections that Ansible finds by their short names: a playbook may name
// them in a task that is skipped, but they are not here.
func collectionLookups() []string {
	return strings.Fields("avi aws_account_attribute aws_secret aws_service_ip_ranges aws_ssm chef_databag " +
		"conjur_variable consul_kv cpm_metering cpm_status credstash cyberarkpassword dig dnstxt etcd filetree " +
		"gcp_storage_file grafana_dashboard hashi_vault hiera k8s keyring laps_password lastpass lmdb_kv manifold mongodb " +
		"nios nios_next_ip nios_next_network onepassword onepassword_raw openshift passwordstore rabbitmq redis shelvefile " +
		"skydive")
}

// isLookup returns which names may follow with_.
func isLookup() func(name string) bool {
	known := map[string]bool{"template": true}
	for name := range templar.Lookups() {
		known[name] = true
	}
	for _, name := range slices.Concat(answer.LookupNames(), collectionLookups()) {
		known[name] = true
	}
	return func(name string) bool {
		short := modules.ShortName(name)
		return strings.Contains(short, ".") || known[short]
	}
}
