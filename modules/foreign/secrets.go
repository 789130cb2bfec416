package foreign

import (
	"hark/modules/mask"
	"hark/modules/py/value"
	"hark/modules/result"
)

// takeSecrets takes the secrets out of a result that names them. Since ansible-core 2.22 modules no longer take their
// secret arguments out of what they return: they name them beside it, and whoever shows the result hides them.
func takeSecrets(data *value.Dict) (rest *value.Dict, secrets []string) {
	named, _ := data.Get(result.NewSecrets)
	items, _ := value.Items(named)
	for _, item := range items {
		if text, ok := value.Text(item); ok {
			secrets = append(secrets, text)
		}
	}
	data.Delete(value.Str(result.NewSecrets))
	return data, secrets
}

// withoutSecrets returns a result in which they are hidden for good, as modules of before do it.
func withoutSecrets(data *value.Dict, secrets []string) *value.Dict {
	var m mask.Masker
	m.Add(secrets...)
	return m.Value(data).(*value.Dict)
}
