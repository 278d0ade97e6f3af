package metadata_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/holdfast-aws/holdfast/shared/heartbeat/metadata"
)

// service is a metadata service of version 2: without a token it answers nothing.
type service struct {
	answers map[string]string
	status  int // answers every question when not 0
	v1      int
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.status != 0:
		w.WriteHeader(s.status)
		return
	case r.Method == http.MethodPut && r.URL.Path == "/latest/api/token":
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
		_, _ = w.Write([]byte("token"))
		return
	case r.Header.Get("X-Aws-Ec2-Metadata-Token") != "token":
		s.v1++
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	answer, ok := s.answers[strings.TrimPrefix(r.URL.Path, "/latest/")]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = w.Write([]byte(answer))
}

func serve(t *testing.T, s *service) *metadata.Source {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return metadata.New(server.URL)
}

func answers() map[string]string {
	return map[string]string{
		"dynamic/instance-identity/document":                `{"accountId":"111122223333","region":"cn-north-1","instanceId":"i-0a"}`,
		"meta-data/services/partition":                      "aws-cn\n",
		"meta-data/tags/instance/aws:autoscaling:groupName": "web",
		"meta-data/autoscaling/target-lifecycle-state":      "InService",
	}
}

func TestWhichInstanceThisIs(t *testing.T) {
	s := &service{answers: answers()}
	i, err := serve(t, s).Instance(t.Context())
	if err != nil || i.Key() != "arn:aws-cn:ec2:cn-north-1:111122223333:instance/i-0a" || i.Group != "web" || s.v1 != 0 {
		t.Errorf("instance %+v, error %v, %d questions without a token", i, err, s.v1)
	}
	delete(s.answers, "meta-data/tags/instance/aws:autoscaling:groupName")
	if i, err := serve(t, s).Instance(t.Context()); err != nil || i.Group != "" {
		t.Errorf("without tags in the metadata: %+v, error %v", i, err)
	}
	delete(s.answers, "meta-data/services/partition")
	if _, err := serve(t, s).Instance(t.Context()); err == nil {
		t.Error("without a partition there is no error")
	}
	s = &service{answers: answers()}
	s.answers["dynamic/instance-identity/document"] = `{"region":"cn-north-1"}`
	if _, err := serve(t, s).Instance(t.Context()); err == nil || !strings.Contains(err.Error(), "want no empty field") {
		t.Errorf("error %v", err)
	}
}

func TestWhetherItLeaves(t *testing.T) {
	for _, c := range []struct {
		state   string
		leaving bool
	}{
		{"InService", false}, {"Terminated", true}, {"Standby", true}, {"Detached", true}, {"Warmed:Stopped", true}, {"Warmed:Running", true}, {"", false},
	} {
		s := &service{answers: answers()}
		s.answers["meta-data/autoscaling/target-lifecycle-state"] = c.state
		if c.state == "" {
			delete(s.answers, "meta-data/autoscaling/target-lifecycle-state") // no group, or an old instance
		}
		leaving, err := serve(t, s).Leaving(t.Context())
		if err != nil || leaving != c.leaving {
			t.Errorf("%q: leaving %v, error %v", c.state, leaving, err)
		}
	}
}

func TestATrueAnswerOrNone(t *testing.T) {
	for name, status := range map[string]int{"switched off": http.StatusForbidden, "broken": http.StatusInternalServerError} {
		source := serve(t, &service{status: status})
		if _, err := source.Instance(t.Context()); err == nil {
			t.Errorf("%s: an instance is told", name)
		}
		if _, err := source.Leaving(t.Context()); err == nil {
			t.Errorf("%s: it is told whether it leaves", name)
		}
	}
	gone := metadata.New("http://127.0.0.1:1")
	if _, err := gone.Leaving(t.Context()); err == nil {
		t.Error("without a service it is told whether it leaves")
	}
	// A service of version 1 hands out no token; the source asks it nothing.
	asked := 0
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		asked++
		_, _ = w.Write([]byte("InService"))
	}))
	defer old.Close()
	if _, err := metadata.New(old.URL).Leaving(t.Context()); err == nil || asked != 0 {
		t.Errorf("error %v, %d questions without a token", err, asked)
	}
}

func TestBootIsOneTextPerBoot(t *testing.T) {
	boot := metadata.Boot()
	if boot == "" || len(boot) > 256 || strings.TrimSpace(boot) != boot {
		t.Errorf("boot %q", boot)
	}
}
