{{- define "labels" -}}
{ app.kubernetes.io/name: holdpoint, app.kubernetes.io/instance: {{ .root.Release.Name }}, app.kubernetes.io/component: {{ .component }} }
{{- end }}

{{- define "image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "secretEnv" -}}
{ name: {{ .name }}, valueFrom: { secretKeyRef: { name: {{ .root.Values.secret }}, key: {{ .name }}{{ if .optional }}, optional: true{{ end }} } } }
{{- end }}

{{- define "container" -}}
securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
{{- end }}

{{- define "probes" -}}
startupProbe: { httpGet: { path: /live, port: {{ . }} }, periodSeconds: 2, failureThreshold: 60 }
livenessProbe: { httpGet: { path: /live, port: {{ . }} }, periodSeconds: 10, timeoutSeconds: 5 }
readinessProbe: { httpGet: { path: /ready, port: {{ . }} }, periodSeconds: 5, timeoutSeconds: 5 }
{{- end }}

{{- define "pod" -}}
securityContext: { runAsNonRoot: true, runAsUser: {{ .user }}, runAsGroup: {{ .user }}, fsGroup: {{ .user }}, seccompProfile: { type: RuntimeDefault } }
automountServiceAccountToken: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: {{ include "labels" . }} }
{{- end }}

{{- define "disruption" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: {{ .root.Release.Name }}-{{ .component }} }
spec:
  maxUnavailable: 1
  selector: { matchLabels: {{ include "labels" . }} }
{{- end }}
