package wire_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/prelude"
	"github.com/aws/smithy-go/traits"

	"github.com/holdfast-aws/holdfast/localstack/world/wire"
)

// shape is a structure with the list and map forms that the protocol allows and
// the fixtures do not show. Source: Smithy specification, "XML bindings" and "AWS
// query protocol".
type shape struct {
	schema  *smithy.Schema
	lists   map[string][]string
	maps    map[string]map[string]string
	members []string
}

func newShape() *shape {
	list := func(name string, ts ...smithy.Trait) *smithy.Schema {
		s := smithy.NewSchema(smithy.ShapeID{Namespace: "test", Name: name}, smithy.ShapeTypeList, 1)
		s.AddMember("member", prelude.String, ts...)
		return s
	}
	table := smithy.NewSchema(smithy.ShapeID{Namespace: "test", Name: "Table"}, smithy.ShapeTypeMap, 2)
	table.AddMember("key", prelude.String)
	table.AddMember("value", prelude.String)
	named := smithy.NewSchema(smithy.ShapeID{Namespace: "test", Name: "Named"}, smithy.ShapeTypeMap, 2)
	named.AddMember("key", prelude.String, &traits.XMLName{Name: "Attribute"})
	named.AddMember("value", prelude.String, &traits.XMLName{Name: "Setting"})

	root := smithy.NewSchema(smithy.ShapeID{Namespace: "test", Name: "Root"}, smithy.ShapeTypeStructure, 6)
	root.AddMember("Plain", list("Plain"))
	root.AddMember("Renamed", list("Renamed", &traits.XMLName{Name: "item"}))
	root.AddMember("Flat", list("Flat"), &traits.XMLFlattened{})
	root.AddMember("FlatNamed", list("FlatNamed"), &traits.XMLFlattened{}, &traits.XMLName{Name: "Row"})
	root.AddMember("Table", table)
	root.AddMember("FlatTable", named, &traits.XMLFlattened{})
	return &shape{
		schema: root, lists: map[string][]string{}, maps: map[string]map[string]string{},
		members: []string{"Plain", "Renamed", "Flat", "FlatNamed", "Table", "FlatTable"},
	}
}

// Serialize implements smithy.Serializable.
func (v *shape) Serialize(s smithy.ShapeSerializer) {
	s.WriteStruct(v.schema)
	for _, name := range v.members {
		member := v.schema.Member(name)
		if member.Type() == smithy.ShapeTypeList {
			s.WriteList(member)
			for _, item := range v.lists[name] {
				s.WriteString(member.ListMember(), item)
			}
			s.CloseList()
			continue
		}
		s.WriteMap(member)
		for _, key := range slices.Sorted(maps.Keys(v.maps[name])) {
			s.WriteKey(member.MapKey(), key)
			s.WriteString(member.MapValue(), v.maps[name][key])
		}
		s.CloseMap()
	}
	s.CloseStruct()
}

// Deserialize implements smithy.Deserializable.
func (v *shape) Deserialize(d smithy.ShapeDeserializer) error {
	return smithy.ReadStruct(d, v.schema, func(member *smithy.Schema) error {
		name := member.MemberName()
		if member.Type() == smithy.ShapeTypeList {
			return smithy.ReadList(d, member, func() error {
				var item string
				err := d.ReadString(member.ListMember(), &item)
				v.lists[name] = append(v.lists[name], item)
				return err
			})
		}
		v.maps[name] = map[string]string{}
		return smithy.ReadMap(d, member, func(key string) error {
			var value string
			err := d.ReadString(member.MapValue(), &value)
			v.maps[name][key] = value
			return err
		})
	})
}

func filledShape() *shape {
	v := newShape()
	for _, name := range []string{"Plain", "Renamed", "Flat", "FlatNamed"} {
		v.lists[name] = []string{"a", "b"}
	}
	for _, name := range []string{"Table", "FlatTable"} {
		v.maps[name] = map[string]string{"k": "v", "l": "<w>"}
	}
	return v
}

func TestListsAndMapsAreWrittenInEveryForm(t *testing.T) {
	resp, err := wire.Query("urn:test").Encode(wire.Reply{Operation: "Op", RequestID: "r", Output: filledShape()})
	if err != nil {
		t.Fatal(err)
	}
	want := `<OpResponse xmlns="urn:test"><OpResult>` +
		`<Plain><member>a</member><member>b</member></Plain>` +
		`<Renamed><item>a</item><item>b</item></Renamed>` +
		`<Flat>a</Flat><Flat>b</Flat>` +
		`<Row>a</Row><Row>b</Row>` +
		`<Table><entry><key>k</key><value>v</value></entry><entry><key>l</key><value>&lt;w&gt;</value></entry></Table>` +
		`<FlatTable><Attribute>k</Attribute><Setting>v</Setting></FlatTable>` +
		`<FlatTable><Attribute>l</Attribute><Setting>&lt;w&gt;</Setting></FlatTable>` +
		`</OpResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></OpResponse>`
	if string(resp.Body) != want {
		t.Errorf("got  %s\nwant %s", resp.Body, want)
	}
}

func TestListsAndMapsAreReadInEveryForm(t *testing.T) {
	form := strings.Join([]string{
		"Action=Op", "Version=1",
		"Plain.member.1=a", "Plain.member.2=b", "Renamed.item.1=a", "Renamed.item.2=b",
		"Flat.1=a", "Flat.2=b", "Row.1=a", "Row.2=b",
		"Table.entry.1.key=k", "Table.entry.1.value=v", "Table.entry.2.key=l", "Table.entry.2.value=%3Cw%3E",
		"FlatTable.1.Attribute=k", "FlatTable.1.Setting=v", "FlatTable.2.Attribute=l", "FlatTable.2.Setting=%3Cw%3E",
	}, "&")
	got, want := newShape(), filledShape()
	if err := wire.Query("urn:test").Decode([]byte(form), got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.lists, want.lists) || !reflect.DeepEqual(got.maps, want.maps) {
		t.Errorf("got %v %v, want %v %v", got.lists, got.maps, want.lists, want.maps)
	}
}

func TestMoreThanNineItemsKeepTheirOrder(t *testing.T) {
	var form, want []string
	for i := range 12 {
		letter := string(rune('a' + i))
		want = append(want, letter)
		form = append(form, "Plain.member."+[]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"}[i]+"="+letter)
	}
	got := newShape()
	if err := wire.Query("urn:test").Decode([]byte(strings.Join(form, "&")), got); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.lists["Plain"], want) {
		t.Errorf("got %v", got.lists["Plain"])
	}
}
