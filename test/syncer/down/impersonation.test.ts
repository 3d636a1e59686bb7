/** Objects of a space are written in its name, so that the cluster's own access control decides about each space. */
import t from 'tap'
import { statusError } from '../../../src/apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { DOWNSYNCED, OWNER_ANNOTATION } from '../../../src/placement/words/placement.ts'
import { startCenter } from '../../support/center.ts'
import { CONFIGS, MAPS, NAMESPACES, namespace } from '../support/kinds.ts'
import { type Pair, PROJECTED, pairIn, sent } from '../support/pair.ts'
import { recordingLogger } from '../support/recordingLogger.ts'

const THE_ONE = 'syncerconfigs.edge.kubestellar.io the-one'
const center = await startCenter(t, { expectsTrouble: true })

/** Every write, with its user; `forbidden` may write nothing. */
function users(p: Pair, forbidden?: string): { as: (user: string) => SpaceClient; writes: string[] } {
  const writes: string[] = []
  const as = (user: string): SpaceClient => {
    const told = (verb: string, name: string | undefined): void => {
      if (user === forbidden) throw statusError.forbidden(MAPS, name ?? '', 'RBAC says no')
      writes.push(`${user} ${verb} ${name}`)
    }
    return {
      ...p.cluster,
      create: async (resource, object, options) => {
        told('create', object.metadata.name)
        return await p.cluster.create(resource, object, options)
      },
      patch: async (resource, ref, type, ...rest) => {
        told('patch', ref.name)
        return await p.cluster.patch(resource, ref, type, ...rest)
      },
      delete: async (resource, ref, options) => {
        told('delete', ref.name)
        await p.cluster.delete(resource, ref, options)
      },
    }
  }
  return { as, writes }
}
const from = (owner: object): object => ({ labels: PROJECTED, annotations: owner })
const refused =
  (reason: string) =>
  ({ status }: KubeObject): boolean =>
    isRecord(status) &&
    isRecord(status.refused) &&
    isRecord(status.refused.reasons) &&
    status.refused.reasons[reason] === 1

t.test('objects are made, changed, handed over and deleted in the name of the space that owns them', async t => {
  const p = await pairIn(center, t)
  const { world } = center
  await p.cluster.create(NAMESPACES, namespace('app'))
  await p.mailbox.patch(NAMESPACES, { name: 'app' }, 'merge', {
    metadata: { annotations: { [OWNER_ANNOTATION]: 'ns1' } },
  })
  const { as, writes } = users(p)
  const of = (name: string): string[] => writes.filter(write => write.endsWith(` ${name}`))
  const first = p.start(undefined, undefined, { impersonate: as })
  await p.mailbox.create(MAPS, sent('a', { x: '1' }, from({ [OWNER_ANNOTATION]: 'one' })))
  const made = await world.present(p.clusterId, 'configmaps app/a')
  t.equal(made.metadata.annotations?.[OWNER_ANNOTATION], 'one')
  t.same(of('a'), ['orrery:space:one create a'])
  writes.length = 0
  const annotations = { [OWNER_ANNOTATION]: 'two' }
  await p.mailbox.patch(MAPS, { namespace: 'app', name: 'a' }, 'merge', { data: { x: '2' }, metadata: { annotations } })
  await world.present(p.clusterId, 'configmaps app/a', ({ data }) => isRecord(data) && data.x === '2')
  await p.settled()
  t.same([...new Set(of('a'))], ['orrery:space:two patch a'])
  // The source goes while nobody looks: the cluster itself says in whose name it was applied.
  await first.stop()
  await p.mailbox.delete(MAPS, { namespace: 'app', name: 'a' })
  writes.length = 0
  p.start(undefined, undefined, { impersonate: as })
  await world.absent(p.clusterId, 'configmaps app/a')
  await p.settled()
  t.equal(of('a').at(-1), 'orrery:space:two delete a')
})

for (const [policy, verb] of [
  ['Orphan', 'patch'],
  ['Delete', 'delete'],
] as const) {
  t.test(`a cluster that leaves (${policy}) is left in the name of each space`, async t => {
    const p = await pairIn(center, t)
    const { world } = center
    await p.cluster.create(NAMESPACES, namespace('app'))
    const { as, writes } = users(p)
    p.start(undefined, undefined, { impersonate: as })
    for (const name of ['a', 'b'])
      await p.mailbox.create(MAPS, sent(name, {}, from({ [OWNER_ANNOTATION]: `of${name}` })))
    for (const name of ['a', 'b']) await world.present(p.clusterId, `configmaps app/${name}`)
    await p.settled()
    writes.length = 0
    const annotations = { 'edge.kubestellar.io/leave': policy }
    await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { metadata: { annotations } })
    await world.present(
      p.mailboxId,
      THE_ONE,
      ({ status }) => isRecord(status) && isRecord(status.leaving) && status.leaving.done === true,
    )
    const left = writes.filter(write => / [ab]$/.test(write))
    t.same([...new Set(left)].sort(), [`orrery:space:ofa ${verb} a`, `orrery:space:ofb ${verb} b`])
  })
}

