/** Reports of a syncer about all that its cluster serves, and its notice of changes. */
import t from 'tap'
import type { DiscoveredResource, SpaceClient } from '../../../src/client/client.ts'
import { ClusterAllowance } from '../../../src/syncer/mailbox/clusterAllowance.ts'
import { ServedResources } from '../../../src/syncer/sees/served.ts'
import { clusterOffer } from '../../../src/syncer/tells/reports.ts'

const kind = (resource: string, more: Partial<DiscoveredResource> = {}): DiscoveredResource => ({
  group: '',
  version: 'v1',
  resource,
  kind: resource,
  namespaced: true,
  verbs: ['create', 'get', 'list', 'watch'],
  subresources: [],
  ...more,
})
const names = (served: DiscoveredResource[], allowance: ClusterAllowance): string[] =>
  clusterOffer(served, allowance).resources.map(({ resource }) => resource)

t.test('it is what could be carried, as far as the flags of the syncer allow', async t => {
  const served = [
    kind('secrets'),
    kind('configmaps'),
    kind('bindings', { verbs: ['create'] }),
    kind('componentstatuses', { verbs: ['get', 'list'] }),
    kind('nodes', { namespaced: false }),
  ]
  t.same(names(served, new ClusterAllowance()), ['configmaps', 'nodes', 'secrets'])
  t.same(names(served, new ClusterAllowance({ kinds: ['configmaps'] })), ['configmaps'])
})

t.test('that a kind is served at other versions is a change, also where the preferred one is the same', async t => {
  let gears = kind('gears', { group: 'x.test', versions: ['v1'] })
  const served = new ServedResources({ discover: async () => [kind('configmaps'), gears] } as unknown as SpaceClient)
  const offers: unknown[] = []
  served.onChange(({ changed }) => {
    const [, told] = clusterOffer(served.all(), new ClusterAllowance()).resources
    offers.push([...changed, ...told!.versions])
  })
  await served.refresh()
  await served.refresh()
  gears = { ...gears, versions: ['v1', 'v1beta1'] }
  await served.refresh()
  await served.refresh()
  t.same(offers, [
    ['configmaps', 'gears.x.test', 'v1'],
    ['gears.x.test', 'v1', 'v1beta1'],
  ])
})
