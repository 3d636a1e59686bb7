// A deleted space: all of it goes, no controller brings anything back, and nobody complains afterwards.
import t from 'tap'
import { CONTROLLER_NAMES } from '../../src/controllers/controllerNames.ts'
import { startCenter } from '../support/center.ts'
import { ACCOUNTS, configMap, MAPS, NAMESPACES, namespace, WORKSPACES } from '../support/scene.ts'

const center = await startCenter(t)
const { world, client, server } = center

/** Whatever is written into these spaces once they are gone. */
function afterlife(spaces: readonly string[]): { written: string[]; end(): void } {
  const written: string[] = []
  const gone = new Set<string>()
  const end = world.onChange(({ type, space, key, object }) => {
    if (key.startsWith('workspaces.') && type === 'DELETED')
      gone.add(String((object.spec as { cluster: string }).cluster))
    else if (gone.has(space) && spaces.includes(space)) written.push(`${type} ${space} ${key}`)
  })
  return { written, end }
}

t.test(
  'spaces full of content are deleted while controllers are busy with them: nothing remains, nothing returns',
  async t => {
    const names = Array.from({ length: 6 }, (_, i) => `doomed-${i}`)
    const spaces = await Promise.all(names.map(name => center.space(name)))
    const { written, end } = afterlife(spaces)
    await Promise.all(
      spaces.map(async space => {
        const api = client.in(space)
        // more than one batch of the removal, and owners with dependents in it
        await Promise.all(Array.from({ length: 60 }, (_, i) => api.create(NAMESPACES, namespace(`ns-${i}`))))
        const owner = await api.create(MAPS, { ...configMap('owner'), metadata: { namespace: 'ns-0', name: 'owner' } })
        const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid ?? '' }]
        const child = (i: number) => ({
          ...configMap('x'),
          metadata: { namespace: 'ns-0', name: `child-${i}`, ownerReferences },
        })
        await Promise.all(Array.from({ length: 500 }, (_, i) => api.create(MAPS, child(i))))
        // work for the controllers at the very moment of the deletion
        await Promise.all([
          ...Array.from({ length: 20 }, (_, i) => api.create(NAMESPACES, namespace(`late-${i}`))),
          ...Array.from({ length: 20 }, (_, i) => api.delete(NAMESPACES, { name: `ns-${i + 20}` })),
          api.delete(MAPS, { namespace: 'ns-0', name: 'owner' }, { propagationPolicy: 'Foreground' }),
        ])
      }),
    )
    await Promise.all(names.map(name => client.in('root').delete(WORKSPACES, { name })))
    for (const name of names) await world.absent('root', `workspaces.tenancy.kcp.io ${name}`)
    await center.settled()
    for (const space of spaces) t.equal(await server.store.count({ space }), 0, `${space} is empty`)
    t.same(written, [], 'nothing was written into a space that was gone')
    end()
  },
)

t.test('who keeps writing into a space while it goes is refused, and cannot keep it alive', async t => {
  const space = await center.space('written')
  const refused: unknown[] = []
  const writer = async (prefix: string): Promise<void> => {
    try {
      for (let i = 0; ; i++) await client.in(space).create(NAMESPACES, namespace(`${prefix}-${i}`))
    } catch (error) {
      refused.push(error)
    }
  }
  const writers = Array.from({ length: 8 }, (_, i) => writer(`w${i}`))
  await world.present(space, 'namespaces w0-3')
  await client.in('root').delete(WORKSPACES, { name: 'written' })
  await Promise.all(writers)
  t.match(
    refused,
    writers.map(() => ({ reason: 'NotFound' })),
  )
  await world.absent('root', 'workspaces.tenancy.kcp.io written')
  await center.settled()
  t.equal(await server.store.count({ space }), 0)
})

t.test('a space made again under the name of a deleted one is new and complete', async t => {
  const before = await center.space('phoenix')
  await client.in(before).create(NAMESPACES, namespace('mine'))
  await client.in('root').delete(WORKSPACES, { name: 'phoenix' })
  await world.absent('root', 'workspaces.tenancy.kcp.io phoenix')
  const after = await center.space('phoenix')
  t.not(after, before)
  await world.present(after, 'serviceaccounts default/default')
  await world.present(after, 'configmaps default/kube-root-ca.crt')
  await center.settled()
  t.equal(world.get(after, 'namespaces mine'), undefined)
  t.equal(await server.store.count({ space: before }), 0)
})

t.test('spaces below a deleted space go with it', async t => {
  const parent = await center.space('parent')
  const child = await center.space('child', parent)
  const grandchild = await center.space('grandchild', child)
  await world.present(grandchild, 'serviceaccounts default/default')
  await client.in('root').delete(WORKSPACES, { name: 'parent' })
  await world.absent('root', 'workspaces.tenancy.kcp.io parent')
  await center.settled()
  for (const space of [parent, child, grandchild]) t.equal(await server.store.count({ space }), 0)
})

t.test(
  'the default ServiceAccount and the root CA are there in every Namespace of every space, and come back',
  async t => {
    const spaces = await Promise.all(['sa-1', 'sa-2', 'sa-3'].map(name => center.space(name)))
    for (const space of spaces) await client.in(space).create(NAMESPACES, namespace('mine'))
    for (const space of spaces) {
      const account = await world.present(space, 'serviceaccounts mine/default')
      await world.present(space, 'configmaps mine/kube-root-ca.crt')
      await client.in(space).delete(ACCOUNTS, { namespace: 'mine', name: 'default' })
      await client
        .in(space)
        .patch(MAPS, { namespace: 'mine', name: 'kube-root-ca.crt' }, 'merge', { data: { 'ca.crt': 'x' } })
      await world.present(space, 'serviceaccounts mine/default', o => o.metadata.uid !== account.metadata.uid)
      await world.present(
        space,
        'configmaps mine/kube-root-ca.crt',
        o => (o.data as { 'ca.crt': string })['ca.crt'] !== 'x',
      )
      await client.in(space).delete(MAPS, { namespace: 'mine', name: 'kube-root-ca.crt' })
      await world.present(space, 'configmaps mine/kube-root-ca.crt')
    }
    t.equal(
      (world.get(spaces[0]!, 'configmaps mine/kube-root-ca.crt')?.data as { 'ca.crt': string } | undefined)?.['ca.crt'],
      server.caPem,
    )
  },
)

t.test('in normal operation the log is quiet', async t => {
  await center.settled()
  const said = center.log.filter(({ level }) => level !== 'debug').map(({ text }) => text)
  const counts = new Map<string, number>()
  for (const line of said) counts.set(line, (counts.get(line) ?? 0) + 1)
  t.same(
    [...counts].filter(([, count]) => count > 1),
    [],
    'no line is said twice',
  )
  t.ok(
    said.length <= CONTROLLER_NAMES.length,
    `one line for the start of each controller and no more: ${said.join('\n')}`,
  )
})
