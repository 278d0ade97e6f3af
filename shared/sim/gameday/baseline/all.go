package baseline

import "github.com/holdfast-aws/holdfast/shared/sim/gameday"

// All returns a constructor of every baseline, in the order of tables: Auto Scaling alone first, the oracle last. Each call of one makes a
// guardian for one day.
func All() []func() gameday.Guardian {
	return []func() gameday.Guardian{
		AutoScalingELB,
		AutoScalingEC2,
		Naive{}.Guardian,
		DefaultMachineHealthCheck().Guardian,
		CarefulMachineHealthCheck().Guardian,
		DefaultKubernetes().Guardian,
		Karpenter().Guardian,
		EKS().Guardian,
		DefaultNodeHealthCheck().Guardian,
		DefaultEureka().Guardian,
		DefaultEnvoy().Guardian,
		DefaultGardener().Guardian,
		Oracle,
	}
}
