package general

import (
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

// resize gives a volume that is there its size. ended is the result where nothing is left to do.
func (v *volume) resize() (changed bool, ended *modules.Result, err error) {
	if v.size.number == "" {
		return false, nil, nil
	}
	choose := v.byNumber
	if v.size.option == "-l" {
		choose = v.byPercent
	}
	program, err := choose()
	if err != nil || program == "" {
		return false, nil, err
	}
	var words []string
	if program == "lvreduce" {
		words = append(words, "--force")
	}
	if v.args.ResizeFS {
		words = append(words, "--resizefs")
	}
	words = append(append(words, v.test()...), v.size.option, v.size.sign+v.size.number+v.size.unit, v.args.VG+"/"+v.this.name)
	out, err := v.Run(program, append(words, v.devices()...)...)
	if err != nil {
		return false, nil, err
	}
	return v.resized(out)
}

// resized reads what came of it.
func (v *volume) resized(out tool.Output) (changed bool, ended *modules.Result, err error) {
	unable := func(data *value.Dict) error {
		return tool.Fail(data, "Unable to resize %s to %s%s", orPython(v.args.LV), v.size.number, v.size.unit)
	}
	res := modules.Result{Data: v.data()}
	switch {
	case strings.Contains(out.Stdout, "Reached maximum COW size"):
		return false, nil, unable(value.DictOf("rc", int64(out.Rc), "err", out.Stderr, "out", out.Stdout))
	case out.Rc == 0:
		return true, nil, nil
	case strings.Contains(out.Stderr, "matches existing size"):
		return false, &res, nil
	case strings.Contains(out.Stderr, "not larger than existing size"):
		res.Msg = "Original size is larger than requested size"
		res.Set("err", out.Stderr)
		return false, &res, nil
	}
	return false, nil, unable(value.DictOf("rc", int64(out.Rc), "err", out.Stderr))
}

// byNumber is the program that brings the volume to a size, or changes it by that.
func (v *volume) byNumber() (string, error) {
	size := floatOf(v.size.number)
	switch {
	case size > v.this.size || v.size.sign == "+":
		return "lvextend", nil
	case !(v.args.Shrink && size < v.this.size) && v.size.sign != "-":
		return "", nil
	case size == 0:
		return "", tool.Fail(nil, "Sorry, no shrinking of %s to 0 permitted.", v.this.name)
	case !v.args.Force:
		return "", tool.Fail(nil, "Sorry, no shrinking of %s without force=true.", v.this.name)
	}
	return "lvreduce", nil
}

// byPercent is byNumber for percentages, which are compared in whole extents.
func (v *volume) byPercent() (string, error) {
	wanted, unit := v.wanted(), v.size.shownUnit()
	switch more := wanted - v.this.size; {
	case more > 0 && v.vg.free > 0 && v.vg.free >= more:
		return "lvextend", nil
	case more > 0:
		return "", tool.Fail(nil, "Logical Volume %s could not be extended. Not enough free space left (%s%s required / %s%s available)",
			v.this.name, modules.Str(more), unit, modules.Str(v.vg.free), unit)
	case !v.args.Shrink || v.this.size <= wanted+v.vg.extent:
		return "", nil
	case wanted < 1:
		return "", tool.Fail(nil, "Sorry, no shrinking of %s to 0 permitted.", v.this.name)
	case !v.args.Force:
		return "", tool.Fail(nil, "Sorry, no shrinking of %s without force=true", v.this.name)
	}
	return "lvreduce", nil
}
