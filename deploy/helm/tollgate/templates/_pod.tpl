{{- /* The template of every pod of the gateway. Takes root, component, pod (its values), role, and volume (or nothing). */ -}}
{{- define "tollgate.pod" -}}
{{- $values := .root.Values -}}
{{- $selector := include "tollgate.selector" . -}}
{{- $secrets := include "tollgate.secretSources" . -}}
{{- $drainSeconds := eq .role "control" | ternary 0 (int $values.stop.drainSeconds) -}}
metadata:
  labels:
    {{- include "tollgate.labels" . | nindent 4 }}
    {{- with .pod.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    kubectl.kubernetes.io/default-container: tollgate
    {{- with .pod.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- with $values.image.pullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  serviceAccountName: {{ include "tollgate.serviceAccount" .root }}
  automountServiceAccountToken: false
  # Off, or a Service of the name `tollgate` would put its own address into TOLLGATE_PORT.
  enableServiceLinks: false
  # Delay and drain, then the last records and the end of the processes.
  terminationGracePeriodSeconds: {{ add $values.stop.delaySeconds $drainSeconds 25 }}
  {{- with .pod.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .pod.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .pod.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .pod.affinity }}
  affinity:
    {{- toYaml .pod.affinity | nindent 4 }}
  {{- else if ne .component "single" }}
  affinity:
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 100
          podAffinityTerm:
            topologyKey: kubernetes.io/hostname
            labelSelector:
              matchLabels:
                {{- $selector | nindent 16 }}
  {{- end }}
  {{- if .pod.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml .pod.topologySpreadConstraints | nindent 4 }}
  {{- else if ne .component "single" }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- $selector | nindent 10 }}
  {{- end }}
  securityContext:
    {{- toYaml $values.podSecurityContext | nindent 4 }}
  containers:
    - name: tollgate
      image: {{ include "tollgate.image" .root }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      env:
        {{- include "tollgate.env" . | nindent 8 }}
      ports:
        {{- if ne .role "control" }}
        - { name: proxy, containerPort: 4141 }
        {{- end }}
        - { name: admin, containerPort: 4142 }
      {{- include "tollgate.probes" . | nindent 6 }}
      resources:
        {{- include "tollgate.resources" . | nindent 8 }}
      securityContext:
        {{- toYaml $values.containerSecurityContext | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /data }
        {{- if $secrets }}
        - { name: secrets, mountPath: /etc/tollgate/secrets, readOnly: true }
        {{- end }}
        {{- if $values.database.caSecret }}
        - { name: database-ca, mountPath: /etc/tollgate/database-ca, readOnly: true }
        {{- end }}
        {{- if and $values.proxy.tls.existingSecret (ne .role "control") }}
        - { name: tls, mountPath: /etc/tollgate/tls, readOnly: true }
        {{- end }}
        {{- with .pod.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  {{- $volumes := include "tollgate.volumes" (merge (dict "secrets" $secrets) .) }}
  {{- if $volumes }}
  volumes:
    {{- $volumes | nindent 4 }}
  {{- end }}
{{- end -}}

{{- /* A spool on the node's disk is asked for there, so that the node is not short of it later. */ -}}
{{- define "tollgate.resources" -}}
{{- $own := deepCopy .pod.resources -}}
{{- if and (eq .role "proxy") (eq .root.Values.proxy.spool.medium "node") -}}
{{- $own = mergeOverwrite (dict "requests" (dict "ephemeral-storage" .root.Values.proxy.spool.size)) $own -}}
{{- end -}}
{{- toYaml $own -}}
{{- end -}}

{{- /* Without `volume` the data lie in a claim of the StatefulSet. */ -}}
{{- define "tollgate.volumes" -}}
{{- $values := .root.Values -}}
{{- if .volume }}
- name: data
  {{- .volume | nindent 2 }}
{{- end }}
{{- if .secrets }}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- .secrets | nindent 6 }}
{{- end }}
{{- with $values.database.caSecret }}
- name: database-ca
  secret:
    secretName: {{ . }}
    items: [{ key: ca.crt, path: ca.crt }]
{{- end }}
{{- if and $values.proxy.tls.existingSecret (ne .role "control") }}
- name: tls
  secret:
    secretName: {{ $values.proxy.tls.existingSecret }}
    defaultMode: 0440
{{- end }}
{{- with .pod.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /*
Readiness follows the announcement of a stop. Liveness asks only whether the gateway works, and patiently: it starts
processes that die by itself, and a restart cuts every open call. It never runs on a pod that drains: the kubelet
stops it with SIGTERM.
*/ -}}
{{- define "tollgate.probes" -}}
{{- $port := eq .role "control" | ternary "admin" "proxy" -}}
{{- $scheme := or (empty .root.Values.proxy.tls.existingSecret) (eq .role "control") | ternary "HTTP" "HTTPS" -}}
startupProbe:
  httpGet: { path: {{ eq .role "control" | ternary "/healthz" "/readyz" }}, port: {{ $port }}, scheme: {{ $scheme }} }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 150
readinessProbe:
  httpGet: { path: /readyz, port: {{ $port }}, scheme: {{ $scheme }} }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 2
{{- if .pod.probes.liveness }}
livenessProbe:
  httpGet: { path: /healthz, port: {{ $port }}, scheme: {{ $scheme }} }
  periodSeconds: 20
  timeoutSeconds: 10
  failureThreshold: 6
{{- end }}
{{- end -}}
