package drive

import (
	"bytes"
	"slices"

	"github.com/holdfast-aws/holdfast/shared/guard"
)

// policies remember what guard.Resolve made of which layers, as it always makes the same of the same ones.
type policies struct{ known []laid }

type laid struct {
	layers []guard.Layer
	sw     guard.Switch
	res    guard.Resolution
}

func (p *policies) resolve(layers []guard.Layer, sw guard.Switch) guard.Resolution {
	for i := range p.known {
		if k := &p.known[i]; k.sw == sw && slices.EqualFunc(k.layers, layers, sameLayer) {
			return k.res
		}
	}
	res := guard.Resolve(layers, sw)
	p.known = append(p.known, laid{slices.Clone(layers), sw, res})
	return res
}

func sameLayer(a, b guard.Layer) bool {
	return a.Name == b.Name && a.ReadError == b.ReadError && bytes.Equal(a.Raw, b.Raw) && bytes.Equal(a.LastGood, b.LastGood)
}
