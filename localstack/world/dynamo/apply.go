package dynamo

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// apply returns old changed by the update. All values are read from old, before any change, as AWS does.
func (u update) apply(old Item) (Item, error) {
	result := CopyItem(old)
	if result == nil {
		result = Item{}
	}
	for _, a := range u.sets {
		v, err := a.from.value(old)
		if err != nil {
			return nil, operandError(err)
		}
		if err := store(result, a.path, copyValue(v)); err != nil {
			return nil, err
		}
	}
	removes := slices.Clone(u.removes)
	// Later list elements go first, so that an index still means what it meant before the update.
	slices.SortStableFunc(removes, func(a, b path) int { return cmp.Compare(b[len(b)-1].index, a[len(a)-1].index) })
	for _, p := range removes {
		if err := remove(result, p); err != nil {
			return nil, err
		}
	}
	for _, a := range u.adds {
		if err := add(result, a); err != nil {
			return nil, err
		}
	}
	for _, a := range u.deletes {
		if err := deleteMembers(result, a); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// parent finds the container of the last step of p.
func parent(item Item, p path) (types.AttributeValue, error) {
	v, ok := p[:len(p)-1].lookup(item)
	if !ok {
		return nil, validation("The document path provided in the update expression is invalid for update")
	}
	return v, nil
}

func store(item Item, p path, v types.AttributeValue) error {
	in, err := parent(item, p)
	if err != nil {
		return err
	}
	last := p[len(p)-1]
	switch at := in.(type) {
	case *types.AttributeValueMemberM:
		if last.name != "" {
			at.Value[last.name] = v
			return nil
		}
	case *types.AttributeValueMemberL:
		if last.name == "" && last.index < len(at.Value) {
			at.Value[last.index] = v
			return nil
		}
		if last.name == "" {
			at.Value = append(at.Value, v)
			return nil
		}
	}
	return validation("The document path provided in the update expression is invalid for update")
}

func remove(item Item, p path) error {
	in, err := parent(item, p)
	if err != nil {
		return err
	}
	last := p[len(p)-1]
	switch at := in.(type) {
	case *types.AttributeValueMemberM:
		delete(at.Value, last.name)
		return nil
	case *types.AttributeValueMemberL:
		if last.name == "" && last.index < len(at.Value) {
			at.Value = slices.Delete(at.Value, last.index, last.index+1)
		}
		return nil
	}
	return validation("The document path provided in the update expression is invalid for update")
}

func add(item Item, a setAction) error {
	more := a.from.(literal).AttributeValue
	current, ok := a.path.lookup(item)
	if !ok {
		return store(item, a.path, copyValue(more))
	}
	if typeName(current) != typeName(more) {
		return validation("An operand in the update expression has an incorrect data type")
	}
	if n, isNumber := more.(*types.AttributeValueMemberN); isNumber {
		left, err := parseNumber(current.(*types.AttributeValueMemberN).Value)
		if err != nil {
			return err
		}
		var right *big.Rat
		if right, err = parseNumber(n.Value); err != nil {
			return err
		}
		v, err := addNumbers(left, right)
		if err != nil {
			return err
		}
		return store(item, a.path, v)
	}
	members := setMembers(current)
	for _, m := range setMembers(more) {
		if !slices.Contains(members, m) {
			members = append(members, m)
		}
	}
	return store(item, a.path, makeSet(typeName(current), members))
}

func deleteMembers(item Item, a setAction) error {
	less := a.from.(literal).AttributeValue
	current, ok := a.path.lookup(item)
	if !ok {
		return nil
	}
	if typeName(current) != typeName(less) {
		return validation("An operand in the update expression has an incorrect data type")
	}
	gone := setMembers(less)
	members := slices.DeleteFunc(setMembers(current), func(m string) bool { return slices.Contains(gone, m) })
	if len(members) == 0 {
		return remove(item, a.path) // a set is never empty: the attribute goes
	}
	return store(item, a.path, makeSet(typeName(current), members))
}
