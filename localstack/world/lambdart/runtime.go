package lambdart

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

// routes are the Runtime API.
func (e *environment) routes() http.Handler {
	mux := http.NewServeMux()
	const base = "/2018-06-01/runtime"
	mux.HandleFunc("GET "+base+"/invocation/next", e.next)
	mux.HandleFunc("POST "+base+"/invocation/{id}/response", func(w http.ResponseWriter, r *http.Request) { e.finish(w, r, false) })
	mux.HandleFunc("POST "+base+"/invocation/{id}/error", func(w http.ResponseWriter, r *http.Request) { e.finish(w, r, true) })
	mux.HandleFunc("POST "+base+"/init/error", e.failInit)
	return mux
}

// next waits for an event. The first call tells that the process is ready.
func (e *environment) next(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	first := !e.ready
	e.ready = true
	e.mu.Unlock()
	if first {
		e.function.recordStart(time.Since(e.started))
	}
	var inv *invocation
	select {
	case inv = <-e.work:
	case <-r.Context().Done():
		return
	}
	e.mu.Lock()
	e.current = inv
	e.mu.Unlock()
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
	h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(inv.timeout).UnixMilli(), 10))
	h.Set("Lambda-Runtime-Invoked-Function-Arn", e.function.ARN())
	// A process that is gone is noticed by watch; there is nobody to tell here.
	_, _ = w.Write(inv.payload)
}

func (f *Function) recordStart(took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.starts = append(f.starts, took)
}

// finish takes the answer to the current invocation; any other ID is refused.
func (e *environment) finish(w http.ResponseWriter, r *http.Request, failed bool) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPayload+1))
	if err != nil {
		status(w, http.StatusBadRequest, `{"errorMessage":"body cannot be read","errorType":"InvalidRequest"}`)
		return
	}
	e.mu.Lock()
	inv := e.current
	if inv != nil && inv.id == r.PathValue("id") {
		e.current = nil
	} else {
		inv = nil
	}
	e.mu.Unlock()
	if inv == nil {
		status(w, http.StatusBadRequest, `{"errorMessage":"Invalid request ID","errorType":"InvalidRequestID"}`)
		return
	}
	if len(body) > maxPayload {
		inv.done <- answer{[]byte(`{"errorMessage":"Response payload size exceeded maximum allowed payload size (6291456 bytes).","errorType":"Function.ResponseSizeTooLarge"}`), true}
		status(w, http.StatusRequestEntityTooLarge, `{"errorMessage":"Exceeded maximum allowed payload size","errorType":"RequestEntityTooLarge"}`)
		return
	}
	inv.done <- answer{body, failed}
	status(w, http.StatusAccepted, `{"status":"OK"}`)
}

// failInit keeps why the process could not start; it exits by itself afterwards.
func (e *environment) failInit(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPayload))
	if err != nil {
		status(w, http.StatusBadRequest, `{"errorMessage":"body cannot be read","errorType":"InvalidRequest"}`)
		return
	}
	e.mu.Lock()
	e.initError = body
	e.mu.Unlock()
	status(w, http.StatusAccepted, `{"status":"OK"}`)
}

func status(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(body)) // the process is on this machine; if it is gone, watch knows
}
