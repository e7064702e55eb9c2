package dynamodb

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"reclaim/engine/value"
	"reclaim/providers/aws/wire"
)

// The params that are written together: an index brings its attributes along, and another billing mode its units.
const (
	indexes  = "GlobalSecondaryIndexes"
	defined  = "AttributeDefinitions"
	mode     = "BillingMode"
	capacity = "ProvisionedThroughput"
	bounded  = "OnDemandThroughput"
	warmed   = "WarmThroughput"
)

// byName are indexes by their name.
func byName(list value.Value) map[string]value.Value {
	out := map[string]value.Value{}
	for _, g := range list.Items() {
		out[wire.Name(g.Get("IndexName"))] = g
	}
	return out
}

// indexesAndCapacity removes indexes, changes what table and indexes can take, and makes indexes: each removal and each
// making is a call, as the service wants it.
func (s *change) indexesAndCapacity() error {
	had, wanted := byName(s.have(indexes)), s.want(indexes).Items()
	if !s.writes(indexes) {
		wanted = s.have(indexes).Items()
	}
	want := byName(value.ListOf(wanted...))
	for _, name := range slices.Sorted(maps.Keys(had)) {
		if _, stays := want[name]; !stays {
			in := types.GlobalSecondaryIndexUpdate{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: &name}}
			s.update("remove index "+name, []string{indexes}, &dynamodb.UpdateTableInput{GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{in}})
		} else if !sameKeys(had[name], want[name]) {
			return rejected("UpdateTable", "the keys or the projection of index %s cannot be changed in place; give the changed index another name", name)
		}
	}
	if err := s.units(had, want); err != nil {
		return err
	}
	if err := s.checkDefinitions(had, want); err != nil {
		return err
	}
	there := s.keyAttributes(had, want)
	for _, g := range wanted {
		if _, stays := had[wire.Name(g.Get("IndexName"))]; !stays {
			addKeys(there, g)
			s.makeIndex(g, there)
		}
	}
	s.bounds(had, want)
	s.warm(had, want)
	if s.writes(indexes) {
		s.indexInsights(wanted, had)
	}
	return nil
}

// sameKeys reports whether two states of an index differ in nothing that makes another index of it.
func sameKeys(a, b value.Value) bool {
	projected := func(v value.Value) (string, []string) {
		names := wire.Strings(v.Get("Projection").Get("NonKeyAttributes"))
		slices.Sort(names)
		return wire.Name(v.Get("Projection").Get("ProjectionType")), slices.Compact(names)
	}
	typeA, namesA := projected(a)
	typeB, namesB := projected(b)
	return value.Equal(a.Get("KeySchema"), b.Get("KeySchema")) && typeA == typeB && slices.Equal(namesA, namesB)
}

// addKeys adds the attributes in the keys of a table or an index.
func addKeys(to map[string]bool, of value.Value) {
	for _, k := range of.Get("KeySchema").Items() {
		to[wire.Name(k.Get("AttributeName"))] = true
	}
}

// keyAttributes are the attributes in keys once the indexes that go are gone.
func (s *change) keyAttributes(had, want map[string]value.Value) map[string]bool {
	used := map[string]bool{}
	addKeys(used, value.OfMap(s.Observed.Params))
	for _, l := range s.have("LocalSecondaryIndexes").Items() {
		addKeys(used, l)
	}
	for name, g := range had {
		if _, stays := want[name]; stays {
			addKeys(used, g)
		}
	}
	return used
}

// checkDefinitions refuses what no call can do: definitions come and go with the keys that use them, and the type of one
// that stays is fixed.
func (s *change) checkDefinitions(had, want map[string]value.Value) error {
	if !s.writes(defined) {
		return nil
	}
	typesOf := func(v value.Value) map[string]string {
		out := map[string]string{}
		for _, d := range v.Items() {
			out[wire.Name(d.Get("AttributeName"))] = wire.Name(d.Get("AttributeType"))
		}
		return out
	}
	is, to := typesOf(s.have(defined)), typesOf(s.want(defined))
	used := s.keyAttributes(had, want)
	for name := range used {
		if to[name] != "" && is[name] != to[name] {
			return rejected("UpdateTable", "the type of %s cannot be changed while a key uses it: for a key of the table another table is needed, for an index another index name and attribute", name)
		}
	}
	for _, g := range want {
		addKeys(used, g)
	}
	var idle []string
	for name := range to {
		if !used[name] {
			idle = append(idle, name)
		}
	}
	if len(idle) > 0 {
		slices.Sort(idle)
		return rejected("UpdateTable", "AttributeDefinitions names %s, which no key uses; take it out", strings.Join(idle, ", "))
	}
	return nil
}

// makeIndex makes one index. With it go exactly the definitions that are in use by then.
func (s *change) makeIndex(g value.Value, used map[string]bool) {
	var attrs []types.AttributeDefinition
	for _, a := range attributes(s.want(defined)) {
		if used[*a.AttributeName] {
			attrs = append(attrs, a)
		}
	}
	create := &types.CreateGlobalSecondaryIndexAction{IndexName: wire.Text(g.Get("IndexName")), KeySchema: keys(g.Get("KeySchema")),
		Projection: projected(g.Get("Projection")), ProvisionedThroughput: provisionedUnits(g.Get(capacity)),
		OnDemandThroughput: bounds(g.Get(bounded)), WarmThroughput: warmUnits(g.Get(warmed))}
	s.update("make index "+wire.Name(g.Get("IndexName")), []string{indexes, defined}, &dynamodb.UpdateTableInput{AttributeDefinitions: attrs,
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: create}}})
}

