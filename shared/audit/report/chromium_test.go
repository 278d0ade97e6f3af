package report_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// browser is a headless Chromium, spoken to over pipes in its DevTools protocol: a message is JSON with a zero byte after it.
type browser struct {
	t       *testing.T
	in      io.Writer
	out     *bufio.Reader
	session string
	id      int
	// requests are the addresses that the page asked for.
	requests []string
}

// launch starts a browser with one empty tab, or skips the test with the reason.
func launch(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium is installed: what a browser makes of the page is not tested")
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "holdfast-browser")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	if err := cmd.Start(); err != nil {
		t.Skipf("Chromium does not start: %v", err)
	}
	t.Cleanup(func() {
		in.Close() // the end of its input ends a browser that is still there
		if err := cmd.Wait(); err != nil {
			t.Logf("the browser ended with %v", err)
		}
		out.Close()
		if err := os.RemoveAll(profile); err != nil {
			t.Logf("the browser's folder is not gone: %v", err)
		}
	})
	theirIn.Close()
	theirOut.Close()
	b := &browser{t: t, in: in, out: bufio.NewReader(out)}
	target := b.call("Target.createTarget", map[string]any{"url": "about:blank"})["targetId"]
	b.session, _ = b.call("Target.attachToTarget", map[string]any{"targetId": target, "flatten": true})["sessionId"].(string)
	t.Cleanup(func() { // before the other one
		b.session = ""
		b.send("Browser.close", nil)
	})
	for _, domain := range []string{"Page", "Network", "Runtime"} {
		b.call(domain+".enable", nil)
	}
	return b
}

// send sends a command.
func (b *browser) send(method string, params map[string]any) {
	b.t.Helper()
	b.id++
	message := map[string]any{"id": b.id, "method": method, "params": params}
	if params == nil {
		message["params"] = map[string]any{}
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		b.t.Error(err)
	}
}

// call sends a command and waits for its answer; events on the way are noted.
func (b *browser) call(method string, params map[string]any) map[string]any {
	b.t.Helper()
	b.send(method, params)
	for {
		answer := b.next()
		if answer.ID == b.id {
			if answer.Error.Message != "" {
				b.t.Fatalf("%s: %s", method, answer.Error.Message)
			}
			return answer.Result
		}
	}
}

type answer struct {
	ID     int
	Method string
	Result map[string]any
	Params struct{ Request struct{ URL string } }
	Error  struct{ Message string }
}

func (b *browser) next() answer {
	b.t.Helper()
	raw, err := b.out.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser is gone: %v", err)
	}
	var a answer
	if err := json.Unmarshal(bytes.TrimSuffix(raw, []byte{0}), &a); err != nil {
		b.t.Fatal(err)
	}
	if a.Method == "Network.requestWillBeSent" {
		b.requests = append(b.requests, a.Params.Request.URL)
	}
	return a
}

// open shows a page at a width and waits until it is loaded.
func (b *browser) open(file string, width int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
	b.call("Page.navigate", map[string]any{"url": "file://" + file})
	for b.next().Method != "Page.loadEventFired" { //nolint:revive // the reading is the waiting
	}
}

// eval computes an expression in the page; the page's policy does not bind the debugger.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	result := b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true})
	if failed := result["exceptionDetails"]; failed != nil {
		b.t.Fatalf("%s: %v", expression, failed)
	}
	value, _ := result["result"].(map[string]any)
	return value["value"]
}

// press presses a key as a person would.
func (b *browser) press(key string, code int) {
	b.t.Helper()
	text := map[string]string{"Enter": "\r", " ": " "}[key]
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": key, "windowsVirtualKeyCode": code, "text": text})
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "windowsVirtualKeyCode": code})
}

// screenshot keeps a picture where HOLDFAST_SCREENSHOTS says, for people to look at.
func (b *browser) screenshot(name string, whole bool) {
	b.t.Helper()
	dir := os.Getenv("HOLDFAST_SCREENSHOTS")
	if dir == "" {
		return
	}
	data, _ := b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": whole})["data"].(string)
	png, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// savePage writes a report as a page.
func savePage(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func column(table string, n int) string {
	return fmt.Sprintf(`Array.from(document.querySelectorAll(%q)).filter(r => !r.hidden).map(r => r.cells[%d].textContent.trim().split(/\s/)[0]).join(" ")`, table+" tbody tr", n)
}
