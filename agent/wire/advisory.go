package wire

import "encoding/json"

// Client is what the broker says of a client that has come or gone.
type Client struct {
	// Key is its public key, Token its token, and Issuer the public key of who has signed that.
	Key    string `json:"user"`
	Token  string `json:"jwt"`
	Issuer string `json:"issuer_key"`
}

// Connected reads a message on ConnectSubject or DisconnectSubject. The zero Client says that it does not tell.
func Connected(data []byte) Client {
	var advisory struct {
		Client Client `json:"client"`
	}
	if json.Unmarshal(data, &advisory) != nil || !ValidKey(advisory.Client.Key) {
		return Client{}
	}
	return advisory.Client
}

// Disconnected reads a message on DisconnectSubject: the public key of the client that the broker has lost, "" if it
// does not tell.
func Disconnected(data []byte) string { return Connected(data).Key }
