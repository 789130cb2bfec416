package modules

import (
	"fmt"
	"reflect"
)

// fill sets the fields of an argument struct from checked parameters.
func fill(params []Param, args map[string]any, into reflect.Value) error {
	for i := range params {
		p := &params[i]
		field := into.FieldByIndex(p.index)
		if p.Name == "*" {
			field.Set(reflect.ValueOf(extras(params, args)))
			continue
		}
		if err := set(field, args[p.Name], p); err != nil {
			return fmt.Errorf("internal error: argument %s: %w", p.Name, err)
		}
	}
	return nil
}

// extras are the arguments that have no field.
func extras(params []Param, args map[string]any) map[string]any {
	rest := make(map[string]any, len(args))
	for k, v := range args {
		rest[k] = v
	}
	for _, p := range params {
		delete(rest, p.Name)
		for _, alias := range p.Aliases {
			delete(rest, alias)
		}
	}
	return rest
}

func set(field reflect.Value, v any, p *Param) error {
	if v == nil {
		field.SetZero()
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
		m, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("%T is no mapping", v)
		}
		return fill(p.Options, m, field)
	}
	val := reflect.ValueOf(v)
	if field.Kind() != reflect.Interface && field.Kind() != val.Kind() && !(val.CanInt() && (field.CanInt() || field.CanUint())) {
		return fmt.Errorf("%T does not fit %s", v, field.Type())
	}
	field.Set(val.Convert(field.Type()))
	return nil
}

func setSlice(field reflect.Value, v any, p *Param) error {
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("%T is no list", v)
	}
	out := reflect.MakeSlice(field.Type(), len(list), len(list))
	for i, item := range list {
		if err := set(out.Index(i), item, p); err != nil {
			return err
		}
	}
	field.Set(out)
	return nil
}

func setMap(field reflect.Value, v any) error {
	m, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%T is no mapping", v)
	}
	if field.Type().Elem().Kind() == reflect.Interface {
		field.Set(reflect.ValueOf(m))
		return nil
	}
	out := make(map[string]string, len(m))
	for k, x := range m {
		out[k] = Str(x)
	}
	field.Set(reflect.ValueOf(out))
	return nil
}
