package wire

// AskPlugin runs a filter or test that is written in Python, or that looks at files, which are the controller's: Dir is its kind, Name
// its name, Args the value that it is applied to and its arguments, Kw those with names. Answer.Result is what it gives, as
// value.Encode writes it.
const AskPlugin AskKind = "plugin"

// UnknownPlugin is the ErrKind of a filter or test that the project does not have.
const UnknownPlugin = "unknown_plugin"
