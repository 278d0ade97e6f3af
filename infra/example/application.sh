# The example's service, which an image would bring along.
install -d -m 0755 /opt/example
cat >/opt/example/site.py <<'PYTHON'
SITE
PYTHON
cat >/etc/systemd/system/example-web.service <<'UNIT'
[Unit]
Description=The page of the Holdfast example
After=network.target

[Service]
ExecStart=/usr/bin/python3 /opt/example/site.py PORT
Restart=always
RestartSec=2
DynamicUser=yes
ProtectSystem=strict
ProtectHome=yes
PrivateDevices=yes
NoNewPrivileges=yes

[Install]
WantedBy=multi-user.target
UNIT
systemctl daemon-reload
systemctl enable --now example-web.service
