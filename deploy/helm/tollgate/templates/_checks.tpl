{{- /* What contradicts itself is refused before anything is applied, in a line that says what to do. */ -}}
{{- define "tollgate.checks" -}}
{{- with .Values -}}
{{- if and (eq .mode "split") (not .database.existingSecret) -}}
{{- fail "database.existingSecret: name a Secret with the address of your PostgreSQL (kubectl create secret generic tollgate-database --from-literal=url=postgresql://…), or set mode=single for a pod with a PostgreSQL of its own" -}}
{{- end -}}
{{- if and (eq .proxy.kind "StatefulSet") (eq .proxy.spool.medium "node") -}}
{{- fail "proxy.spool.medium: a StatefulSet keeps its spool in claims; set proxy.spool.medium=volume, or proxy.kind=Deployment" -}}
{{- end -}}
{{- if and (gt (int .control.replicas) 1) (eq .mode "split") (not .adminToken.existingSecret) -}}
{{- fail "adminToken.existingSecret: several control pods need one token (kubectl create secret generic tollgate-admin --from-literal=token=$(openssl rand -hex 32))" -}}
{{- end -}}
{{- if and .proxy.autoscaling.enabled (gt (int .proxy.autoscaling.minReplicas) (int .proxy.autoscaling.maxReplicas)) -}}
{{- fail "proxy.autoscaling.maxReplicas: it is less than proxy.autoscaling.minReplicas" -}}
{{- end -}}
{{- range $name, $part := dict "proxy" .proxy "control" .control -}}
{{- range $kind, $way := dict "ingress" $part.ingress "httpRoute" $part.httpRoute -}}
{{- if and $way.enabled (not $way.host) -}}
{{- fail (printf "%s.%s.host: give the name under which it is reached" $name $kind) -}}
{{- end -}}
{{- end -}}
{{- if and $part.httpRoute.enabled (not $part.httpRoute.parentRefs) -}}
{{- fail (printf "%s.httpRoute.parentRefs: name the Gateway that it belongs to" $name) -}}
{{- end -}}
{{- end -}}
{{- if and (or .control.ingress.enabled .control.httpRoute.enabled) .networkPolicy.enabled (not .networkPolicy.controlFrom) -}}
{{- fail "networkPolicy.controlFrom: nobody may reach the dashboard; name the pods of your ingress controller or gateway" -}}
{{- end -}}
{{- if and .serviceMonitor.enabled (not .metricsToken.existingSecret) -}}
{{- fail "metricsToken.existingSecret: Prometheus needs a token (kubectl create secret generic tollgate-metrics --from-literal=token=$(openssl rand -hex 32))" -}}
{{- end -}}
{{- range $name, $value := .settings -}}
{{- if has $name (splitList " " (include "tollgate.ownSettings" $)) -}}
{{- fail (printf "settings.%s: the chart sets it itself, from its other values" $name) -}}
{{- end -}}
{{- if regexMatch "(_SECRET_ACCESS_KEY|_SESSION_TOKEN|^TOLLGATE_CREDENTIALS_KEY|^TOLLGATE_OIDC_CLIENT_SECRET|^TOLLGATE_SMTP_URL)$" $name -}}
{{- fail (printf "settings.%s: it is a secret, and would stand in the pods and in the values of the release; put it into a Secret, and name that in secretSettings" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
