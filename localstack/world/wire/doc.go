// Package wire speaks the AWS protocols from the server's side: it reads the
// requests of the AWS SDK for Go into the SDK's own typed inputs, and writes the
// SDK's own typed outputs and errors as the answers a real client understands.
//
// It holds no service behaviour, no state and no clock, it checks no signature,
// and it is not a general server kit: it knows the five protocols below, and of
// them what the operations used by this repository need.
//
//	Query(xmlns)      form in, XML out            autoscaling, elasticloadbalancingv2
//	EC2Query(xmlns)   form in, encoding/xml out   ec2 (that module has no schemas)
//	JSON10(schema)    AWS JSON 1.0                dynamodb, sqs, cloudwatch
//	JSON11(schema)    AWS JSON 1.1                ssm, eventbridge
//	CBOR(schema)      Smithy RPC v2 CBOR          cloudwatch
//
// The SDK asks CloudWatch in CBOR and the AWS command line in JSON, so that its
// Mount has both codecs, and each request is answered in its own protocol.
//
// How a service is written:
//
//	type Service struct{ ... }
//
//	func (s *Service) Handle(ctx context.Context, call wire.Call) (any, error) {
//		switch call.Operation {
//		case "GetParameter":
//			return wire.Do(call, s.getParameter)
//		}
//		return nil, wire.UnknownOperation(call.Operation)
//	}
//
//	func (s *Service) getParameter(in *ssm.GetParameterInput) (*ssm.GetParameterOutput, error) {
//		return nil, &types.ParameterNotFound{}
//	}
//
// An error is either one of the SDK's modeled errors (its members travel with
// it, and its HTTP status comes from the schema) or a *wire.Error for codes that
// the model does not list, such as Throttling and ValidationException. A Mount
// binds such a service to the name under which clients call it; world.Server
// takes Mounts.
//
// Start reading at codec.go (the contract), then query.go and form.go (the
// protocol written here), then model.go (JSON and CBOR, which use the SDK's own
// codecs in the other direction) and bind.go (inputs that cannot decode
// themselves).
package wire
