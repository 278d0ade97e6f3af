#!/bin/bash
# User data for an instance whose image has the agent's binary at /usr/local/bin/holdfast-heartbeat and the unit beside systemd's own.
# HOLDFAST_TABLE is filled in by the CDK example. Nothing here ends the boot: an instance without an agent is told by Holdfast as
# heartbeat-coverage, and is not replaced for it.
set -u

install -d -m 0755 /etc/holdfast
if [ ! -e /etc/holdfast/heartbeat.yaml ]; then
	cat >/etc/holdfast/heartbeat.yaml <<'YAML'
table: ${HOLDFAST_TABLE}
interval: 10s
listen: 127.0.0.1:9180
start_within: 5m
checks:
  - name: root-disk
    type: disk
    path: /var/lib
    free_bytes: 500MiB
    free_inodes: 1000
  - name: app
    type: http
    url: http://127.0.0.1:80/orders/health-probe
    timeout: 1500ms
YAML
fi
chmod 0644 /etc/holdfast/heartbeat.yaml

systemctl daemon-reload
systemctl enable --now holdfast-heartbeat.service
