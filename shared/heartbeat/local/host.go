package local

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
)

// isLoopback says whether a host name or address is this host by definition.
func isLoopback(host string) bool {
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// healthPath matches paths that are a service's own health endpoint.
func healthPath(path string) bool {
	return regexp.MustCompile(`(?i)(^|/)(_?health(z|check|_check|-check|checks)?|live(z|ness)?|ready(z)?|readiness|status|ping|heartbeat|alive)(/|\.[a-z]+$|$)`).MatchString(path)
}

// checkHost refuses a host that is not this one unless it was declared a dependency.
func checkHost(host string, dependency bool) error {
	if isLoopback(host) || dependency {
		return nil
	}
	return fmt.Errorf("host %q is another host: a local check asks 127.0.0.1, ::1 or localhost; what another host answers fails on all instances at once, so declare it with dependency: true, and it is reported without gating", host)
}

// dialAddress splits host:port and refuses what is missing.
func dialAddress(address string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(address)
	if err != nil || host == "" || port == "" {
		return "", "", fmt.Errorf("address %q, want host:port", address)
	}
	return host, port, nil
}
