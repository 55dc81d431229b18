{{- /* All that the chart sets, so that `settings` cannot give one of them a second value. */ -}}
{{- define "tollgate.ownSettings" -}}
TOLLGATE_ROLE TOLLGATE_NODE TOLLGATE_DATA_DIR TOLLGATE_HOST TOLLGATE_PORT TOLLGATE_ADMIN_HOST TOLLGATE_ADMIN_PORT TOLLGATE_ADMIN_EXPOSED TOLLGATE_PUBLIC_URL TOLLGATE_ADMIN_PUBLIC_URL TOLLGATE_TRUSTED_PROXIES TOLLGATE_STOP_DELAY_SECONDS TOLLGATE_DRAIN_SECONDS TOLLGATE_WORKERS TOLLGATE_TLS_CERT TOLLGATE_TLS_KEY DATABASE_URL DATABASE_URL_FILE TOLLGATE_ADMIN_TOKEN TOLLGATE_ADMIN_TOKEN_FILE TOLLGATE_METRICS_TOKEN TOLLGATE_METRICS_TOKEN_FILE
{{- end -}}

{{- /* Takes the name of a setting and a role: empty when pods of that role do without. People sign in and mail goes out at
control; calls to AWS are signed where calls are forwarded, and control needs no secret of that. */ -}}
{{- define "tollgate.isForRole" -}}
{{- if eq .role "proxy" -}}
{{- if not (regexMatch "^TOLLGATE_(OIDC_|SMTP_)" .name) -}}yes{{- end -}}
{{- else if eq .role "control" -}}
{{- if not (regexMatch "^TOLLGATE_AWS_.*_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)$" .name) -}}yes{{- end -}}
{{- else -}}yes
{{- end -}}
{{- end -}}

{{- /* Takes root, component, pod (its values) and role. */ -}}
{{- define "tollgate.env" -}}
{{- $values := .root.Values -}}
- { name: TOLLGATE_ROLE, value: {{ .role }} }
- { name: TOLLGATE_DATA_DIR, value: /data/tollgate }
- name: TOLLGATE_NODE
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- { name: TOLLGATE_ADMIN_HOST, value: {{ $values.listen | quote }} }
- { name: TOLLGATE_ADMIN_PORT, value: "4142" }
- { name: TOLLGATE_ADMIN_EXPOSED, value: "yes" }
- { name: TOLLGATE_STOP_DELAY_SECONDS, value: {{ $values.stop.delaySeconds | quote }} }
{{- if ne .role "control" }}
- { name: TOLLGATE_HOST, value: {{ $values.listen | quote }} }
- { name: TOLLGATE_PORT, value: "4141" }
- { name: TOLLGATE_WORKERS, value: {{ .pod.workers | quote }} }
- { name: TOLLGATE_DRAIN_SECONDS, value: {{ $values.stop.drainSeconds | quote }} }
{{- if $values.proxy.tls.existingSecret }}
- { name: TOLLGATE_TLS_CERT, value: /etc/tollgate/tls/tls.crt }
- { name: TOLLGATE_TLS_KEY, value: /etc/tollgate/tls/tls.key }
{{- end }}
{{- end }}
{{- with $values.trustedProxies }}
- { name: TOLLGATE_TRUSTED_PROXIES, value: {{ join "," . | quote }} }
{{- end }}
{{- $clients := include "tollgate.publicUrl" $values.proxy }}
{{- /* Control asks the proxies whether they answer, and shows where they are. */}}
{{- $inside := printf "http://%s.%s:%v" (include "tollgate.fullname" .root) .root.Release.Namespace $values.proxy.service.port }}
{{- if and (eq .role "control") (empty $values.proxy.tls.existingSecret) }}
{{- $clients = default $inside $clients }}
{{- end }}
{{- with $clients }}
- { name: TOLLGATE_PUBLIC_URL, value: {{ . | quote }} }
{{- end }}
{{- if ne .role "proxy" }}
{{- with include "tollgate.publicUrl" $values.control }}
- { name: TOLLGATE_ADMIN_PUBLIC_URL, value: {{ . | quote }} }
{{- end }}
{{- end }}
{{- if $values.database.existingSecret }}
- { name: DATABASE_URL_FILE, value: /etc/tollgate/secrets/database-url }
{{- end }}
{{- if and $values.adminToken.existingSecret (ne .role "proxy") }}
- { name: TOLLGATE_ADMIN_TOKEN_FILE, value: /etc/tollgate/secrets/admin-token }
{{- end }}
{{- if $values.metricsToken.existingSecret }}
- { name: TOLLGATE_METRICS_TOKEN_FILE, value: /etc/tollgate/secrets/metrics-token }
{{- end }}
{{- $role := .role }}
{{- range $name, $value := $values.settings }}
{{- if include "tollgate.isForRole" (dict "name" $name "role" $role) }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}
{{- range $values.secretSettings }}
{{- if include "tollgate.isForRole" (dict "name" .name "role" $role) }}
- { name: {{ .name }}_FILE, value: /etc/tollgate/secrets/{{ .name }} }
{{- end }}
{{- end }}
{{- with .pod.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* The secrets of a pod in one folder; it is renewed in place when a Secret changes. */ -}}
{{- define "tollgate.secretSources" -}}
{{- $values := .root.Values -}}
{{- if $values.database.existingSecret }}
- secret:
    name: {{ $values.database.existingSecret }}
    items: [{ key: {{ $values.database.key | quote }}, path: database-url }]
{{- end }}
{{- if and $values.adminToken.existingSecret (ne .role "proxy") }}
- secret:
    name: {{ $values.adminToken.existingSecret }}
    items: [{ key: {{ $values.adminToken.key | quote }}, path: admin-token }]
{{- end }}
{{- if $values.metricsToken.existingSecret }}
- secret:
    name: {{ $values.metricsToken.existingSecret }}
    items: [{ key: {{ $values.metricsToken.key | quote }}, path: metrics-token }]
{{- end }}
{{- $role := .role }}
{{- range $values.secretSettings }}
{{- if include "tollgate.isForRole" (dict "name" .name "role" $role) }}
- secret:
    name: {{ .secret }}
    items: [{ key: {{ .key | quote }}, path: {{ .name }} }]
{{- end }}
{{- end }}
{{- end -}}
