# hark. Two targets do everything on a machine that has Go: `make demo` and `make test`.

GO      ?= go
VERSION := $(shell VERSION='$(VERSION)' packaging/release/version)
LDFLAGS := -s -w -X hark/agent/version.build=$(VERSION)
NAMES   := ansible-playbook ansible ansible-inventory ansible-vault ansible-config ansible-doc ansible-pull ansible-galaxy ansible-console

# ROOMS are the packages that a controller on macOS is made of, with their tests.
ROOMS   := ./modules/... ./playbook/... ./agent/... ./controller/...

.PHONY: build darwin links demo picture test race lint site acceptance model content hostile traced console pictures fleet chaos packages release bench conformance clean

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/hark ./controller/hark
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/hark-agent ./agent/hark-agent

# darwin makes a controller for Macs.
darwin:
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/hark-darwin-arm64 ./controller/hark

# links makes hark answer to the names that scripts and CI jobs already call.
links: build
	mkdir -p bin/links
	for name in $(NAMES); do ln -sf ../hark bin/links/$$name; done

demo: build
	packaging/demo/run

# picture makes the moving picture of the README: what the demo prints, when it prints it.
picture: build
	GO='$(GO)' packaging/demo/run picture docs/run.svg

test:
	GO='$(GO)' packaging/check/test

# race is the same with the race detector, which needs a C compiler.
race:
	GO='$(GO)' packaging/check/test -race

lint:
	test -z "$$(gofmt -l agent controller modules packaging playbook)"
	$(GO) vet ./...
	$(GO) vet -tags content ./packaging/content
	GOOS=darwin GOARCH=arm64 $(GO) vet $(ROOMS)

# site makes pages of the documentation that a browser reads from the disk or any web server, and tries them.
site:
	cd packaging/site && $(GO) vet ./... && $(GO) test ./... && $(GO) run . -o ../../bin/site

# model checks the model of the session protocol with spin.
model:
	packaging/model/run

acceptance: links
	packaging/e2e/run

# hostile plays those who mean ill: a host that was taken over, the broker, other operators.
hostile: build
	packaging/hostile/run

# traced runs the native modules in check mode under strace.
traced:
	packaging/hostile/traced

# content plays modules and plug-ins in Python beside the Ansible of each of ANSIBLES, virtual environments, or that of the machine.
content: links
	packaging/content/run $(ANSIBLES)

# console looks at the console's pages in a real browser; pictures takes pictures of them into bin/pictures.
console:
	packaging/console/run

pictures:
	packaging/console/run pictures bin/pictures

# fleet tries everything on real hosts that it boots; needs root.
fleet: links
	packaging/fleet/run

# chaos plays on these hosts for HARK_CHAOS (10m) with random faults, and counts on the hosts what was reported. It prints its seed.
chaos: links
	HARK_CHAOS=$(or $(HARK_CHAOS),10m) FLEET_TIME=0 FLEET_TAGS='fleet chaos' packaging/fleet/run -run 'TestChaos$$' | jq -rj 'select(.Action == "output").Output'

packages:
	GO='$(GO)' VERSION=$(VERSION) packaging/release/build bin/packages

# release makes packages, archives, repositories, images and what proves where they come from, into bin/release. HARK_RELEASE_KEY names the key.
release:
	GO='$(GO)' VERSION=$(VERSION) packaging/release/build --release bin/release

# bench measures hark beside its peers and writes docs/benchmarks.md with its chart, if the machine has nothing else to do. It takes half an hour.
bench: links
	packaging/bench/peers/run --page docs/benchmarks.md
	packaging/bench/run

conformance: links
	packaging/conformance/run $(if $(SUITE),--suite $(SUITE)) $(TARGETS)

clean:
	rm -rf bin
