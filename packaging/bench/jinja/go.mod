module hark/packaging/bench/jinja

go 1.26.0

require hark v0.0.0

require (
	github.com/dlclark/regexp2 v1.12.0 // indirect
	github.com/mitsuhiko/minijinja/minijinja-go/v2 v2.24.0
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace hark => ../../..
