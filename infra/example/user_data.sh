#!/bin/bash
# The example's service and its heartbeat. Both are local: /health says that this machine serves, and asks nobody else. The row is the one
# that any agent writes: its key is the instance's own ARN, which is all that the instance's role lets it write.
set -eu
install -d -m 755 /opt/example/www
echo ok >/opt/example/www/health
echo 'Holdfast guards this page.' >/opt/example/www/index.html

cat >/opt/example/heartbeat.sh <<'AGENT'
#!/bin/bash
set -u
imds=http://169.254.169.254/latest
get() {
	local token
	token=$(curl -sf -m 2 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' "$imds/api/token") || return 1
	curl -sf -m 2 -H "X-aws-ec2-metadata-token: $token" "$imds/$1"
}
document=$(get dynamic/instance-identity/document)
field() { sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p" <<<"$document"; }
region=$(field region)
key="arn:$(get meta-data/services/partition):ec2:$region:$(field accountId):instance/$(field instanceId)"
boot=$(cat /proc/sys/kernel/random/boot_id)
seq=0
while true; do
	seq=$((seq + 1))
	status=ok
	failing='{"L":[]}'
	if ! curl -sf -m 2 -o /dev/null http://127.0.0.1:PORT/health; then
		status=failing
		failing='{"L":[{"S":"http"}]}'
	fi
	state=$(get meta-data/autoscaling/target-lifecycle-state) || state=InService
	[ "$state" = InService ] || status=draining
	now=$(date +%s)
	timeout 8 aws dynamodb update-item --region "$region" --table-name TABLE --key "{\"pk\":{\"S\":\"$key\"}}" \
		--update-expression 'SET #beat = :beat, #seq = :seq, #boot = :boot, #status = :status, #failing = :failing, #agent = :agent, #expires = :expires' \
		--expression-attribute-names '{"#beat":"beat","#seq":"seq","#boot":"boot","#status":"status","#failing":"failing","#agent":"agent","#expires":"expires"}' \
		--expression-attribute-values "{\":beat\":{\"N\":\"${now}000\"},\":seq\":{\"N\":\"$seq\"},\":boot\":{\"S\":\"$boot\"},\":status\":{\"S\":\"$status\"},\":failing\":$failing,\":agent\":{\"S\":\"example\"},\":expires\":{\"N\":\"$((now + 86400))\"}}" ||
		echo "the heartbeat was not written"
	sleep 15
done
AGENT

unit() {
	cat >"/etc/systemd/system/$1.service" <<UNIT
[Unit]
After=network-online.target
[Service]
ExecStart=$2
Restart=always
RestartSec=2
[Install]
WantedBy=multi-user.target
UNIT
	systemctl enable --now "$1.service"
}
systemctl daemon-reload
unit example-web '/usr/bin/python3 -m http.server --directory /opt/example/www PORT'
unit example-heartbeat '/bin/bash /opt/example/heartbeat.sh'
