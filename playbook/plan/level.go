package plan

import "hark/modules/dialect"

// Level is the language level of a plan.
type Level = dialect.Level

// The levels.
const (
	Level214 = dialect.Level214
	Level219 = dialect.Level219
	Level220 = dialect.Level220
	Level221 = dialect.Level221
	Level222 = dialect.Level222
)

// Levels returns all levels, oldest first.
func Levels() []Level { return dialect.Levels() }

// VersionOf returns the version of the plan format that a level needs: agents that know no levels, or none above 2.19,
// would treat a later one as 2.14. Agents of today ask Known.
func VersionOf(l Level) int {
	switch l {
	case Level214:
		return Version - 2
	case Level219:
		return Version - 1
	}
	return Version
}
