package filters

import (
	"math/big"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/pyrandom"
)

// ansibleRandom are Ansible's filters that draw lots.
func ansibleRandom() map[string]jinja.Filter {
	return map[string]jinja.Filter{"random": randomFilter, "shuffle": shuffle}
}

func seeded(seed value.Value) (*pyrandom.Random, error) {
	if value.IsNone(seed) {
		return pyrandom.New(), nil
	}
	return pyrandom.Seeded(seed)
}

func randomFilter(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("rand", value.Opt("start", none), value.Opt("step", none), value.Opt("seed", none))
	if err != nil {
		return nil, err
	}
	r, err := seeded(a[2])
	if err != nil {
		return nil, err
	}
	if n := value.AsBig(in); n != nil {
		return inRange(r, n, a[0], a[1])
	}
	if u, undefined := in.(*value.Undefined); undefined {
		return nil, u.Use()
	}
	items, err := value.Elements(in)
	if err != nil {
		return nil, value.FilterErrorf("random can only be used on sequences and integers")
	}
	if !value.IsNone(a[0]) || !value.IsNone(a[1]) {
		return nil, value.FilterErrorf("start and step can only be used with integer values")
	}
	if len(items) == 0 {
		return nil, value.Errorf("IndexError", "Cannot choose from an empty sequence")
	}
	return items[r.Below(len(items))], nil
}

// inRange is randrange(start, end, step); a start or step that counts as nothing is the usual one.
func inRange(r *pyrandom.Random, end *big.Int, start, step value.Value) (value.Value, error) {
	from, by := big.NewInt(0), big.NewInt(1)
	if n := value.AsBig(start); n != nil {
		from = n
	}
	if n := value.AsBig(step); n != nil && n.Sign() != 0 {
		by = n
	}
	width := new(big.Int).Sub(end, from)
	count := new(big.Int).Add(width, by)
	count.Sub(count, big.NewInt(int64(by.Sign())))
	count.Quo(count, by)
	if count.Sign() <= 0 {
		if by.IsInt64() && by.Int64() == 1 {
			return nil, value.ValueErrorf("empty range for randrange() (%d, %d, %d)", from, end, width)
		}
		return nil, value.ValueErrorf("empty range in randrange(%d, %d, %d)", from, end, by)
	}
	out := r.BelowBig(count)
	return value.NewInt(out.Mul(out, by).Add(out, from)), nil
}

func shuffle(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("randomize_list", value.Opt("seed", none))
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(in)
	if err != nil {
		return in, nil // as Ansible: what cannot be shuffled comes back as it is
	}
	r, err := seeded(a[0])
	if err != nil {
		return nil, err
	}
	out := append([]value.Value{}, items...)
	for i := len(out) - 1; i > 0; i-- {
		j := r.Below(i + 1)
		out[i], out[j] = out[j], out[i]
	}
	return list(out), nil
}
