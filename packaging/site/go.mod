// The generator of the documentation's site, in a module of its own: nothing of it is linked into hark.
module hark/packaging/site

go 1.26.0

require github.com/yuin/goldmark v1.8.6
