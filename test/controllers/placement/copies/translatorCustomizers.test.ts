// Effects of Customizers on copies.
import t from 'tap'
import { CUSTOMIZERS, EDGE_PLACEMENTS, LOCATIONS, SLICES } from '../../../../src/placement/words/placement.ts'
import { ALL_MAPS, configMap, EDGE, MAPS, placement, slice, world } from '../translatorWorld.ts'

t.test('no Customizer makes something of an object that would not have travelled', async t => {
  const { server, wds, florin } = await world(t)
  const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
  const customizer = (name: string, path: string, value: string) => ({
    apiVersion: EDGE,
    kind: 'Customizer',
    metadata: { name, namespace: 'commonstuff' },
    replacements: [{ path, value: JSON.stringify(value) }],
  })
  await wds.create(CUSTOMIZERS, customizer('token', '$.type', 'kubernetes.io/service-account-token'))
  await wds.create(CUSTOMIZERS, customizer('stay', "$.metadata.labels['edge.kubestellar.io/natured']", 'true'))
  const by = (name: string) => ({ labels: { app: 'x' }, annotations: { 'edge.kubestellar.io/customizer': name } })
  await wds.create(MAPS, configMap('stays', {}, by('stay')))
  const metadata = { name: 'forged', namespace: 'commonstuff', ...by('token') }
  await wds.create(SECRETS, { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata })
  await wds.create(EDGE_PLACEMENTS, placement('ep', { downsync: [{ apiGroup: '', namespaces: ['commonstuff'] }] }))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  t.same([...server.names(florin, MAPS), ...server.names(florin, SECRETS)], [])
  for (const [gvr, name] of [
    [MAPS, 'stays'],
    [SECRETS, 'forged'],
  ] as const) {
    const { annotations = {} } = server.peek('wds1', gvr, name, 'commonstuff')!.metadata
    t.match(
      annotations['edge.kubestellar.io/customization-error'],
      /^it would be what never travels: .* \(for florin\)$/,
    )
  }
})

t.test('copies differ by Location, and a fault is shown on the object and cured with its cause', async t => {
  const { server, wds, florin, guilder, restart } = await world(t)
  const annotations = { 'edge.kubestellar.io/expand-parameters': 'true', 'edge.kubestellar.io/customizer': 'cust' }
  await wds.create(MAPS, configMap('page', { text: 'Running in %(loc-name)', env: 'x' }, { annotations }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  const fault = () =>
    server.peek('wds1', MAPS, 'page', 'commonstuff')!.metadata.annotations!['edge.kubestellar.io/customization-error']
  t.equal(fault(), 'Customizer "commonstuff/cust" not found (for florin, guilder)')
  t.same(server.names(florin, MAPS), [], 'what cannot be customized is held back')
  await wds.create(CUSTOMIZERS, {
    apiVersion: EDGE,
    kind: 'Customizer',
    metadata: {
      name: 'cust',
      namespace: 'commonstuff',
      annotations: { 'edge.kubestellar.io/expand-parameters': 'true' },
    },
    replacements: [{ path: '$.data.env', value: '"env is %(env)"' }],
  })
  await server.quiet()
  t.equal(fault(), undefined)
  t.same(server.peek(florin, MAPS, 'page', 'commonstuff')!.data, { text: 'Running in florin', env: 'env is prod' })
  t.same(server.peek(guilder, MAPS, 'page', 'commonstuff')!.data, { text: 'Running in guilder', env: 'env is prod' })
  const location = server.peek('inv1', LOCATIONS, 'guilder')!
  await server.in('inv1').update(LOCATIONS, {
    ...location,
    metadata: { ...location.metadata, labels: { ...location.metadata.labels, env: 'test' } },
  })
  await server.quiet()
  const last = { text: 'Running in guilder', env: 'env is test' }
  t.same(server.peek(guilder, MAPS, 'page', 'commonstuff')!.data, last)
  const { resourceVersion } = server.peek(guilder, MAPS, 'page', 'commonstuff')!.metadata
  const customizer = server.peek('wds1', CUSTOMIZERS, 'cust', 'commonstuff')!
  await wds.delete(CUSTOMIZERS, { namespace: 'commonstuff', name: 'cust' })
  const source = server.peek('wds1', MAPS, 'page', 'commonstuff')!
  await wds.update(MAPS, { ...source, data: { text: 'new', env: 'x' } })
  await server.quiet()
  const copy = () => server.peek(guilder, MAPS, 'page', 'commonstuff')!
  t.match(fault(), /not found/)
  t.equal(copy().metadata.resourceVersion, resourceVersion, 'the last good copy stays while the Customizer is missing')
  const { resourceVersion: _, ...again } = customizer.metadata
  await wds.create(CUSTOMIZERS, { ...customizer, metadata: again, replacements: [{ path: '$.data[', value: '1' }] })
  await server.quiet()
  t.match(fault(), /replacements\[0\]/)
  t.equal(copy().metadata.resourceVersion, resourceVersion, 'and while it fails')
  await restart(async () => {})
  await server.quiet()
  t.equal(copy().metadata.resourceVersion, resourceVersion, 'also after a restart')
  const broken = server.peek('wds1', CUSTOMIZERS, 'cust', 'commonstuff')!
  await wds.update(CUSTOMIZERS, { ...broken, replacements: customizer.replacements })
  await server.quiet()
  t.equal(fault(), undefined)
  t.same(copy().data, { text: 'new', env: 'env is test' })
})
