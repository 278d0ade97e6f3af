package contract_test

// gap is a rule that a peer is known to break: what its check says about it, and why it is so or what follows from it.
type gap struct{ shows, reason string }

// gaps are the known ones, by peer and by rule.
func gaps() map[string]map[string]gap {
	return map[string]map[string]gap{
		embedded:  gapsOfWorld(),
		moto:      gapsOfMoto(),
		ministack: gapsOfMinistack(),
		dynalite:  gapsOfDynalite(),
		minidyn:   gapsOfMinidyn(),
	}
}

func gapsOfWorld() map[string]gap { return map[string]gap{} }

func gapsOfMoto() map[string]gap {
	return map[string]gap{
		"a grace period of 0 stays 0":                                             {"have 300, want 0", "it takes 0 for nothing said and puts in the console's default"},
		"an unknown process is refused":                                           {"Sleep was accepted", "it keeps whatever name it is given"},
		"a process of an unknown group is refused":                                {"StatusCode: 500", "it looks into a group that is not there and answers with a page of HTML"},
		"a mark in the grace period is refused":                                   {"was accepted", "a mark is a flag there, and ShouldRespectGracePeriod is not read"},
		"a mark of an unknown instance is refused":                                {"have InvalidInstanceID.NotFound, want ValidationError", "it answers with an error of EC2, which Auto Scaling does not have"},
		"a health that is neither Healthy nor Unhealthy is refused":               {"StatusCode: 500", "it refuses, but with a page of HTML where an error of the API should be"},
		"a marked member is replaced":                                             {"the marked one is there: have true", "a mark is a flag there; no emulator that could be had replaces the member"},
		"scaling activities tell of the launches":                                 {"have 0, want 3", "its list is always empty, which an instance that was just launched contradicts"},
		"a group without refreshes has an empty list of them":                     {"StatusCode: 500", "it has no instance refreshes"},
		"Holdfast reads a guarded group completely":                               {"describe instance refreshes", "all but the refreshes is read; those it does not have"},
		"CloudWatch is understood in its client's own protocol":                   {"StatusCode: 404", "it does not speak CBOR; the other rules ask it in JSON"},
		"a new alarm has insufficient data":                                       {"have [OK]", "its alarms begin OK"},
		"composite alarms come only when asked for":                               {"PutCompositeAlarm", "it has no composite alarms"},
		"Holdfast reads alarms, and one that is not there is missing":             {"fresh", "its alarms begin OK; the red and the missing one are read right"},
		"a transaction repeated with its token is done once":                      {"have [3], want [1]", "it does not read ClientRequestToken"},
		"a token used for another transaction is refused":                         {"other content was accepted", "it does not read ClientRequestToken"},
		"an event reaches the targets of the rules that it matches, and no other": {"digits of the account: have 0", "matching and delivery are right; its events to queues have no account"},
		"a pattern can be tried on an event":                                      {"have false, want true", "TestEventPattern does nothing there"},
		"an alarm's change of state is an event":                                  {"have 0, want 1", "no emulator that could be had sends one"},
		"a target group's attributes have AWS's defaults":                         {"unhealthy_state_routing.minimum_healthy_targets.count: have ,", "it has no thresholds of target group health; what is not answered stays unknown to the audit"},
		"an alarm is found by its metric with its dimensions":                     {"alarms of another metric: have [", "it does not read the dimensions"},
		"a topic counts its confirmed subscriptions":                              {"have [0 0], want [0 1]", "its counts are always 0"},
		"Holdfast's audit reads a group and its target group":                     {"fail-open and DNS: have [-99 -99 -99 -99]", "all else is read right; thresholds, refreshes and application status checks it does not have, and each is named as unread or unknown"},
	}
}

func gapsOfMinistack() map[string]gap {
	return map[string]gap{
		"CloudWatch is understood in its client's own protocol": {"StatusCode: 500", "it speaks CBOR only if the package cbor2 is there, which its own package does not require; the other rules ask it in JSON"},
		"the newest statistics come first":                      {"times: have", "it answers oldest first and does not read ScanBy"},
		"a page of more than ten is refused":                    {"a page of 11 was accepted", "it answers with longer pages if asked"},
		"an alarm's change of state is an event":                {"have 0, want 1", "no emulator that could be had sends one"},
		"an alarm is found by its metric with its dimensions":   {"alarms of another metric: have [", "it does not read the dimensions"},
		"an alarm is found by the beginning of an action":       {"alarms with that action: have [", "it does not read the prefix, so that all alarms come; the audit knows Holdfast's by their descriptions too"},
	}
}

func gapsOfDynalite() map[string]gap {
	const none = "it has no transactions"
	return map[string]gap{
		"a refused condition changes nothing and returns the item":                {"attributes of the returned item: have 0", "it is older than ReturnValuesOnConditionCheckFailure"},
		"a cancelled transaction writes nothing and tells whose condition failed": {"UnknownOperationException", none},
		"a transaction repeated with its token is done once":                      {"UnknownOperationException", none},
		"a token used for another transaction is refused":                         {"UnknownOperationException", none},
		"of many transactions no more than the limit succeed":                     {"UnknownOperationException", none},
		"a table knows when its items expire":                                     {"UnknownOperationException", "it has no time to live"},
	}
}

func gapsOfMinidyn() map[string]gap {
	return map[string]gap{
		"a refused condition changes nothing and returns the item": {"attributes of the returned item: have 0", "it does not read ReturnValuesOnConditionCheckFailure; that the write is refused is right"},
		"a transaction repeated with its token is done once":       {"have [3], want [1]", "it does not read ClientRequestToken"},
		"a token used for another transaction is refused":          {"other content was accepted", "it does not read ClientRequestToken"},
		"a table knows when its items expire":                      {"deserialization failed", "it has no time to live, and answers in plain text"},
	}
}
