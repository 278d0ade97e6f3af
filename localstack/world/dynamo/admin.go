package dynamo

import (
	"maps"
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// CreateTable makes a table that is usable at once. The answer says CREATING, as on AWS; the next DescribeTable
// says ACTIVE. It refuses indexes (ValidationException) and an existing name (ResourceInUseException).
func (t *Tables) CreateTable(in *dynamodb.CreateTableInput) (*dynamodb.CreateTableOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := aws.ToString(in.TableName)
	if !regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,255}$`).MatchString(name) {
		return nil, validation("Invalid table/index name. Table/index names must be between 3 and 255 characters long, and may contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'")
	}
	if len(in.GlobalSecondaryIndexes)+len(in.LocalSecondaryIndexes)+len(in.VectorIndexes) > 0 {
		return nil, validation("indexes are not part of the embedded DynamoDB")
	}
	if _, exists := t.tables[name]; exists {
		return nil, &types.ResourceInUseException{Message: aws.String("Table already exists: " + name)}
	}
	tb := &table{name: name, rows: make(map[string]map[string]Item), created: t.opts.Now()}
	if err := tb.readSchema(in); err != nil {
		return nil, err
	}
	mode := in.BillingMode
	if mode == "" {
		mode = types.BillingModeProvisioned
	}
	if mode == types.BillingModeProvisioned && in.ProvisionedThroughput == nil {
		return nil, validation("One or more parameter values were invalid: ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	}
	tb.description = types.TableDescription{
		TableName: aws.String(name), TableArn: aws.String(t.arn(name)), CreationDateTime: aws.Time(tb.created),
		AttributeDefinitions: in.AttributeDefinitions, KeySchema: in.KeySchema,
		BillingModeSummary:        &types.BillingModeSummary{BillingMode: mode},
		DeletionProtectionEnabled: in.DeletionProtectionEnabled,
		StreamSpecification:       in.StreamSpecification,
	}
	t.tables[name] = tb
	d := tb.describe()
	d.TableStatus = types.TableStatusCreating
	return &dynamodb.CreateTableOutput{TableDescription: d}, nil
}

func (tb *table) readSchema(in *dynamodb.CreateTableInput) error {
	kinds := make(map[string]string)
	for _, d := range in.AttributeDefinitions {
		kinds[aws.ToString(d.AttributeName)] = string(d.AttributeType)
	}
	if len(in.KeySchema) < 1 || len(in.KeySchema) > 2 || in.KeySchema[0].KeyType != types.KeyTypeHash ||
		(len(in.KeySchema) == 2 && in.KeySchema[1].KeyType != types.KeyTypeRange) {
		return validation("Invalid KeySchema: The first KeySchemaElement is not a HASH key type or the second is not a RANGE key type")
	}
	if len(kinds) != len(in.KeySchema) {
		return validation("One or more parameter values were invalid: Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions")
	}
	for i, k := range in.KeySchema {
		attribute := keyAttribute{aws.ToString(k.AttributeName), kinds[aws.ToString(k.AttributeName)]}
		if attribute.kind != "S" && attribute.kind != "N" && attribute.kind != "B" {
			return validation("One or more parameter values were invalid: Some index key attributes are not defined in AttributeDefinitions. Keys: [%s]", attribute.name)
		}
		if i == 0 {
			tb.partition = attribute
		} else {
			tb.sort = &attribute
		}
	}
	return nil
}

func (tb *table) describe() *types.TableDescription {
	d := tb.description
	d.TableStatus = types.TableStatusActive
	rows, size := tb.all(), 0
	for _, row := range rows {
		size += ItemSize(row)
	}
	d.ItemCount, d.TableSizeBytes = aws.Int64(int64(len(rows))), aws.Int64(int64(size))
	return &d
}

// DescribeTable answers with exact counts, where AWS refreshes them every six hours or so.
func (t *Tables) DescribeTable(in *dynamodb.DescribeTableInput) (*dynamodb.DescribeTableOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	tb, err := t.table(in.TableName)
	if err != nil {
		return nil, err
	}
	return &dynamodb.DescribeTableOutput{Table: tb.describe()}, nil
}

// DeleteTable removes a table, unless it has deletion protection.
func (t *Tables) DeleteTable(in *dynamodb.DeleteTableInput) (*dynamodb.DeleteTableOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	tb, err := t.table(in.TableName)
	if err != nil {
		return nil, err
	}
	if aws.ToBool(tb.description.DeletionProtectionEnabled) {
		return nil, validation("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	}
	delete(t.tables, tb.name)
	d := tb.describe()
	d.TableStatus = types.TableStatusDeleting
	return &dynamodb.DeleteTableOutput{TableDescription: d}, nil
}

// ListTables lists names in order, at most 100 a page.
func (t *Tables) ListTables(in *dynamodb.ListTablesInput) (*dynamodb.ListTablesOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	limit := 100
	if in.Limit != nil {
		limit = int(*in.Limit)
	}
	if limit < 1 || limit > 100 {
		return nil, validation("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must be between 1 and 100", limit)
	}
	out := &dynamodb.ListTablesOutput{TableNames: []string{}}
	for _, name := range slices.Sorted(maps.Keys(t.tables)) {
		if in.ExclusiveStartTableName != nil && name <= *in.ExclusiveStartTableName {
			continue
		}
		if len(out.TableNames) == limit {
			out.LastEvaluatedTableName = aws.String(out.TableNames[limit-1])
			break
		}
		out.TableNames = append(out.TableNames, name)
	}
	return out, nil
}

// UpdateTimeToLive stores which attribute holds the expiry. Nothing is ever deleted by it: AWS takes days, and a
// reader must not depend on it.
func (t *Tables) UpdateTimeToLive(in *dynamodb.UpdateTimeToLiveInput) (*dynamodb.UpdateTimeToLiveOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	tb, err := t.table(in.TableName)
	if err != nil {
		return nil, err
	}
	spec := in.TimeToLiveSpecification
	if spec == nil || spec.Enabled == nil || aws.ToString(spec.AttributeName) == "" {
		return nil, validation("TimeToLiveSpecification needs Enabled and AttributeName")
	}
	switch {
	case *spec.Enabled && tb.ttl != "":
		return nil, validation("TimeToLive is already enabled")
	case !*spec.Enabled && tb.ttl == "":
		return nil, validation("TimeToLive is already disabled")
	case *spec.Enabled:
		tb.ttl = *spec.AttributeName
	default:
		tb.ttl = ""
	}
	return &dynamodb.UpdateTimeToLiveOutput{TimeToLiveSpecification: spec}, nil
}

// DescribeTimeToLive tells what UpdateTimeToLive stored.
func (t *Tables) DescribeTimeToLive(in *dynamodb.DescribeTimeToLiveInput) (*dynamodb.DescribeTimeToLiveOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	tb, err := t.table(in.TableName)
	if err != nil {
		return nil, err
	}
	d := &types.TimeToLiveDescription{TimeToLiveStatus: types.TimeToLiveStatusDisabled}
	if tb.ttl != "" {
		d = &types.TimeToLiveDescription{TimeToLiveStatus: types.TimeToLiveStatusEnabled, AttributeName: aws.String(tb.ttl)}
	}
	return &dynamodb.DescribeTimeToLiveOutput{TimeToLiveDescription: d}, nil
}
