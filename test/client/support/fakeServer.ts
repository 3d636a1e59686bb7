/** A small API server in memory for tests of clients and controllers: connections break and requests fail when a test says so. */
import type { GroupResource, GroupVersionResource } from '../../../src/apimachinery/object.ts'
import type { DiscoveredResource } from '../../../src/client/client.ts'
import { FakeApi } from '../../support/fakeApi.ts'

export { brokenConnection } from '../../support/fakeEntries.ts'

const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']
export function kind(
  group: string,
  resource: string,
  name: string,
  more: Partial<DiscoveredResource> = {},
): DiscoveredResource {
  return {
    group,
    version: 'v1',
    resource,
    kind: name,
    namespaced: true,
    verbs: VERBS,
    subresources: ['status'],
    ...more,
  }
}
const PLAIN = { subresources: [] }
const GLOBAL = { namespaced: false }
export const KINDS = {
  namespaces: kind('', 'namespaces', 'Namespace', { ...GLOBAL, subresources: ['finalize', 'status'] }),
  configmaps: kind('', 'configmaps', 'ConfigMap', PLAIN),
  serviceaccounts: kind('', 'serviceaccounts', 'ServiceAccount', PLAIN),
  deployments: kind('apps', 'deployments', 'Deployment'),
  replicasets: kind('apps', 'replicasets', 'ReplicaSet'),
  clusterroles: kind('rbac.authorization.k8s.io', 'clusterroles', 'ClusterRole', { ...GLOBAL, ...PLAIN }),
}

export class FakeServer extends FakeApi {
  kinds: DiscoveredResource[] = Object.values(KINDS)
  /** Called before every request and before every delivery of a watch or stream; what it throws is the answer. */
  hook: (verb: string, space: string, resource: string, name: string) => void = () => {}
  /** `verb space resource name` of every request. */
  readonly requests: string[] = []
  protected override batchEvents = 1
  protected override needsNamespaces = false

  /** Everything in a space and resource, by name. */
  names(space: string, resource: GroupVersionResource): string[] {
    return this.select(space, resource).map(({ metadata }) => metadata.name!)
  }

  protected override request(verb: string, space: string, { resource }: GroupResource, name: string): void {
    this.requests.push(`${verb} ${space} ${resource} ${name}`)
    this.hook(verb, space, resource, name)
  }

  protected override deliver(space: string, resource: string, name: string): void {
    this.hook('deliver', space, resource, name)
  }
}
