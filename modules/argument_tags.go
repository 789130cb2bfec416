package modules

import (
	"fmt"
	"reflect"

	"hark/modules/py/value"
)

// fill sets the fields of an argument struct from checked parameters.
func fill(params []Param, args *value.Dict, into reflect.Value) error {
	for i := range params {
		p := &params[i]
		field := into.FieldByIndex(p.index)
		if p.Name == "*" {
			field.Set(reflect.ValueOf(extras(params, args)))
			continue
		}
		if err := set(field, Argument(args, p.Name), p); err != nil {
			return fmt.Errorf("internal error: argument %s: %w", p.Name, err)
		}
	}
	return nil
}

// extras returns the arguments that have no field, in their order.
func extras(params []Param, args *value.Dict) *value.Dict {
	rest := args.Copy()
	for _, p := range params {
		rest.Delete(value.Str(p.Name))
		for _, alias := range p.Aliases {
			rest.Delete(value.Str(alias))
		}
	}
	return rest
}

var (
	anyValue = reflect.TypeFor[value.Value]()
	anyDict  = reflect.TypeFor[*value.Dict]()
)

func set(field reflect.Value, v value.Value, p *Param) error {
	switch {
	case value.IsNone(v):
		field.SetZero()
		return nil
	case field.Type() == anyValue:
		field.Set(reflect.ValueOf(v))
		return nil
	case field.Type() == anyDict:
		d, ok := v.(*value.Dict)
		if !ok {
			return misfit(v, field)
		}
		field.Set(reflect.ValueOf(d))
		return nil
	}
	switch field.Kind() {
	case reflect.Pointer:
		elem := reflect.New(field.Type().Elem())
		if err := set(elem.Elem(), v, p); err != nil {
			return err
		}
		field.Set(elem)
		return nil
	case reflect.Slice:
		return setSlice(field, v, p)
	case reflect.Map:
		return setMap(field, v)
	case reflect.Struct:
		d, ok := v.(*value.Dict)
		if !ok {
			return misfit(v, field)
		}
		return fill(p.Options, d, field)
	}
	return setScalar(field, v)
}

func setScalar(field reflect.Value, v value.Value) error {
	text, isText := value.Text(v)
	number, isInt := v.(value.Int)
	switch kind := field.Kind(); {
	case kind == reflect.String && isText:
		field.SetString(text)
	case kind == reflect.Bool && v.Type() == "bool":
		field.SetBool(bool(v.(value.Bool)))
	case field.CanInt() && isInt:
		field.SetInt(int64(number))
	case field.CanUint() && isInt:
		field.SetUint(uint64(number))
	case field.CanFloat() && v.Type() == "float":
		field.SetFloat(float64(v.(value.Float)))
	default:
		return misfit(v, field)
	}
	return nil
}

func misfit(v value.Value, field reflect.Value) error {
	return fmt.Errorf("a value of type %s does not fit %s", v.Type(), field.Type())
}

func setSlice(field reflect.Value, v value.Value, p *Param) error {
	list, ok := v.(*value.List)
	if !ok {
		return misfit(v, field)
	}
	out := reflect.MakeSlice(field.Type(), len(list.Items), len(list.Items))
	for i, item := range list.Items {
		if err := set(out.Index(i), item, p); err != nil {
			return err
		}
	}
	field.Set(out)
	return nil
}

// setMap fills a map[string]string.
func setMap(field reflect.Value, v value.Value) error {
	d, ok := v.(*value.Dict)
	if !ok {
		return misfit(v, field)
	}
	out := make(map[string]string, d.Len())
	for i := range d.Len() {
		k, x := d.At(i)
		out[Str(k)] = Str(x)
	}
	field.Set(reflect.ValueOf(out))
	return nil
}
