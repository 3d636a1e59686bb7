{{- define "syncer.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 52 characters: a Deployment adds hashes to it. */}}
{{- define "syncer.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "syncer.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "syncer.selectorLabels" -}}
app.kubernetes.io/name: {{ include "syncer.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "syncer.labels" -}}
{{ include "syncer.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "syncer.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "syncer.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "syncer.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "syncer.mailboxSecret" -}}
{{- if .Values.mailbox.existingSecret -}}
{{- .Values.mailbox.existingSecret -}}
{{- else -}}
{{- include "syncer.fullname" . }}-mailbox
{{- end -}}
{{- end -}}

{{- define "syncer.isLimited" -}}
{{- if or .Values.impersonate (kindIs "slice" .Values.allow.namespaces) (kindIs "slice" .Values.allow.kinds) (kindIs "slice" .Values.allow.clusterScoped) -}}yes{{- end -}}
{{- end -}}

{{/* What no schema can say: each refusal says what, and what to do. */}}
{{- define "syncer.validate" -}}
{{- if and .Values.mailbox.existingSecret .Values.mailbox.kubeconfig -}}
{{- fail "mailbox.existingSecret and mailbox.kubeconfig exclude each other: which of them is the mailbox's kubeconfig?" -}}
{{- end -}}
{{- /* "required" lets a bare "helm lint" pass */ -}}
{{- $_ := required "the syncer needs the kubeconfig of its mailbox: make it in the center with \"kubectl kubestellar prep-for-syncer NAME --kubeconfig-output FILE\" and give it with --set-file mailbox.kubeconfig=FILE, or as mailbox.existingSecret" (or .Values.mailbox.existingSecret .Values.mailbox.kubeconfig) -}}
{{- if and .Values.mailbox.kubeconfig (not (contains "current-context" .Values.mailbox.kubeconfig)) -}}
{{- fail "mailbox.kubeconfig is the text of a kubeconfig, not its path: give it with --set-file mailbox.kubeconfig=FILE" -}}
{{- end -}}
{{- if and .Values.mailbox.bootstrap (not .Values.syncTarget.name) -}}
{{- fail "mailbox.bootstrap: a syncer with a bootstrap kubeconfig joins as one SyncTarget; say which by syncTarget.name" -}}
{{- end -}}
{{- if and (gt (int .Values.replicaCount) 1) .Values.persistence.enabled -}}
{{- fail "with persistence.enabled there is one claim for one Pod: leave replicaCount at 1, or persistence off" -}}
{{- end -}}
{{- if and .Values.persistence.existingClaim (not .Values.persistence.enabled) -}}
{{- fail "persistence.existingClaim is given and persistence.enabled is false: shall the syncer keep what it knows, or not?" -}}
{{- end -}}
{{- $values := dict "from-kubeconfig" "mailbox" "sync-target-name" "syncTarget.name" "sync-target-uid" "syncTarget.uid" "qps" "qps" "burst" "burst" "state-dir" "persistence" "credential-secret" "mailbox.bootstrap" "allow-namespaces" "allow.namespaces" "allow-kinds" "allow.kinds" "allow-cluster-scoped" "allow.clusterScoped" "associated-kinds" "allow.associated" "impersonate" "impersonate" "adopt-existing" "adoptExisting" "log-level" "logLevel" -}}
{{- range $arg := .Values.extraArgs -}}
{{- $flag := regexReplaceAll "^--?([^=]*).*$" $arg "${1}" -}}
{{- if hasKey $values $flag -}}
{{- fail (printf "extraArgs has --%s, which the chart gives itself: say it by the value %s" $flag (get $values $flag)) -}}
{{- end -}}
{{- if has $flag (list "log-format" "health-address") -}}
{{- fail (printf "extraArgs has --%s, which the chart gives itself: what it makes relies on that" $flag) -}}
{{- end -}}
{{- end -}}
{{- end -}}
