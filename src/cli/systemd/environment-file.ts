/** The template of a service's settings file, and what is read from such a file. */

export function formatEnvironmentFile(unit: string, credentialsDir: string): string {
  return `# Settings of Tollgate as a service, NAME=value, one a line. What is commented out shows the default.
# After a change:  systemctl restart ${unit}
# All settings:    README, "Settings". The data directory is given by the unit, and not here.

# Where clients reach it. 0.0.0.0 is every address of this machine: without TLS only behind a proxy or in a private network.
#TOLLGATE_HOST=127.0.0.1
#TOLLGATE_PORT=4141
# The address that clients use, when it is another one.
#TOLLGATE_PUBLIC_URL=https://gateway.example.com
# TLS of its own: files that the user of the service may read (chgrp tollgate, chmod 640). A renewal is seen by itself.
#TOLLGATE_TLS_CERT=/etc/tollgate/tls/fullchain.pem
#TOLLGATE_TLS_KEY=/etc/tollgate/tls/privkey.pem
# Proxies in front of it, whose X-Forwarded-For is believed.
#TOLLGATE_TRUSTED_PROXIES=10.0.0.0/8

# Dashboard and API; from your desk: ssh -L 4142:127.0.0.1:4142 THIS_MACHINE
#TOLLGATE_ADMIN_HOST=127.0.0.1
#TOLLGATE_ADMIN_PORT=4142

# Without DATABASE_URL the gateway runs a PostgreSQL of its own. It holds a password, so better not here but in the file
#   ${credentialsDir}/DATABASE_URL
# that root alone may read; then once more: tollgate service install. The same for TOLLGATE_ADMIN_TOKEN,
# TOLLGATE_METRICS_TOKEN, TOLLGATE_CREDENTIALS_KEY, TOLLGATE_OIDC_CLIENT_SECRET and TOLLGATE_SMTP_URL.

#TOLLGATE_WORKERS=2
#TOLLGATE_BODIES=full
#TOLLGATE_SEARCH=on
#TOLLGATE_RETENTION_ROWS=90
#TOLLGATE_RETENTION_BODIES=14
#TOLLGATE_STOP_DELAY_SECONDS=5
#TOLLGATE_DRAIN_SECONDS=30

# People sign in at your identity provider; it needs the dashboard behind TLS, its address, and the secret as a file (above).
#TOLLGATE_ADMIN_PUBLIC_URL=https://dashboard.example.com
#TOLLGATE_OIDC_ISSUER=https://login.example.com
#TOLLGATE_OIDC_CLIENT_ID=tollgate
#TOLLGATE_OIDC_GROUPS=engineers=1:member,leads=1:owner

# Alerts by mail, with TOLLGATE_SMTP_URL as a file (above), and hosts inside your network that alerts may be sent to.
#TOLLGATE_SMTP_FROM=tollgate@localhost
#TOLLGATE_ALERT_HOSTS=hooks.internal

# The way out, where there is none but through a proxy.
#HTTPS_PROXY=http://proxy.example.com:3128
#NO_PROXY=127.0.0.1,localhost
`;
}

export function hasLowPort(environmentFile: string): boolean {
  const ports = environmentFile.matchAll(/^\s*TOLLGATE_(?:ADMIN_)?PORT\s*=\s*["']?(\d{1,5})/gm);
  return [...ports].some(([, port]) => Number(port) > 0 && Number(port) < 1024);
}
