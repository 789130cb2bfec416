package wire

import "encoding/json"

// Disconnected reads a message on DisconnectSubject: the public key of the client that the broker has lost, "" if it
// does not tell.
func Disconnected(data []byte) string {
	var advisory struct {
		Client struct {
			User string `json:"user"`
		} `json:"client"`
	}
	if json.Unmarshal(data, &advisory) != nil || !ValidKey(advisory.Client.User) {
		return ""
	}
	return advisory.Client.User
}
