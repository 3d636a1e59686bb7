/** The PriorityClasses of what a cluster cannot do without; every space has them. */
import { fixedUid } from '../../apimachinery/fixedUid.ts'
import type { KubeObject } from '../../apimachinery/object.ts'

export const PRIORITY_CLASSES = { group: 'scheduling.k8s.io', resource: 'priorityclasses' } as const

/** Name to value. */
export const SYSTEM_PRIORITIES: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
}

/** Sorted by name. `since`: RFC 3339, their creationTimestamp. */
export function systemPriorityClasses(since: string): KubeObject[] {
  return Object.entries(SYSTEM_PRIORITIES).map(([name, value]) => ({
    apiVersion: `${PRIORITY_CLASSES.group}/v1`,
    kind: 'PriorityClass',
    metadata: { name, uid: fixedUid(`priorityclass ${name}`), generation: 1, creationTimestamp: since },
    value,
    description: `Used for system critical pods that must ${name === 'system-node-critical' ? 'not be moved from their current node' : 'run in the cluster, but can be moved to another node if necessary'}.`,
    preemptionPolicy: 'PreemptLowerPriority',
  }))
}
