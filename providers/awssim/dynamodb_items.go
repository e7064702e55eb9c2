package awssim

import (
	"encoding/json"
	"strings"
)

func itemOperations() []operation {
	name := []string{"TableName"}
	return []operation{
		{"PutItem", name, (*Server).putItem},
		{"GetItem", name, (*Server).getItem},
		{"DeleteItem", name, (*Server).deleteItem},
		{"Scan", name, (*Server).scanItems},
	}
}

const maxScan = 100 // items on a page; AWS's is a megabyte

// itemTable finds the table of a call on items: one that is not made yet, or no more, has none.
func (s *Server) itemTable(c *call) (*Table, *failure) {
	t, f := s.table(c, false)
	if f != nil {
		return nil, f
	}
	if status := t.status(c.now); status == "CREATING" || status == "DELETING" {
		return nil, noTable(t.Name)
	}
	return t, nil
}

// primary is the primary key of an item as one text, and the key alone. Each part must be there, of the type that is defined.
func (t *Table) primary(item ItemOfTable, only bool) (string, ItemOfTable, *failure) {
	var parts []string
	key := ItemOfTable{}
	for _, k := range t.Keys {
		var typed map[string]string
		raw, ok := item[k.AttributeName]
		if !ok || json.Unmarshal(raw, &typed) != nil || len(typed) != 1 {
			return "", nil, badParams("Missing the key %s in the item", k.AttributeName)
		}
		for _, d := range t.Attributes {
			if text, ok := typed[d.AttributeType]; d.AttributeName == k.AttributeName && (!ok || text == "") {
				return "", nil, badParams("Type mismatch for key %s expected: %s, or it is empty", k.AttributeName, d.AttributeType)
			}
		}
		key[k.AttributeName] = raw
		parts = append(parts, string(raw))
	}
	if only && len(item) != len(key) {
		return "", nil, badTable("The provided key element does not match the schema")
	}
	return strings.Join(parts, "\x1f"), key, nil
}

func (s *Server) putItem(c *call) (any, *failure) {
	in, f := shaped[struct{ Item ItemOfTable }](c)
	if f != nil {
		return nil, f
	}
	t, f := s.itemTable(c)
	if f != nil {
		return nil, f
	}
	key, _, f := t.primary(in.Item, false)
	if f != nil {
		return nil, f
	}
	t.Items[key] = in.Item
	return map[string]any{}, nil
}

// keyed finds the item that Key names; nil where there is none.
func (s *Server) keyed(c *call) (*Table, string, *failure) {
	in, f := shaped[struct{ Key ItemOfTable }](c)
	if f != nil {
		return nil, "", f
	}
	t, f := s.itemTable(c)
	if f != nil {
		return nil, "", f
	}
	key, _, f := t.primary(in.Key, true)
	return t, key, f
}

func (s *Server) getItem(c *call) (any, *failure) {
	t, key, f := s.keyed(c)
	if f != nil {
		return nil, f
	}
	if t.Items[key] == nil {
		return map[string]any{}, nil
	}
	return map[string]any{"Item": t.Items[key]}, nil
}

// deleteItem succeeds where there is nothing, as AWS's does.
func (s *Server) deleteItem(c *call) (any, *failure) {
	t, key, f := s.keyed(c)
	if f != nil {
		return nil, f
	}
	delete(t.Items, key)
	return map[string]any{}, nil
}

func (s *Server) scanItems(c *call) (any, *failure) {
	in, f := shaped[struct{ ExclusiveStartKey ItemOfTable }](c)
	if f != nil {
		return nil, f
	}
	a := c.args()
	limit := a.integer("Limit", maxScan, 1, maxScan)
	if f := a.failure(); f != nil {
		return nil, f
	}
	t, f := s.itemTable(c)
	if f != nil {
		return nil, f
	}
	after := ""
	if in.ExclusiveStartKey != nil {
		if after, _, f = t.primary(in.ExclusiveStartKey, true); f != nil {
			return nil, f
		}
	}
	items, last := []ItemOfTable{}, ItemOfTable(nil)
	for _, key := range sortedKeys(t.Items) {
		if key <= after {
			continue
		}
		if len(items) == limit {
			_, last, _ = t.primary(items[limit-1], false)
			break
		}
		items = append(items, t.Items[key])
	}
	out := map[string]any{"Items": items, "Count": len(items), "ScannedCount": len(items)}
	if last != nil {
		out["LastEvaluatedKey"] = last
	}
	return out, nil
}
