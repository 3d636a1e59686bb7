/**
 * Nothing in a space runs Pods: a workload's Pods run in the clusters where it is placed. `kubectl logs deployment/web` and its like look
 * for them here by the workload's selector, find none, wait and give up. The list that finds none gives their place.
 */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { effectiveUser } from '../auth/users.ts'
import type { Exchange, Services } from '../exchange/exchange.ts'
import { decodeObject } from '../registry/codec.ts'
import type { Selection } from '../registry/selection.ts'

const WORKLOADS = [
  { group: 'apps', version: 'v1', resource: 'deployments' },
  { group: 'apps', version: 'v1', resource: 'statefulsets' },
  { group: 'apps', version: 'v1', resource: 'daemonsets' },
  { group: 'batch', version: 'v1', resource: 'jobs' },
  { group: 'apps', version: 'v1', resource: 'replicasets' },
] as const
/** Bound on each kind; with more of them in a namespace the hint may not come. */
const LOOKED_AT = 100

/** Warns of a list of a namespace's Pods by labels that found none, when people ask and a workload there makes such Pods. */
export async function warnOfPodsElsewhere(services: Services, exchange: Exchange, selection: Selection): Promise<void> {
  const { type, resource, request, warnings } = exchange
  if (type.group !== '' || type.resource !== 'pods' || resource.namespace === '' || !selection.matchesLabels) return
  if (!request.headers['user-agent']?.startsWith('kubectl')) return
  const found = await makerOf(services, exchange, selection)
  if (found === undefined) return
  const name = `${found.type.kind.toLowerCase()}/${found.name}`
  warnings.push(
    `no Pods run in a workspace: those of ${name} run in the clusters where it is placed; ` +
      `"kubectl kubestellar why ${name} -n ${resource.namespace}" tells which, and kubectl with the kubeconfig of one of them shows its Pods`,
  )
}

async function makerOf(
  { authorizer, reader, types }: Services,
  { space, user: asking, info, resource: { namespace } }: Exchange,
  { matchesLabels }: Selection,
): Promise<{ type: ResourceType; name: string } | undefined> {
  const user = effectiveUser(asking, space)
  for (const { group, version, resource } of WORKLOADS) {
    const type = types.in(space).find(group, version, resource)
    if (type === undefined) continue
    const list = { verb: 'list', group, version, resource, namespace, name: '', subresource: '' }
    const { allowed } = await authorizer.authorize({ user, space, verb: 'list', path: info.path, resource: list })
    if (!allowed) continue
    for (const stored of (await reader.list(type, { space, namespace, limit: LOOKED_AT })).items) {
      const { metadata, spec } = decodeObject(stored) as { metadata: { name?: string }; spec?: Template }
      if (matchesLabels?.(spec?.template?.metadata?.labels)) return { type, name: metadata.name ?? '' }
    }
  }
  return undefined
}

interface Template {
  template?: { metadata?: { labels?: Record<string, string> } }
}
