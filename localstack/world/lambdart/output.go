package lambdart

import "sync"

// maxOutput bounds what is kept of a function's output, in bytes.
const maxOutput = 1 << 20

// output keeps the end of what was written to it.
type output struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	if extra := len(o.text) - maxOutput; extra > 0 {
		o.text = append([]byte(nil), o.text[extra:]...)
	}
	return len(p), nil
}

// String returns what is kept.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text)
}
