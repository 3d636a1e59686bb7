/** Requests of Argo CD and Flux to a cluster, and the verdict of their rules on a Deployment. */
import { get as httpsGet } from 'node:https'
import { at } from '../../../src/apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../../src/client/client.ts'

export interface Access {
  readonly server: string
  readonly caPem: string
  readonly token: string
}

/**
 * Discovery, and of every kind a list and a watch behind it, as for the cache of all that a cluster holds. One refusal, and Argo CD shows
 * nothing of the cluster. The paths that were refused.
 * @see https://github.com/argoproj/gitops-engine/blob/master/pkg/cache/cluster.go
 */
export async function refusedOf(access: Access, client: SpaceClient): Promise<string[]> {
  const served = (await client.discover()).filter(({ verbs }) => ['list', 'watch'].every(verb => verbs.includes(verb)))
  const lists = served.map(
    ({ group, version, resource }) => `${group === '' ? '/api' : `/apis/${group}`}/${version}/${resource}`,
  )
  const paths = [
    ...['/version', '/api', '/apis', '/openapi/v2', '/openapi/v3'],
    ...lists.flatMap(list => [`${list}?limit=500`, `${list}?watch=true&allowWatchBookmarks=true`]),
  ]
  const refused: string[] = []
  for (const path of paths) if ((await statusOf(access, path)) !== 200) refused.push(path)
  return lists.length > 50 ? refused : ['discovery']
}

/** Status in the head of an answer; the rest is not awaited. */
function statusOf({ server, caPem, token }: Access, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { ca: caPem, headers: { authorization: `Bearer ${token}` } }
    httpsGet(`${server}${path}`, options, answer => {
      resolve(answer.statusCode)
      answer.destroy()
    }).on('error', reject)
  })
}

function factsOf(object: KubeObject) {
  const count = (...path: string[]): number => Number(at(object, ...path) ?? 0)
  const conditions = at(object.status, 'conditions')
  return {
    wanted: count('spec', 'replicas'),
    generation: object.metadata.generation ?? 0,
    observed: count('status', 'observedGeneration'),
    all: count('status', 'replicas'),
    updated: count('status', 'updatedReplicas'),
    ready: count('status', 'readyReplicas'),
    available: count('status', 'availableReplicas'),
    condition: (type: string): Record<string, unknown> =>
      (Array.isArray(conditions) ? conditions : []).filter(isRecord).find(each => each.type === type) ?? {},
  }
}

/** @see https://github.com/argoproj/gitops-engine/blob/master/pkg/health/health_deployment.go */
export function argoHealth(deployment: KubeObject): 'Healthy' | 'Progressing' | 'Degraded' {
  const { wanted, generation, observed, all, updated, available, condition } = factsOf(deployment)
  if (observed < generation) return 'Progressing'
  if (condition('Progressing').reason === 'ProgressDeadlineExceeded') return 'Degraded'
  return updated < wanted || all > updated || available < updated ? 'Progressing' : 'Healthy'
}

/** Flux and Helm 4. @see https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/status/core.go */
export function kstatus(deployment: KubeObject): 'Current' | 'InProgress' | 'Failed' {
  const { wanted, generation, observed, all, updated, ready, available, condition } = factsOf(deployment)
  if (observed !== generation) return 'InProgress'
  const { status, reason } = condition('Progressing')
  if (reason === 'ProgressDeadlineExceeded') return 'Failed'
  const isWhole = all === wanted && updated >= wanted && available >= updated && ready >= wanted
  const isThere = status === 'True' && reason === 'NewReplicaSetAvailable' && condition('Available').status === 'True'
  return isWhole && isThere ? 'Current' : 'InProgress'
}
