{{- define "orrery.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 52 characters: a StatefulSet adds a hash of 10 to it, in a label of 63. */}}
{{- define "orrery.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "orrery.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "orrery.selectorLabels" -}}
app.kubernetes.io/name: {{ include "orrery.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Of the Pods that take backups. */}}
{{- define "orrery.backupLabels" -}}
app.kubernetes.io/name: {{ include "orrery.name" . }}-backup
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "orrery.labels" -}}
{{ include "orrery.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "orrery.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "orrery.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "orrery.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* KubeStellar's chart calls these otherwise, and its values do here too. Two names with two values are a mistake. */}}
{{- define "orrery.externalHostname" -}}
{{- $theirs := default "" .Values.EXTERNAL_HOSTNAME -}}
{{- $ours := .Values.externalHostname -}}
{{- if and $ours $theirs (ne $ours $theirs) -}}
{{- fail (printf "externalHostname is %q and EXTERNAL_HOSTNAME is %q: give one of them" $ours $theirs) -}}
{{- end -}}
{{- default $theirs $ours -}}
{{- end -}}

{{- define "orrery.externalPort" -}}
{{- default .Values.externalPort .Values.EXTERNAL_PORT | int -}}
{{- end -}}

{{- define "orrery.inventories" -}}
{{- $theirs := default "" .Values.ENSURE_IMW | splitList "," -}}
{{- concat .Values.spaces.inventory $theirs | compact | uniq | join "," -}}
{{- end -}}

{{- define "orrery.workloads" -}}
{{- $theirs := default "" .Values.ENSURE_WMW | splitList "," -}}
{{- concat .Values.spaces.workload $theirs | compact | uniq | join "," -}}
{{- end -}}

{{- define "orrery.logLevel" -}}
{{- if ge (int (default 2 .Values.CONTROLLER_VERBOSITY)) 4 -}}debug{{- else -}}{{ .Values.logLevel }}{{- end -}}
{{- end -}}

{{- define "orrery.hasRoute" -}}
{{- if or .Values.route.enabled (eq (default "" .Values.clusterType) "OpenShift") -}}yes{{- end -}}
{{- end -}}

{{- define "orrery.tlsSecret" -}}
{{- if .Values.tls.certManager.enabled -}}
{{- include "orrery.fullname" . }}-tls
{{- else -}}
{{- .Values.tls.existingSecret -}}
{{- end -}}
{{- end -}}

{{/* Names by which what runs in the cluster reaches the Service. */}}
{{- define "orrery.serviceNames" -}}
{{- $name := include "orrery.fullname" . -}}
{{- $at := printf "%s.%s" $name .Release.Namespace -}}
{{- list (printf "%s.svc" $at) (printf "%s.svc.%s" $at .Values.clusterDomain) $at $name | join "," -}}
{{- end -}}

{{/* What no schema can say: each refusal says what, and what to do. */}}
{{- define "orrery.validate" -}}
{{- $host := include "orrery.externalHostname" . -}}
{{- range $way, $on := dict "ingress.enabled" .Values.ingress.enabled "route.enabled" (include "orrery.hasRoute" .) "gateway.enabled" .Values.gateway.enabled -}}
{{- if and $on (not $host) -}}
{{- fail (printf "%s needs externalHostname: the name by which clients come in, and by which the balancer finds the server" $way) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.gateway.enabled (not .Values.gateway.parentRefs) -}}
{{- fail "gateway.enabled needs gateway.parentRefs: which Gateway shall lead here, as - name: my-gateway" -}}
{{- end -}}
{{- if and .Values.tls.existingSecret .Values.tls.certManager.enabled -}}
{{- fail "tls.existingSecret and tls.certManager.enabled exclude each other: who makes the certificate?" -}}
{{- end -}}
{{- if and .Values.tls.certManager.enabled (not .Values.tls.certManager.issuerRef.name) -}}
{{- fail "tls.certManager.enabled needs tls.certManager.issuerRef.name: the Issuer, or with kind: ClusterIssuer that" -}}
{{- end -}}
{{- if and (include "orrery.tlsSecret" .) (not $host) -}}
{{- fail "a certificate in tls is for externalHostname: give that, too" -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.tokenAuth.existingSecret) -}}
{{- fail "metrics.serviceMonitor.enabled needs tokenAuth.existingSecret: a Secret whose tokens.csv has a line with group system:monitoring, and whose key token is that line's token" -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.kubeconfigSecret.enabled) -}}
{{- fail "metrics.serviceMonitor.enabled needs kubeconfigSecret.enabled: the Secret holds the authority that Prometheus trusts" -}}
{{- end -}}
{{- if and .Values.backup.enabled (not .Values.kubeconfigSecret.enabled) -}}
{{- fail "backup.enabled needs kubeconfigSecret.enabled: the Secret holds the kubeconfig with which archives are taken" -}}
{{- end -}}
{{- if and .Values.persistence.existingClaim (not .Values.persistence.enabled) -}}
{{- fail "persistence.existingClaim is given and persistence.enabled is false: shall the server keep its data, or not?" -}}
{{- end -}}
{{- $values := dict "data-dir" "persistence" "bind-address" "bindAddress" "secure-port" "securePort" "external-hostname" "externalHostname and extraHostnames" "external-port" "externalPort" "internal-address" "service.port" "kubeconfig-secret" "kubeconfigSecret" "ensure-imw" "spaces.inventory" "ensure-wmw" "spaces.workload" "tls-sni-cert-key" "tls" "external-ca-file" "tls" "token-auth-file" "tokenAuth" "log-level" "logLevel" -}}
{{- range $arg := .Values.extraArgs -}}
{{- $flag := regexReplaceAll "^--?([^=]*).*$" $arg "${1}" -}}
{{- if hasKey $values $flag -}}
{{- fail (printf "extraArgs has --%s, which the chart gives itself: say it by the value %s" $flag (get $values $flag)) -}}
{{- end -}}
{{- if has $flag (list "log-format") -}}
{{- fail (printf "extraArgs has --%s, which the chart gives itself: what it makes relies on that" $flag) -}}
{{- end -}}
{{- end -}}
{{- end -}}
