/** Additions to objects since Kubernetes 1.20: our peer lacks them, so they are left out of the comparison. */
import { isRecord } from '../../src/apimachinery/object.ts'

/** Fields by kind; the reason is the release that made the server fill them in. */
const NEWER: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Namespace: { 'metadata.labels.kubernetes~1io/metadata~1name': '1.21' },
  PartialObjectMetadata: {
    'metadata.labels.kubernetes~1io/metadata~1name': '1.21: that of Namespaces',
    'metadata.generation': '1.33: that of Pods',
    'spec.internalTrafficPolicy': 'the claim on it, here and below',
    'spec.persistentVolumeClaimRetentionPolicy': '1.27',
    'spec.updateStrategy.rollingUpdate.maxSurge': '1.22',
  },
  CSIDriver: { 'spec.requiresRepublish': '1.20', 'spec.seLinuxMount': '1.25', 'spec.storageCapacity': '1.19' },
  DaemonSet: { 'spec.updateStrategy.rollingUpdate.maxSurge': '1.22' },
  Job: {
    'metadata.generation': '1.24',
    'spec.completionMode': '1.21',
    'spec.podReplacementPolicy': '1.28',
    'spec.suspend': '1.21',
    'spec.selector.matchLabels.controller-uid': '1.27: batch.kubernetes.io/controller-uid',
    'spec.selector.matchLabels.batch~1kubernetes~1io/controller-uid': '1.27',
    'spec.template.metadata.labels.batch~1kubernetes~1io/controller-uid': '1.27',
    'spec.template.metadata.labels.batch~1kubernetes~1io/job-name': '1.27',
    'metadata.labels.batch~1kubernetes~1io/controller-uid': '1.27',
    'metadata.labels.batch~1kubernetes~1io/job-name': '1.27',
  },
  Pod: { 'metadata.generation': '1.33' },
  StatefulSet: { 'spec.persistentVolumeClaimRetentionPolicy': '1.27', 'status.availableReplicas': '1.22' },
  Service: {
    'spec.internalTrafficPolicy': '1.22',
    'spec.ipFamilies': '1.20, behind a switch',
    'spec.ipFamilyPolicy': '1.20, behind a switch',
  },
}

/** Claims on the insides of what is atomic since 1.21. */
const ATOMIC: ReadonlySet<string> = new Set([
  'f:configMapKeyRef',
  'f:fieldRef',
  'f:involvedObject',
  'f:nodeSelector',
  'f:regarding',
  'f:resourceFieldRef',
  'f:roleRef',
  'f:scaleTargetRef',
  'f:secretKeyRef',
  'f:selector',
])

/** `value` without what only one of the two releases can say; equal on both sides where nothing else differs. */
export function withoutNewer(value: unknown, kind?: string): unknown {
  if (Array.isArray(value)) return value.map(item => withoutNewer(item))
  if (!isRecord(value)) return value
  if (value.kind === 'Status' && isRecord(value.details)) return withoutTwins(value, value.details)
  const own = typeof value.kind === 'string' && 'metadata' in value ? value.kind : kind
  const copy: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    if (name === 'fieldsV1') copy[name] = withoutInsides(value.subresource ? member : withoutStatus(member))
    else if (name === 'items' && Array.isArray(member) && own?.endsWith('List'))
      copy[name] = member.map(item => withoutNewer(item, own.slice(0, -4)))
    else copy[name] = withoutNewer(member)
  }
  for (const path of Object.keys(own === undefined ? {} : (NEWER[own] ?? {}))) {
    const steps = path.split('.')
    drop(copy, steps)
    drop(copy, ['metadata', 'managedFields', '*', 'fieldsV1', ...steps.map(step => `f:${step}`)])
    const labels = isRecord(copy.metadata) ? copy.metadata.labels : undefined
    if (isRecord(labels) && Object.keys(labels).length === 0) drop(copy, ['metadata', 'labels'])
  }
  return copy
}

/** 1.20 checks an update twice and tells each cause again. */
function withoutTwins(status: Record<string, unknown>, details: Record<string, unknown>): unknown {
  if (!Array.isArray(details.causes)) return status
  const causes = new Map(details.causes.map(cause => [JSON.stringify(cause), cause as unknown]))
  return { ...status, details: { ...details, causes: [...causes.values()] } }
}

/** Since 1.22 nobody comes to own a status through the object itself. */
function withoutStatus(claims: unknown): unknown {
  if (!isRecord(claims)) return claims
  const { 'f:status': _, ...rest } = claims
  return rest
}

/** And without claims on times that are not there, which servers before 1.34 made. */
function withoutInsides(claims: unknown): unknown {
  if (!isRecord(claims)) return claims
  return Object.fromEntries(
    Object.entries(claims).flatMap(([name, below]) =>
      name === 'f:creationTimestamp'
        ? []
        : [[name, ATOMIC.has(name) || name.startsWith('k:{"uid":') ? {} : withoutInsides(below)]],
    ),
  )
}

function drop(value: unknown, [step, ...rest]: readonly string[]): void {
  if (step === undefined || typeof value !== 'object' || value === null) return
  const members = value as Record<string, unknown>
  const name = step.replaceAll('~1', '.')
  if (name === '*') for (const member of Object.values(members)) drop(member, rest)
  else if (rest.length > 0) drop(members[name], rest)
  else delete members[name]
}
