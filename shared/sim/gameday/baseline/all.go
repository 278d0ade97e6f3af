package baseline

import "github.com/holdfast-aws/holdfast/shared/sim/gameday"

// All returns a constructor of every baseline, in the order of tables: Auto Scaling alone first, the oracles last. Each call of one makes a
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
		OracleWithEvidence,
		Oracle,
	}
}

// ByAgent returns the rules of All that judge by health, with less to see: they take notice of the heartbeat agents alone, as a node
// controller does that knows nothing of any load balancer. A check of the load balancer's that fails for a shared cause then does not
// concern them; nor does what only it finds. Their names end in "-by-agent".
func ByAgent() []func() gameday.Guardian {
	var out []func() gameday.Guardian
	for _, build := range []func() gameday.Guardian{
		Naive{}.Guardian,
		DefaultMachineHealthCheck().Guardian,
		CarefulMachineHealthCheck().Guardian,
		DefaultKubernetes().Guardian,
		Karpenter().Guardian,
		EKS().Guardian,
		DefaultNodeHealthCheck().Guardian,
		DefaultEureka().Guardian,
		DefaultGardener().Guardian,
	} {
		out = append(out, func() gameday.Guardian {
			g := build()
			if seeing, ok := g.(interface{ seeAgentOnly() }); ok {
				seeing.seeAgentOnly()
			}
			return g
		})
	}
	return out
}

func (w *watch) seeAgentOnly() {
	w.agentOnly = true
	w.name += "-by-agent"
}
