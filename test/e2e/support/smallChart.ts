/** A chart as people write them, of a workload (a Deployment, unless `kind` says another), a Service and a ConfigMap. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const LABELS =
  '{ app.kubernetes.io/instance: {{ .Release.Name }}, app.kubernetes.io/managed-by: {{ .Release.Service }} }'
const POD = '{ app: {{ .Release.Name }} }'
const TEMPLATE = `
apiVersion: v1
kind: ConfigMap
metadata: { name: {{ .Release.Name }}-config, labels: ${LABELS} }
data: { image: {{ .Values.image }} }
---
apiVersion: v1
kind: Service
metadata: { name: {{ .Release.Name }}, labels: ${LABELS} }
spec: { selector: ${POD}, ports: [{ port: 80 }] }
---
apiVersion: apps/v1
kind: {{ .Values.kind }}
metadata: { name: {{ .Release.Name }}, labels: ${LABELS} }
spec:
  replicas: 2
  selector: { matchLabels: ${POD} }
  template:
    metadata: { labels: { app: {{ .Release.Name }}, app.kubernetes.io/managed-by: {{ .Release.Service }} } }
    spec: { containers: [{ name: web, image: {{ .Values.image }} }] }
`

export function writeChart(dir: string): void {
  mkdirSync(join(dir, 'templates'), { recursive: true })
  writeFileSync(join(dir, 'Chart.yaml'), 'apiVersion: v2\nname: till\nversion: 1.0.0\n')
  writeFileSync(join(dir, 'values.yaml'), 'image: "till:1"\nkind: Deployment\n')
  writeFileSync(
    join(dir, 'templates/all.yaml'),
    TEMPLATE.replaceAll('{{ .Values.image }}', '{{ quote .Values.image }}'),
  )
}
