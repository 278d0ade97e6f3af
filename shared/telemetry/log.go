package telemetry

import (
	"io"
	"log/slog"
	"runtime/debug"
)

// Keys that every log line has.
const (
	KeyService   = "service"
	KeyFunction  = "function"
	KeyVersion   = "version"
	KeyRequestID = "request_id"
	KeyColdStart = "cold_start"
)

// NewLogger returns a logger that writes one JSON object a line to out, from info upwards, with service, function and version
// in each. Time, level and message have the keys under which Lambda and CloudWatch look for them.
// Source: Lambda developer guide, "Log and monitor Go Lambda functions", JSON log format.
func NewLogger(out io.Writer, function string) *slog.Logger {
	rename := func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) > 0 {
			return a
		}
		switch a.Key {
		case slog.TimeKey:
			a.Key = "timestamp"
		case slog.MessageKey:
			a.Key = "message"
		}
		return a
	}
	handler := slog.NewJSONHandler(out, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: rename})
	return slog.New(handler).With(KeyService, Service, KeyFunction, function, KeyVersion, Version())
}

// ForRequest adds what belongs to one invocation.
func ForRequest(log *slog.Logger, requestID string, coldStart bool) *slog.Logger {
	return log.With(KeyRequestID, requestID, KeyColdStart, coldStart)
}

// Version is the revision that the binary was built from, with "-dirty" if the sources had changed, or "unknown".
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	return revision + dirty
}
