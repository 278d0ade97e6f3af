package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/holdfast-aws/holdfast/shared/heartbeat"
	"github.com/holdfast-aws/holdfast/shared/heartbeat/metadata"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailed  = 1
	exitRefused = 2
)

// The agent shares its machine with an application: it keeps its memory small and runs on one processor.
const (
	memoryLimit = 12 << 20
	gcPercent   = 40
)

// Bounds of the server: nobody may keep it busy.
const (
	headerTimeout  = 2 * time.Second
	requestTimeout = 5 * time.Second
	idleTimeout    = 2 * time.Minute
	headerBytesMax = 8 << 10
)

func main() {
	debug.SetMemoryLimit(memoryLimit)
	debug.SetGCPercent(gcPercent)
	runtime.GOMAXPROCS(1)
	os.Exit(run(os.Args[1:], os.Stderr))
}

func run(args []string, out io.Writer) int {
	fs := flag.NewFlagSet("heartbeat", flag.ContinueOnError)
	fs.SetOutput(out)
	path := fs.String("config", "/etc/holdfast/heartbeat.yaml", "the configuration file")
	check := fs.Bool("check", false, "say whether the file is good, and end")
	show := fs.Bool("version", false, "print the version, and end")
	if err := fs.Parse(args); err != nil || fs.NArg() > 0 {
		return exitRefused
	}
	if *show {
		_, _ = fmt.Fprintln(out, "heartbeat", version()) // nobody else could be told
		return exitOK
	}
	log := slog.New(slog.NewTextHandler(out, nil))
	c, checks, token, err := load(*path)
	if err != nil {
		_, _ = fmt.Fprintf(out, "%s: refused\n%v\n", *path, err)
		return exitRefused
	}
	if *check {
		_, _ = fmt.Fprintf(out, "%s: good, checks: %d\n", *path, len(checks))
		return exitOK
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx, agentParts{config: c, checks: checks, token: token, log: log}); err != nil {
		log.ErrorContext(ctx, "end", "error", err.Error())
		return exitFailed
	}
	log.InfoContext(ctx, "end", "last_beat", heartbeat.StatusDraining)
	return exitOK
}

func load(path string) (config, []heartbeat.Check, string, error) {
	file, err := os.Open(path)
	if err != nil {
		return config{}, nil, "", fmt.Errorf("open: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	c, checks, err := read(file)
	if err != nil {
		return config{}, nil, "", err
	}
	token, err := c.token()
	return c, checks, token, err
}

type agentParts struct {
	config config
	checks []heartbeat.Check
	token  string
	log    *slog.Logger
}

// serve runs the agent and its server until the context ends.
func serve(ctx context.Context, p agentParts) error {
	source := metadata.New("")
	up := uptime()
	agent, err := heartbeat.New(heartbeat.Options{
		Connect: func(ctx context.Context) (*heartbeat.Writer, error) { return connect(ctx, source, p) },
		Leaving: source.Leaving,
		Checks:  p.checks, Nesting: p.config.nesting(), Every: time.Duration(p.config.Interval),
		// The start-up phase is the machine's: an agent that was started anew beside a broken application must say so at once.
		StartWithin: max(0, p.config.startWithin()-up), Log: p.log,
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", p.config.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/health", agent.Health(nil))
	mux.Handle("/debug/status", agent.Debug(p.token))
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: requestTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytesMax, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	p.log.InfoContext(ctx, "start", "version", version(), "listen", listener.Addr().String(), "checks", len(p.checks), "uptime", up.String())
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	// The server answers 503 while the last beat is written, and ends after it.
	err = agent.Run(ctx)
	_ = server.Close() // whoever still waits for an answer will ask another instance
	if serveErr := <-served; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("serve: %w", serveErr))
	}
	return err
}

// version is what the row tells as agent: the module's version, which the go command takes from the repository's tag.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "unknown"
	}
	return info.Main.Version
}

// uptime is how long the machine runs; 0 where the kernel does not tell, which makes the start-up phase begin now.
func uptime() time.Duration {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0
	}
	var seconds float64
	if _, err := fmt.Sscan(string(text), &seconds); err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds * float64(time.Second)).Truncate(time.Second)
}
