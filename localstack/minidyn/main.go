package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/truora/minidyn/server"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: minidyn PORT")
		os.Exit(2)
	}
	if err := serve(net.JoinHostPort("127.0.0.1", os.Args[1])); err != nil {
		fmt.Fprintln(os.Stderr, "minidyn:", err)
		os.Exit(1)
	}
}

// serve answers on an address until the process is ended.
func serve(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s := &http.Server{Handler: server.NewServer(), ReadHeaderTimeout: 10 * time.Second}
	return fmt.Errorf("serve: %w", s.Serve(listener))
}
