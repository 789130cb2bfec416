// Package general holds the filters of the collection community.general that projects lean on.
package general

import (
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// Filters returns the filters by short name.
func Filters() map[string]jinja.Filter {
	all := map[string]jinja.Filter{
		"counter":                    counter,
		"crc32":                      crc,
		"dict":                       dict,
		"dict_kv":                    dictKV,
		"from_csv":                   fromCSV,
		"from_ini":                   fromINI,
		"to_ini":                     toINI,
		"groupby_as_dict":            groupByAsDict,
		"json_query":                 jsonQuery,
		"keep_keys":                  keepKeys,
		"remove_keys":                removeKeys,
		"replace_keys":               replaceKeys,
		"lists_mergeby":              listsMergeBy,
		"lists_union":                listsUnion,
		"lists_intersect":            listsIntersect,
		"lists_difference":           listsDifference,
		"lists_symmetric_difference": listsSymmetricDifference,
		"random_mac":                 randomMAC,
		"unicode_normalize":          unicodeNormalize,
		"version_sort":               versionSort,
		"to_time_unit":               toTimeUnit,
	}
	for name, unit := range map[string]string{"to_milliseconds": "ms", "to_seconds": "s", "to_minutes": "m",
		"to_hours": "h",
		"to_days":  "d", "to_weeks": "w", "to_months": "mo", "to_years": "y"} {
		all[name] = timeIn(name, unit)
	}
	return all
}

var none = value.None{}

func text(s string) value.Value { return value.Str(s) }

// sequence returns the elements of text, a list or a tuple; false for everything else.
func sequence(v value.Value) ([]value.Value, bool) {
	_, isList := v.(*value.List)
	_, isTuple := v.(*value.Tuple)
	_, isText := value.Text(v)
	if !isList && !isTuple && !isText {
		return nil, false
	}
	items, err := value.Elements(v)
	return items, err == nil
}
