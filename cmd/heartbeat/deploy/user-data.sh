#!/bin/bash
# User data that brings the heartbeat agent to an instance. What stands in double braces is filled in by package deploy, or by hand.
# Nothing here ends the boot: an instance without an agent is told by Holdfast as heartbeat-coverage, and is not replaced for it.
set -u
{{with .Application}}
{{.}}
{{end}}
install -d -m 0755 /etc/holdfast
if [ ! -e /etc/holdfast/heartbeat.yaml ]; then
	cat >/etc/holdfast/heartbeat.yaml <<'YAML'
table: '{{.Table}}'
interval: 10s
listen: 127.0.0.1:9180
start_within: 5m
handler_timeout: {{.Handler.Milliseconds}}ms
probe_timeout: {{.Probe.Milliseconds}}ms
probe_interval: {{.Interval.Milliseconds}}ms
checks:
  - name: root-disk
    type: disk
    path: /var/lib
    free_bytes: 500MiB
    free_inodes: 1000
  - name: app-unit
    type: systemd
    unit: '{{.Unit}}'
  - name: app
    type: http
    url: '{{.URL}}'
    timeout: 1500ms
YAML
fi
chmod 0644 /etc/holdfast/heartbeat.yaml

cat >/etc/systemd/system/holdfast-heartbeat.service <<'UNIT'
{{.Service}}UNIT
{{with .Agent}}
# The instance's role may become valid a little after the instance starts.
fetched=no
for _ in {1..30}; do
	if aws s3 cp --only-show-errors --region '{{$.Region}}' '{{.}}' /usr/local/bin/holdfast-heartbeat.new; then
		fetched=yes
		break
	fi
	sleep 10
done
if [ "$fetched" = yes ]; then
	chmod 0755 /usr/local/bin/holdfast-heartbeat.new
	mv /usr/local/bin/holdfast-heartbeat.new /usr/local/bin/holdfast-heartbeat
else
	echo 'the heartbeat agent could not be fetched' >&2
fi
{{end}}
systemctl daemon-reload
systemctl enable --now holdfast-heartbeat.service
