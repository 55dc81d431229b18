{{- define "tollgate.claim" -}}
accessModes:
  {{- toYaml .accessModes | nindent 2 }}
{{- with .storageClass }}
storageClassName: {{ . }}
{{- end }}
resources:
  requests:
    storage: {{ .size }}
{{- end -}}

{{- /* A volume that is made with its pod and goes with it. */ -}}
{{- define "tollgate.spoolVolume" -}}
{{- if eq .pod.spool.medium "volume" -}}
ephemeral:
  volumeClaimTemplate:
    metadata:
      labels:
        {{- include "tollgate.selector" . | nindent 8 }}
    spec:
      {{- include "tollgate.claim" .pod.spool | nindent 6 }}
{{- else -}}
emptyDir:
  sizeLimit: {{ .pod.spool.size }}
{{- end -}}
{{- end -}}
