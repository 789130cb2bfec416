package connections

import (
	"fmt"
	"strconv"
	"strings"

	"hark/controller/config"
	"hark/modules/dialect"
	"hark/modules/py/shlex"
)

// Variables reads the variables that say how one host is reached. The first that makes no sense is kept in Err.
type Variables struct {
	// Find gives a variable, rendered; false if it is not set.
	Find func(name string) (text string, ok bool, err error)
	Err  error
}

// Of reads variables from a map.
func Of(way map[string]string) *Variables {
	return &Variables{Find: func(name string) (string, bool, error) { text, ok := way[name]; return text, ok, nil }}
}

// Text returns the first of some variables that is set.
func (v *Variables) Text(or string, names ...string) string {
	for _, name := range names {
		text, ok, err := v.Find(name)
		if err != nil {
			v.Fail(fmt.Errorf("cannot render %s: %w", name, err))
			return ""
		}
		if ok {
			return text
		}
	}
	return or
}

// Number returns the same of a variable that holds a number.
func (v *Variables) Number(or int, names ...string) int {
	text := v.Text("", names...)
	if text == "" {
		return or
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		v.Fail(fmt.Errorf("%s is %q, which is not a number", names[len(names)-1], text))
	}
	return n
}

// Truth is a variable that says yes or no.
func (v *Variables) Truth(or bool, names ...string) bool {
	if text := v.Text("", names...); text != "" {
		return config.Truth(text)
	}
	return or
}

// Words returns the arguments that some texts hold.
func (v *Variables) Words(texts ...string) []string {
	var all []string
	for _, text := range texts {
		words, err := shlex.Split(text)
		if err != nil {
			v.Fail(fmt.Errorf("cannot split %q into words: %w", text, err))
		}
		all = append(all, words...)
	}
	return all
}

// Fail notes an error, unless there was one before.
func (v *Variables) Fail(err error) {
	if v.Err == nil {
		v.Err = err
	}
}

// VariableNames returns the variables of hosts that connections, become and shells look at, or connection plug-ins of
// Ansible that hark runs.
func VariableNames() []string {
	return append(strings.Fields(`
		ansible_connection ansible_host ansible_port ansible_user ansible_password ansible_private_key_file
		ansible_timeout ansible_pipelining ansible_host_key_checking ansible_control_path ansible_control_path_dir
		ansible_ssh_args ansible_ssh_common_args ansible_ssh_extra_args ansible_ssh_executable ansible_ssh_host
		ansible_ssh_host_key_checking ansible_ssh_pass ansible_ssh_password ansible_ssh_pipelining ansible_ssh_port
		ansible_ssh_private_key_file ansible_ssh_retries ansible_ssh_timeout ansible_ssh_transfer_method
		ansible_ssh_use_tty ansible_ssh_user ansible_ssh_shell_type ansible_scp_executable ansible_scp_extra_args
		ansible_scp_if_ssh ansible_sftp_batch_mode ansible_sftp_executable ansible_sftp_extra_args ansible_sshpass_prompt
		ansible_shell_type ansible_shell_executable ansible_shell_allow_world_readable_temp ansible_python_interpreter
		ansible_remote_tmp ansible_async_dir ansible_system_tmpdirs ansible_network_os ansible_docker_host
		ansible_docker_user ansible_docker_extra_args ansible_podman_host ansible_podman_executable
		ansible_podman_extra_args ansible_lxd_host ansible_lxd_project ansible_lxd_remote ansible_chroot_exe
		ansible_winrm_transport ansible_winrm_scheme ansible_winrm_server_cert_validation ansible_psrp_auth
		ansible_psrp_cert_validation ansible_httpapi_use_ssl ansible_httpapi_validate_certs
		ansible_persistent_command_timeout ansible_persistent_connect_timeout ansible_facts ansible_local ansible_managed
		ansible_check_mode ansible_diff_mode ansible_version ansible_run_tags ansible_skip_tags ansible_limit
		ansible_verbosity`), dialect.AllBecomeVariables()...)
}
