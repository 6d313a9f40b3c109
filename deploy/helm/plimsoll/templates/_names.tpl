{{- define "plimsoll.name" -}}
{{- if contains "plimsoll" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-plimsoll{{ end -}}
{{- end }}

{{- define "plimsoll.selector" -}}
app.kubernetes.io/name: plimsoll
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "plimsoll.labels" -}}
{{ include "plimsoll.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "plimsoll.image" -}}
{{ .Values.image.repository }}{{ with .Values.image.digest }}@{{ . }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "plimsoll.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (ternary (include "plimsoll.name" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- /* What a pod and a container may do. */}}
{{- define "plimsoll.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "plimsoll.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- /* The number of bytes of a setting such as 10MiB. */}}
{{- define "plimsoll.bytes" -}}
{{- $unit := regexFind "[A-Za-z]*$" . }}
{{- $factors := dict "" 1 "B" 1 "KB" 1000 "kB" 1000 "MB" 1000000 "GB" 1000000000 "KiB" 1024 "MiB" 1048576 "GiB" 1073741824 }}
{{- mul (regexFind "^[0-9]+" .) (get $factors $unit) }}
{{- end }}

{{- /* The ports of whom the daemon asks by settings: 443 for what they name, and those of addresses. */}}
{{- define "plimsoll.upstreamPorts" -}}
{{- $urls := dict }}
{{- range $key, $value := .Values.settings }}
  {{- if regexMatch "^(upstream|issuer|oidc|webhook)[.]|^cdn[.]purge_url$" $key }}{{ $_ := set $urls $key $value }}{{ end }}
{{- end }}
{{- if $urls }}
  {{- $_ := set $urls "endpoint" (index .Values.settings "storage.endpoint" | default "") }}
  {{- range .Values.extraEnv }}
    {{- if eq (upper .name) "HTTPS_PROXY" }}{{ $_ := set $urls .name (.value | default "") }}{{ end }}
  {{- end }}
  {{- $ports := list "443" }}
  {{- range $urls }}
    {{- $host := regexFind "^(sparse\\+)?https?://[^/]+" . }}
    {{- $port := regexFind "[0-9]+$" (regexFind ":[0-9]+$" $host) }}
    {{- if $host }}{{ $ports = append $ports ($port | default (ternary "80" "443" (contains "http://" $host))) }}{{ end }}
  {{- end }}
  {{- $ports | uniq | sortAlpha | join " " }}
{{- end }}
{{- end }}

{{- /* What asks the daemon: HTTPS if it has a certificate. */}}
{{- define "plimsoll.scheme" -}}
{{ ternary "HTTPS" "HTTP" (hasKey .Values.settings "tls.cert") }}
{{- end }}

{{- define "plimsoll.env" -}}
{{- $settings := dict "registry.base_url" .Values.baseUrl }}
{{- with .Values.trustedProxies }}{{ $_ := set $settings "server.trusted_proxies" (join "," .) }}{{ end }}
{{- range $key, $value := mergeOverwrite $settings .Values.settings }}
{{- /* The image has the other name of this one. */}}
- name: {{ if eq $key "server.listen" }}PLIMSOLL_LISTEN{{ else }}PLIMSOLL_{{ $key | replace "." "_" | replace "-" "_" | upper }}{{ end }}
  value: {{ $value | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