// billing returns the mode that the table has now, and the one it is to have.
func (s *change) billing() (is, to string) {
	is = wire.Name(s.have(mode))
	if !s.writes(mode) {
		return is, is
	}
	if to = wire.Name(s.want(mode)); to == "" {
		to = provisioned
	}
	return is, to
}

// units writes billing mode and provisioned capacity, of the table and of the indexes that stay, in one call: the service
// takes another mode only with all units that it needs.
func (s *change) units(had, want map[string]value.Value) error {
	is, to := s.billing()
	in, params := &dynamodb.UpdateTableInput{}, []string{}
	if is != to {
		in.BillingMode = types.BillingMode(to)
		params = append(params, mode)
	}
	desired := s.want(capacity)
	switch {
	case to == onDemand && s.writes(capacity) && !wire.Empty(desired):
		return rejected("UpdateTable", "ProvisionedThroughput cannot be given when BillingMode is %s; take it out", onDemand)
	case to == provisioned && wire.Empty(desired) && (s.writes(capacity) || is != to):
		return rejected("UpdateTable", "BillingMode %s needs ProvisionedThroughput; give it, or set BillingMode to %s", provisioned, onDemand)
	case to == provisioned && (s.writes(capacity) || is != to) && !sameNumbers(desired, s.have(capacity)):
		in.ProvisionedThroughput = provisionedUnits(desired)
		params = append(params, capacity)
	}
	if to == provisioned && s.writes(indexes) {
		for _, name := range slices.Sorted(maps.Keys(had)) {
			g, stays := want[name]
			if u := g.Get(capacity); stays && !wire.Empty(u) && !sameNumbers(u, had[name].Get(capacity)) {
				in.GlobalSecondaryIndexUpdates = append(in.GlobalSecondaryIndexUpdates, types.GlobalSecondaryIndexUpdate{
					Update: &types.UpdateGlobalSecondaryIndexAction{IndexName: &name, ProvisionedThroughput: provisionedUnits(u)}})
			}
		}
		if len(in.GlobalSecondaryIndexUpdates) > 0 {
			params = append(params, indexes)
		}
	}
	if len(params) > 0 {
		s.update("capacity: "+strings.Join(params, ", "), params, in)
	}
	return nil
}

// sameNumbers compares two objects of numbers, however each is written.
func sameNumbers(a, b value.Value) bool {
	numbers := func(v value.Value) map[string]int64 {
		out := map[string]int64{}
		for name, n := range v.Fields() {
			if n := number(n); n != nil {
				out[name] = *n
			}
		}
		return out
	}
	return maps.Equal(numbers(a), numbers(b))
}

// bounds writes the bounds of on-demand capacity. One that config no longer sets is taken away.
func (s *change) bounds(had, want map[string]value.Value) {
	if _, to := s.billing(); to != onDemand {
		return // bounds went with the mode
	}
	in, params := &dynamodb.UpdateTableInput{}, []string{}
	if is, to := allBounds(s.have(bounded)), allBounds(s.want(bounded)); s.writes(bounded) && !value.Equal(is, to) {
		in.OnDemandThroughput = bounds(to)
		params = append(params, bounded)
	}
	if s.writes(indexes) {
		for _, name := range slices.Sorted(maps.Keys(had)) {
			g, stays := want[name]
			if is, to := allBounds(had[name].Get(bounded)), allBounds(g.Get(bounded)); stays && !value.Equal(is, to) {
				in.GlobalSecondaryIndexUpdates = append(in.GlobalSecondaryIndexUpdates, types.GlobalSecondaryIndexUpdate{
					Update: &types.UpdateGlobalSecondaryIndexAction{IndexName: &name, OnDemandThroughput: bounds(to)}})
			}
		}
		if len(in.GlobalSecondaryIndexUpdates) > 0 {
			params = append(params, indexes)
		}
	}
	if len(params) > 0 {
		s.update("bounds of on-demand capacity", params, in)
	}
}

// allBounds is v with every bound that it leaves out taken away.
func allBounds(v value.Value) value.Value {
	m := value.Map{}
	for _, name := range []string{"MaxReadRequestUnits", "MaxWriteRequestUnits"} {
		m[name] = value.Of(unlimited)
		if n := number(v.Get(name)); n != nil {
			m[name] = value.Of(*n)
		}
	}
	return value.OfMap(m)
}

// warm raises what can be taken at once. Nothing lowers it: what config no longer sets stays as it is.
func (s *change) warm(had, want map[string]value.Value) {
	in, params := &dynamodb.UpdateTableInput{}, []string{}
	if s.writes(warmed) && raises(s.want(warmed), s.have(warmed)) {
		in.WarmThroughput = warmUnits(s.want(warmed))
		params = append(params, warmed)
	}
	if s.writes(indexes) {
		for _, name := range slices.Sorted(maps.Keys(had)) {
			if g, stays := want[name]; stays && raises(g.Get(warmed), had[name].Get(warmed)) {
				in.GlobalSecondaryIndexUpdates = append(in.GlobalSecondaryIndexUpdates, types.GlobalSecondaryIndexUpdate{
					Update: &types.UpdateGlobalSecondaryIndexAction{IndexName: &name, WarmThroughput: warmUnits(g.Get(warmed))}})
			}
		}
		if len(in.GlobalSecondaryIndexUpdates) > 0 {
			params = append(params, indexes)
		}
	}
	if len(params) > 0 {
		s.update("warm throughput", params, in)
	}
}

// raises reports whether one of the numbers that are asked for is more than there is.
func raises(want, have value.Value) bool {
	for name, n := range want.Fields() {
		to, is := number(n), number(have.Get(name))
		if to != nil && (is == nil || *to > *is) {
			return true
		}
	}
	return false
}
