package main

import "time"

// tickAgeMax is how old a scheduled event may be. Lambda's queue may hand over a tick long after its minute. Source: Lambda
// developer guide, asynchronous invocation.
const tickAgeMax = 5 * time.Minute
