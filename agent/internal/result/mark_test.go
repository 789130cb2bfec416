package result

import (
	"testing"

	"hark/modules/py/value"
)

func TestMarks(t *testing.T) {
	res := value.NewDict()
	if NoLog.On(res) || NoLog.Of(res) != nil || IgnoredItem.Take(res) {
		t.Errorf("a result without marks has some: %s", value.Printed(res))
	}
	NoLog.Set(res, value.Bool(false))
	IgnoredItem.Set(res, value.Str("yes"))
	if NoLog.On(res) || NoLog.Of(res) != value.Bool(false) {
		t.Error("a mark that is false holds")
	}
	if !IgnoredItem.Take(res) || IgnoredItem.Of(res) != nil {
		t.Error("what was taken is there")
	}
	if got := value.Printed(res); got != "{'_ansible_no_log': False}" {
		t.Errorf("the result is %s", got)
	}
}
