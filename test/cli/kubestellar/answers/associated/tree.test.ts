/** The tree of associated objects, with owners as a cluster reports them. */
import t from 'tap'
import { treeOf } from '../../../../../src/cli/kubestellar/answers/associated/associatedCommands.ts'
import type { AssociatedObject } from '../../../../../src/cli/kubestellar/answers/associated/associatedObjects.ts'
import type { DiscoveredResource } from '../../../../../src/client/client.ts'

const one = (kind: string, name: string, owner: string): AssociatedObject => ({
  resource: {} as DiscoveredResource,
  object: { apiVersion: 'v1', kind, metadata: { name } },
  account: {
    root: 'apps|deployments|shop|web',
    rootUid: 'r',
    placement: 'p',
    uid: name,
    owners: [{ kind: '', name: '', uid: owner }],
  },
})

t.test('objects that own each other in a ring are shown once each', t => {
  const resource = { kind: 'Deployment' } as DiscoveredResource
  const objects = [one('ReplicaSet', 's', 'r'), one('Pod', 'a', 's'), one('Pod', 'x', 'y'), one('Pod', 'y', 'x')]
  const cluster = { location: 'l', root: undefined, health: undefined, objects }
  const rows = treeOf({ resource, namespace: 'shop', name: 'web', clusters: [cluster], unknown: [] }, cluster)
  t.strictSame(
    rows.map(([name]) => name),
    ['└─ Deployment/web', '   └─ ReplicaSet/s', '      └─ Pod/a', '   └─ Pod/x', '      └─ Pod/y'],
  )
  t.end()
})
