package probe

import (
	"fmt"
	"net/netip"
)

// refusedRanges are where no probe may go, with the reason. The metadata service of EC2, the credentials of ECS, the resolver
// and the clock of AWS are link-local or in the IPv6 range below; the function's own runtime listens on loopback, and a
// request to it would take the next event away. Source: EC2 user guide, "Access instance metadata"; Lambda developer guide,
// "Runtime API".
func refusedRanges() map[string]string {
	return map[string]string{
		"0.0.0.0/8":          "no host",
		"127.0.0.0/8":        "loopback",
		"169.254.0.0/16":     "link-local, where the metadata service is",
		"224.0.0.0/4":        "multicast",
		"255.255.255.255/32": "broadcast",
		"::/128":             "no host",
		"::1/128":            "loopback",
		"fe80::/10":          "link-local",
		"fd00:ec2::/32":      "the metadata service",
		"64:ff9b:1::/48":     "translated to an IPv4 address that nobody can read off it",
		"ff00::/8":           "multicast",
	}
}

// Ranges of IPv6 in which an IPv4 address is written, with the byte at which it begins. In 64:ff9b:1::/48 each network chooses the
// place itself, so that range is refused as a whole. Source: RFC 6052, RFC 8215, RFC 3056 and RFC 4291.
func embeddings() map[string]int {
	return map[string]int{"64:ff9b::/96": 12, "2002::/16": 2, "::/96": 12}
}

// RefusedAddress says why no probe may connect to an address, or nothing if it may. An IPv4 address inside an IPv6 one counts as
// itself.
func RefusedAddress(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if !a.IsValid() {
		return "no address"
	}
	if why := refusedRange(a); why != "" {
		return why
	}
	for text, at := range embeddings() {
		if netip.MustParsePrefix(text).Contains(a) {
			b := a.As16()
			return refusedRange(netip.AddrFrom4([4]byte(b[at : at+4])))
		}
	}
	return ""
}

func refusedRange(a netip.Addr) string {
	for text, why := range refusedRanges() {
		if netip.MustParsePrefix(text).Contains(a) {
			return fmt.Sprintf("%s is %s", a, why)
		}
	}
	return ""
}
