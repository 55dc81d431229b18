{{- define "tollgate.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /* They select pods and stand in claims: what is in here may never change, or an upgrade is refused. */ -}}
{{- define "tollgate.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "tollgate.labels" -}}
{{ include "tollgate.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "tollgate.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "tollgate.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "tollgate.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{- printf "%s@%s" .repository .digest -}}
{{- else -}}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* The pods that proxy, and those that have the dashboard: the same in `mode: single`. */ -}}
{{- define "tollgate.proxyComponent" -}}
{{- eq .Values.mode "single" | ternary "single" "proxy" -}}
{{- end -}}

{{- define "tollgate.controlComponent" -}}
{{- eq .Values.mode "single" | ternary "single" "control" -}}
{{- end -}}

{{- /* The address that an Ingress or HTTPRoute gives, or the one that was said. */ -}}
{{- define "tollgate.publicUrl" -}}
{{- if .publicUrl -}}
{{- .publicUrl -}}
{{- else if .ingress.enabled -}}
{{- printf "https://%s" .ingress.host -}}
{{- else if .httpRoute.enabled -}}
{{- printf "https://%s" .httpRoute.host -}}
{{- end -}}
{{- end -}}
