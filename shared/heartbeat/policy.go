package heartbeat

import (
	"encoding/json"
	"fmt"
)

type policyDocument struct {
	Version   string
	Statement []policyStatement
}

type policyStatement struct {
	Sid, Effect, Action, Resource string
	Condition                     map[string]map[string]any
}

// Policy renders the statement that an instance role needs, as JSON: an instance may update its own row and nothing else.
//
// ec2:SourceInstanceARN is part of every request that is made with an instance profile's credentials and cannot be chosen by the caller;
// elsewhere the variable stays unresolved and the statement matches nothing. ForAllValues is true for a request without any key, hence
// the Null condition. Source: IAM user guide, "AWS global and IAM condition context keys"; DynamoDB developer guide, "Using IAM policy
// conditions for fine-grained access control".
func Policy(tableARN string) (string, error) {
	raw, err := json.MarshalIndent(policyDocument{Version: "2012-10-17", Statement: []policyStatement{{
		Sid: "OwnHeartbeatOnly", Effect: "Allow", Action: "dynamodb:UpdateItem", Resource: tableARN,
		Condition: map[string]map[string]any{
			"ForAllValues:StringEquals": {
				"dynamodb:LeadingKeys": []string{"${ec2:SourceInstanceARN}"},
				"dynamodb:Attributes":  Attributes(),
			},
			"Null":                     {"dynamodb:LeadingKeys": "false"},
			"StringEqualsIfExists":     {"dynamodb:ReturnValues": []string{"NONE", "UPDATED_OLD", "UPDATED_NEW"}},
			"NumericGreaterThanEquals": {"ec2:RoleDelivery": "2.0"},
		},
	}}}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("render policy: %w", err)
	}
	return string(raw) + "\n", nil
}
