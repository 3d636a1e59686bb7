/**
 * The ReplicaSet that stands in a workload space for a Deployment's own in clusters. Its shape is that of a cluster's controller for the
 * present template. Its hash is of our own making: Kubernetes' is of Go's structures. Pure.
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pod-template-hash-label
 */
import { type Fields, num, record } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { hasReturnedStatus } from '../../placement/content/returnedStatus.ts'
import { NATURED_LABEL } from '../../placement/spaces/nature.ts'
import { STAND_IN_ANNOTATION } from '../../placement/words/placement.ts'

const HASH_LABEL = 'pod-template-hash'
/** Controllers that make ReplicaSets of a Deployment count them there. */
const REVISION = 'deployment.kubernetes.io/revision'

/** Whether the Deployment tells what clusters report, and nobody makes ReplicaSets of it in its own space. */
export function hasStandIn(deployment: Readonly<KubeObject>): boolean {
  const { deletionTimestamp, annotations = {} } = deployment.metadata
  return deletionTimestamp === undefined && annotations[REVISION] === undefined && hasReturnedStatus(deployment)
}

export function isStandIn({ metadata }: Readonly<KubeObject>): boolean {
  return metadata.annotations?.[STAND_IN_ANNOTATION] !== undefined
}

/** Deployment of the stand-in of that name. No hash has a dash. */
export function deploymentOf(standIn: string): string {
  return standIn.slice(0, Math.max(0, standIn.lastIndexOf('-')))
}

/** `hash` is of the Deployment's template. */
export function standInFor(deployment: Readonly<KubeObject>, hash: string): KubeObject {
  const { apiVersion, kind } = deployment
  const { namespace = '', name = '', uid = '' } = deployment.metadata
  const { replicas, selector, template } = record(deployment, 'spec')
  const labels = { ...record(template, 'metadata', 'labels'), [HASH_LABEL]: hash } as Record<string, string>
  return {
    apiVersion,
    kind: 'ReplicaSet',
    metadata: {
      namespace,
      name: `${name}-${hash}`,
      labels: { ...labels, [NATURED_LABEL]: 'true' },
      annotations: {
        [STAND_IN_ANNOTATION]: `The server made this of what clusters report of Deployment ${name}, for who asks for its ReplicaSet. No Pods come of it, and it goes to no cluster.`,
      },
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      replicas,
      selector: {
        ...record(selector),
        matchLabels: { ...record(selector, 'matchLabels'), [HASH_LABEL]: hash },
      },
      template: { ...record(template), metadata: { ...record(template, 'metadata'), labels } },
    },
  }
}

/**
 * Status of the present template's Pods, never more than the Deployment reports. That counts ready ones of all templates together, so
 * earlier ones count as ready. It is unknown while the report concerns an earlier generation. `generation` is that of the stand-in.
 */
export function standInStatus(deployment: Readonly<KubeObject>, generation: number | undefined): Fields {
  const { metadata, status } = deployment
  if (num(status, 'observedGeneration') < (metadata.generation ?? 0)) return { replicas: 0 }
  const replicas = num(status, 'updatedReplicas')
  const earlier = Math.max(0, num(status, 'replicas') - replicas)
  const least = (count: string, most: number): number => Math.min(most, Math.max(0, num(status, count) - earlier))
  const readyReplicas = least('readyReplicas', replicas)
  const availableReplicas = least('availableReplicas', readyReplicas)
  return {
    replicas,
    ...(replicas > 0 && { fullyLabeledReplicas: replicas }),
    ...(readyReplicas > 0 && { readyReplicas }),
    ...(availableReplicas > 0 && { availableReplicas }),
    observedGeneration: generation,
  }
}