t.test('what the cluster does not let a space do, and what nobody owns, is told', async t => {
  const p = await pairIn(center, t)
  await p.cluster.create(NAMESPACES, namespace('app'))
  await p.mailbox.patch(NAMESPACES, { name: 'app' }, 'merge', {
    metadata: { annotations: { [OWNER_ANNOTATION]: 'ns1' } },
  })
  const { logger, lines } = recordingLogger()
  p.start(logger, undefined, { impersonate: users(p, 'orrery:space:bad').as })
  await p.mailbox.create(MAPS, sent('a', {}, from({ [OWNER_ANNOTATION]: 'system:masters' })))
  await center.world.present(p.mailboxId, THE_ONE, refused('NoOwner'))
  await p.mailbox.create(MAPS, sent('b', {}, from({ [OWNER_ANNOTATION]: 'bad' })))
  await center.world.present(p.mailboxId, THE_ONE, refused('Forbidden'))
  t.notOk(center.world.get(p.clusterId, 'configmaps app/a'))
  t.notOk(center.world.get(p.clusterId, 'configmaps app/b'))
  const warnings = lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
  t.match(warnings[0], 'refused: configmaps app/a does not tell the space that owns it, in whose name')
  t.match(warnings[1], 'RBAC says no')
  await p.mailbox.patch(MAPS, { namespace: 'app', name: 'b' }, 'merge', {
    metadata: { annotations: { [OWNER_ANNOTATION]: 'good' } },
  })
  await center.world.present(p.clusterId, 'configmaps app/b')
})

t.test(
  'a Namespace that came with its objects is made in the name of the space that needs it, and let be after that',
  async t => {
    const p = await pairIn(center, t)
    const { world } = center
    const { logger, lines } = recordingLogger()
    const { as, writes } = users(p)
    p.start(logger, undefined, { impersonate: as })
    await p.mailbox.create(MAPS, sent('a', {}, from({ [OWNER_ANNOTATION]: 'one' })))
    await world.present(p.clusterId, 'configmaps app/a')
    await p.mailbox.create(MAPS, sent('b', {}, from({ [OWNER_ANNOTATION]: 'two' })))
    await world.present(p.clusterId, 'configmaps app/b')
    await p.settled()
    t.same(
      writes.filter(write => write.endsWith(' app')),
      ['orrery:space:one create app'],
    )
    const made = await world.present(p.clusterId, 'namespaces app')
    t.equal(
      made.metadata.annotations?.[OWNER_ANNOTATION],
      'one',
      'in whose name it is let go of when the cluster leaves',
    )
    t.notOk(made.metadata.annotations?.[DOWNSYNCED], 'never deleted')
    t.same(
      lines.filter(({ level }) => level === 'warn'),
      [],
    )
  },
)

t.test('a deletion that the cluster does not let a space do is told', async t => {
  const p = await pairIn(center, t)
  const { world } = center
  const { as } = users(p)
  let withdrawn = false
  const impersonate = (user: string): SpaceClient => ({
    ...as(user),
    delete: async (resource, ref, options) => {
      if (withdrawn) throw statusError.forbidden(MAPS, ref.name, 'RBAC says no')
      await as(user).delete(resource, ref, options)
    },
  })
  p.start(recordingLogger().logger, undefined, { impersonate })
  await p.mailbox.create(MAPS, sent('a', {}, from({ [OWNER_ANNOTATION]: 'one' })))
  await world.present(p.clusterId, 'configmaps app/a')
  await p.settled()
  withdrawn = true
  await p.mailbox.delete(MAPS, { namespace: 'app', name: 'a' })
  await world.present(p.mailboxId, THE_ONE, refused('Forbidden'))
  t.ok(world.get(p.clusterId, 'configmaps app/a'))
  withdrawn = false
  await world.absent(p.clusterId, 'configmaps app/a')
  await world.present(p.mailboxId, THE_ONE, object => !refused('Forbidden')(object))
})
