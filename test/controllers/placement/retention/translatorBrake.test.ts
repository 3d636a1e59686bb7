// The brake: removals after a deletion by name pass, all others are held.

import t, { type Test } from 'tap'
import { conditionOf } from '../../../../src/apimachinery/conditions.ts'
import { StatusError } from '../../../../src/apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../../../src/apimachinery/object.ts'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import type { Client } from '../../../../src/client/client.ts'
import {
  CONFIRM_DELETION_ANNOTATION,
  CONFLICT_ANNOTATION,
  EDGE_PLACEMENTS,
  HAND_OVER_ANNOTATION,
  INVENTORY_BINDINGS,
  LOCATIONS,
  OWNER_ANNOTATION,
  PAUSED_ANNOTATION,
  PLACEMENT_GRANTS,
  PRESERVE_ANNOTATION,
  RELEASE_OWNER_ANNOTATION,
  SLICES,
  SYNC_TARGETS,
} from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import { namespace } from '../fakeServer.ts'
import { ALL_MAPS, configMap, consent, MAPS, placement, slice, world } from '../translatorWorld.ts'

const EVENTS = { group: '', version: 'v1', resource: 'events' }
const MAPS_OF = (app: string) => ({
  downsync: [{ apiGroup: '', resources: ['configmaps'], labelSelectors: [{ matchLabels: { app } }] }],
})

/** So many ConfigMaps in each of two mailboxes, by one EdgePlacement. */
async function placed(t: Test, count: number) {
  const clock = new FakeClock()
  const scene = await world(t, clock)
  const { server, wds, florin, guilder } = scene
  /** Placements get reports once a second at most. */
  const until = async (condition: () => boolean) => {
    for (await server.quiet(); !condition(); await server.quiet()) await clock.advance(1000)
  }
  await wds.create(NAMESPACES, namespace('default'))
  for (let i = 0; i < count; i++) await wds.create(MAPS, configMap(nameOf(i), { i: `${i}` }, { labels: { app: 'x' } }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', MAPS_OF('x')))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  const counts = () => [florin, guilder].map(space => server.names(space, MAPS).length)
  t.same(counts(), [count, count])
  const edit = async (name: string, change: (object: KubeObject) => KubeObject) =>
    wds.update(EDGE_PLACEMENTS, change(server.peek('wds1', EDGE_PLACEMENTS, name)!))
  const select = (app: string) => edit('ep', ep => ({ ...ep, spec: MAPS_OF(app) }))
  const held = (name = 'ep') => {
    return conditionOf(server.peek('wds1', EDGE_PLACEMENTS, name)!, 'DeletionHeld')
  }
  const isHeld = (name?: string) => until(() => held(name)?.status === 'True')
  const hash = (name?: string) => / edge.kubestellar.io\/confirm-deletion=(\w+)$/.exec(String(held(name)?.message))![1]!
  const confirm = (value: string, name = 'ep') =>
    edit(name, ep => {
      const annotations = { ...ep.metadata.annotations, [CONFIRM_DELETION_ANNOTATION]: value }
      return { ...ep, metadata: { ...ep.metadata, annotations } }
    })
  return { ...scene, until, clock, counts, edit, select, held, isHeld, hash, confirm }
}
const STALE = /The hash that is confirmed on it now is not that of these copies/
const nameOf = (i: number) => `m${String(i).padStart(3, '0')}`

t.test('one letter in a selector empties no cluster, until that is confirmed', async t => {
  const { server, until, counts, select, held, isHeld, hash, confirm, warnings } = await placed(t, 30)
  await select('y')
  await isHeld()
  const { status } = server.peek('wds1', EDGE_PLACEMENTS, 'ep')!
  t.match(status, { counts: { deletionHeld: 60 } })
  t.match(conditionOf({ status }, 'Applied'), { reason: 'DeletionHeld' }, 'all of it in one write')
  await server.quiet()
  t.match(warnings, [/^deletions are held until somebody confirms them/], 'one line, for who operates the server')
  t.same(counts(), [30, 30])
  const { reason, message } = held()!
  t.equal(reason, 'TooMuchAtOnce')
  t.match(message, /^60 copies in 2 clusters .* configmaps "commonstuff\/m000" at (florin|guilder)/)
  const [event] = server.names('wds1', EVENTS)
  t.match(server.peek('wds1', EVENTS, event!.slice('default/'.length), 'default'), {
    type: 'Warning',
    reason: 'DeletionHeld',
    involvedObject: { kind: 'EdgePlacement', name: 'ep' },
  })
  await confirm('another')
  await server.quiet()
  t.same(counts(), [30, 30], 'another hash confirms nothing')
  await until(() => STALE.test(String(held()?.message)))
  await confirm(hash())
  await until(() => held()?.status === 'False')
  await server.quiet()
  t.same(counts(), [0, 0])
})

t.test(
  'copies that are held have work statuses that say so and how it ends, also where nothing leads any more',
  async t => {
    const { server, wds, until, select, isHeld, hash, confirm, held, workStatuses, followStatuses } = await placed(
      t,
      11,
    )
    t.same((await workStatuses()).length, 22)
    const told = new Set<string>()
    t.teardown(followStatuses({ touched: ({ name }) => told.add(name), lost: () => told.add('all') }))
    await select('y')
    await isHeld()
    t.equal(told.size, 22, 'who watches is told')
    const rows = await workStatuses()
    t.equal(rows.length, 22)
    t.equal(rows[0], 'inv1.florin:configmaps:m000 Held DeletionHeld')
    t.equal(rows[21], 'inv1.guilder:configmaps:m010 Held DeletionHeld')
    await wds.update(SLICES, {
      ...server.peek('wds1', SLICES, 'ep')!,
      destinations: slice('ep', 'guilder').destinations,
    })
    await server.quiet()
    t.same(await workStatuses(), rows, 'the same where nothing leads any more')
    await wds.update(SLICES, { ...server.peek('wds1', SLICES, 'ep')!, destinations: [] })
    const said = (): { counts?: unknown; conditions?: { type: string; reason: string }[] } =>
      server.peek('wds1', EDGE_PLACEMENTS, 'ep')!.status as object
    const about = (type: string) => said().conditions?.find(one => one.type === type)
    await until(() => about('Resolved')?.reason === 'NoLocation')
    t.match(said().counts, { clusters: 0, copies: 0, held: 0, deletionHeld: 22 })
    for (const type of ['Applied', 'Healthy'])
      t.match(about(type), {
        status: 'False',
        reason: 'DeletionHeld',
        message: /^there is nowhere to place; 22 copies /,
      })
    told.clear()
    await confirm(hash())
    await until(() => held()?.status === 'False')
    await server.quiet()
    t.same(await workStatuses(), [])
    t.equal(told.size, 22)
    await until(() => about('Applied')?.reason === 'NotResolved')
    t.match(said().counts, { deletionHeld: 0 })
  },
)

t.test(
  'a hold follows a SyncTarget that is deleted meanwhile, and the old hash is told to confirm nothing',
  async t => {
    const { server, until, counts, select, held, isHeld, hash, confirm, workStatuses, followStatuses } = await placed(
      t,
      11,
    )
    await select('y')
    await isHeld()
    const stale = hash()
    const told = new Set<string>()
    t.teardown(followStatuses({ touched: ({ name }) => told.add(name), lost: () => t.fail('all of it') }))
    await server.in('inv1').delete(SYNC_TARGETS, { name: 'florin' })
    await until(() => /^11 copies in 1 cluster .* at guilder/.test(String(held()?.message)))
    t.equal(told.size, 11, 'who watches work statuses is told')
    t.equal((await workStatuses()).length, 11)
    await confirm(stale)
    await until(() => STALE.test(String(held()?.message)))
    t.same(counts(), [11, 11])
    await confirm(hash())
    await until(() => held()?.status === 'False')
    await server.quiet()
    t.same(counts(), [11, 0], 'what is in the other one is between its SyncTarget and its syncer')
  },
)

t.test('a hold ends by itself when the change is reverted, and its confirmation is good for no other', async t => {
  const { server, until, clock, counts, select, held, isHeld, hash, confirm } = await placed(t, 30)
  await select('y')
  await isHeld()
  const first = hash()
  await select('x')
  await until(() => held()?.status === 'False')
  await server.quiet()
  t.same(counts(), [30, 30])
  await clock.advance(60_000)
  await confirm(first)
  await select('y')
  await until(() => held()?.status === 'True')
  await server.quiet()
  t.not(hash(), first)
  t.same(counts(), [30, 30])
})

t.test('all of more than 10 in one cluster are held, also where they are few; less goes at once', async t => {
  const { server, counts, select, isHeld, held, wds } = await placed(t, 11)
  const relabel = (i: number) => wds.update(MAPS, configMap(nameOf(i), { i: `${i}` }, { labels: { app: 'other' } }))
  await relabel(0)
  await server.quiet()
  t.same(counts(), [10, 10], 'a single label: at once')
  t.notOk(held())
  await select('y')
  await isHeld()
  await server.quiet()
  t.same(counts(), [10, 10], 'with what went just now it is 11, and all')
})

t.test('what only a pause keeps is nothing that stays: all others are held', async t => {
  const { server, counts, select, isHeld, hash, confirm, until, held, wds } = await placed(t, 12)
  const stays = configMap(nameOf(0), { i: '0' }, { labels: { app: 'x' } })
  const annotations = { ...stays.metadata.annotations, [PAUSED_ANNOTATION]: 'true' }
  await wds.update(MAPS, { ...stays, metadata: { ...stays.metadata, annotations } })
  await server.quiet()
  await select('y')
  await isHeld()
  await server.quiet()
  t.same(counts(), [12, 12])
  await confirm(hash())
  await until(() => held()?.status === 'False')
  await server.quiet()
  t.same(counts(), [1, 1], 'the pause keeps its object')
})

t.test('what is deleted by name goes, however much it is', async t => {
  const { server, counts, wds, held } = await placed(t, 40)
  for (let i = 0; i < 20; i++) await wds.delete(MAPS, { namespace: 'commonstuff', name: nameOf(i) })
  await server.quiet()
  t.same(counts(), [20, 20])
  t.notOk(held())
  await wds.create(EDGE_PLACEMENTS, placement('other', MAPS_OF('none')))
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await server.quiet()
  t.same(counts(), [0, 0], 'also where another placement could be asked')
  t.notOk(held('other'))
})

t.test('a deleted EdgePlacement takes with it what was held on its account', async t => {
  const { server, counts, wds, select, isHeld } = await placed(t, 30)
  await wds.create(EDGE_PLACEMENTS, placement('other', MAPS_OF('none')))
  await select('y')
  await isHeld()
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await server.quiet()
  t.same(counts(), [0, 0])
})

t.test('an object that is deleted by name while it is held goes, and the plan is another one', async t => {
  const { server, until, counts, wds, select, isHeld, hash } = await placed(t, 30)
  await select('y')
  await isHeld()
  const before = hash()
  await wds.delete(MAPS, { namespace: 'commonstuff', name: nameOf(3) })
  await until(() => counts().join() === '29,29')
  await until(() => hash() !== before)
  await server.quiet()
  t.same(counts(), [29, 29])
})

for (const { what, change } of [
  {
    what: 'a slice that leads nowhere any more',
    change: async ({ server, wds }: Awaited<ReturnType<typeof placed>>) =>
      wds.update(SLICES, { ...server.peek('wds1', SLICES, 'ep')!, destinations: [] }),
  },
  {
    what: 'a grant that is withdrawn',
    change: async ({ server }: Awaited<ReturnType<typeof placed>>) =>
      server.in('inv1').delete(PLACEMENT_GRANTS, { name: 'wds1' }),
  },
  {
    what: 'a binding that is deleted',
    change: async ({ wds }: Awaited<ReturnType<typeof placed>>) => wds.delete(INVENTORY_BINDINGS, { name: 'inv1' }),
  },
  {
    what: 'a Location that is deleted',
    change: async ({ server }: Awaited<ReturnType<typeof placed>>) => {
      await server.in('inv1').delete(LOCATIONS, { name: 'florin' })
      await server.in('inv1').delete(LOCATIONS, { name: 'guilder' })
    },
  },
]) {
  t.test(`${what} empties no cluster`, async t => {
    const scene = await placed(t, 30)
    await change(scene)
    await scene.isHeld()
    await scene.server.quiet()
    t.same(scene.counts(), [30, 30])
    await scene.wds.update(MAPS, configMap(nameOf(1), { i: 'edited' }, { labels: { app: 'x' } }))
    await scene.server.quiet()
    t.same(scene.server.peek(scene.florin, MAPS, nameOf(1), 'commonstuff')!.data, { i: '1' }, 'but nothing is written')
  })
}

t.test('a Namespace that is deleted with all that is in it empties no cluster', async t => {
  const { server, until, wds, counts, florin, isHeld, hash, confirm, edit } = await placed(t, 30)
  await edit('ep', ep => ({ ...ep, spec: { downsync: [{ apiGroup: '', resources: ['configmaps', 'namespaces'] }] } }))
  await server.quiet()
  const source = server.peek('wds1', NAMESPACES, 'commonstuff')!
  await wds.update(NAMESPACES, { ...source, metadata: { ...source.metadata, finalizers: ['kubernetes'] } })
  await wds.delete(NAMESPACES, { name: 'commonstuff' })
  for (let i = 0; i < 30; i++) await wds.delete(MAPS, { namespace: 'commonstuff', name: nameOf(i) })
  const { finalizers: _, ...metadata } = server.peek('wds1', NAMESPACES, 'commonstuff')!.metadata
  await wds.update(NAMESPACES, { ...source, metadata })
  await isHeld()
  await server.quiet()
  t.same(counts(), [30, 30])
  t.ok(server.peek(florin, NAMESPACES, 'commonstuff'), 'the Namespace waits for what is in it')
  await until(() => /^60 /.test(String(server.peek('wds1', EDGE_PLACEMENTS, 'ep')!.status && messageOf())))
  await confirm(hash())
  await until(() => server.peek(florin, NAMESPACES, 'commonstuff') === undefined)
  await server.quiet()
  t.same(counts(), [0, 0])

  function messageOf(): unknown {
    const { status } = server.peek('wds1', EDGE_PLACEMENTS, 'ep')!
    return (status as { conditions: { type: string; message: string }[] }).conditions.find(
      ({ type }) => type === 'DeletionHeld',
    )?.message
  }
})

t.test('a hold survives a restart, with its hash', async t => {
  const { server, until, counts, select, isHeld, held, hash, restart, confirm, wds } = await placed(t, 30)
  await wds.create(EDGE_PLACEMENTS, placement('other', MAPS_OF('none')))
  await select('y')
  await isHeld()
  const before = hash()
  await restart(() => confirm('yet another'))
  await server.quiet()
  t.same(counts(), [30, 30])
  t.equal(hash(), before)
  t.notOk(held('other'), 'who had nothing to do with it is not told')
  await restart(() => confirm(before))
  await until(() => counts().join() === '0,0')
  await until(() => held()?.status === 'False')
})

t.test(
  'of a hold after a restart those are told from which something has left, no others that a start has named',
  async t => {
    const { server, wds, counts, select, isHeld, held, restart } = await placed(t, 30)
    await wds.create(EDGE_PLACEMENTS, placement('other', MAPS_OF('none')))
    await wds.create(SLICES, slice('other', 'florin', 'guilder'))
    await server.quiet()
    await restart(async () => {})
    await server.quiet()
    await wds.create(EDGE_PLACEMENTS, placement('new', MAPS_OF('none')))
    await wds.create(SLICES, slice('new', 'florin'))
    await server.quiet()
    await select('y')
    await isHeld()
    await server.quiet()
    t.same(counts(), [30, 30])
    t.notOk(held('other'), 'it was there at the start')
    t.notOk(held('new'), 'it leads where it did not before')
  },
)

t.test('what became unwanted while nobody was there is held, and told', async t => {
  const { server, until, counts, select, isHeld, hash, restart, confirm } = await placed(t, 26)
  await restart(() => select('y'))
  await isHeld()
  await server.quiet()
  t.same(counts(), [26, 26])
  await confirm(hash())
  await until(() => counts().join() === '0,0')
})

t.test('what vanished while nobody was there, as from a restored store, is held', async t => {
  const { server, counts, isHeld, restart, wds } = await placed(t, 26)
  await restart(async () => {
    for (let i = 0; i < 26; i++) await wds.delete(MAPS, { namespace: 'commonstuff', name: nameOf(i) })
  })
  await isHeld()
  await server.quiet()
  t.same(counts(), [26, 26])
})

t.test('what is little goes after a restart', async t => {
  const { until, counts, restart, wds, held } = await placed(t, 30)
  await restart(async () => {
    for (let i = 0; i < 5; i++) await wds.update(MAPS, configMap(nameOf(i), {}, { labels: { app: 'other' } }))
  })
  await until(() => counts().join() === '25,25')
  t.notOk(held())
})

t.test('copies tell their clusters to keep them, also when that is said only just before the end', async t => {
  const { server, wds, florin, counts, edit } = await placed(t, 20)
  const mark = (i: number) =>
    server.peek(florin, MAPS, nameOf(i), 'commonstuff')?.metadata.annotations?.[PRESERVE_ANNOTATION]
  const preserve = (value: boolean) =>
    edit('ep', ep => ({ ...ep, spec: { ...MAPS_OF('x'), preserveResourcesOnDeletion: value } }))
  t.equal(mark(0), undefined)
  await preserve(true)
  await server.quiet()
  t.equal(mark(19), 'true')
  await preserve(false)
  await server.quiet()
  t.equal(mark(19), undefined)
  const before = server.writes.length
  await Promise.all([preserve(true), wds.delete(EDGE_PLACEMENTS, { name: 'ep' })])
  await server.quiet()
  t.same(counts(), [0, 0])
  const last = server.writes.slice(before).filter(write => write.startsWith(florin) && write.endsWith(`/${nameOf(7)}`))
  t.same(
    last.map(write => write.split(' ')[1]),
    ['update', 'delete'],
    'the word goes before',
  )
})

t.test('a cluster is emptied when the time in evictAfter of its SyncTarget has come', async t => {
  const { server, wds, counts, held } = await placed(t, 30)
  const target = server.peek('inv1', SYNC_TARGETS, 'florin')!
  await server.in('inv1').update(SYNC_TARGETS, { ...target, spec: { evictAfter: '2025-12-31T00:00:00Z' } })
  await wds.update(SLICES, { ...server.peek('wds1', SLICES, 'ep')!, destinations: slice('ep', 'guilder').destinations })
  await server.quiet()
  t.same(counts(), [0, 30])
  t.notOk(held())
})

/** The same, and a second space that waits in both mailboxes for two of those ConfigMaps, the first and the last by name. */
async function awaited(t: Test, count: number) {
  const scene = await placed(t, count)
  const { server, wds, florin, guilder, previewer } = scene
  // so that nothing counts as emptied: what is held is held for its number
  await wds.create(MAPS, configMap('rest', {}, { labels: { app: 'rest' } }))
  await wds.create(EDGE_PLACEMENTS, placement('rest', MAPS_OF('rest')))
  await wds.create(SLICES, slice('rest', 'florin', 'guilder'))
  await consent(server, 'wds2')
  const other = server.in('wds2')
  const names = [nameOf(0), nameOf(count - 1)]
  await other.create(NAMESPACES, namespace('commonstuff'))
  for (const name of names) await other.create(MAPS, configMap(name, { from: 'two' }))
  await other.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await other.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  const copies = () => [florin, guilder].flatMap(at => names.map(name => server.peek(at, MAPS, name, 'commonstuff')))
  const told = (name = names[0]!) =>
    server.peek('wds2', MAPS, name, 'commonstuff')?.metadata.annotations?.[CONFLICT_ANNOTATION]
  const preview = async (space: string, resource: typeof MAPS, object: KubeObject) =>
    (await previewer().preview({ space, objects: [{ resource, object, operation: 'update' }] })).objects[0]!
  return {
    ...scene,
    names,
    told,
    preview,
    annotate: async (name: string, annotations: Record<string, string>) => {
      await wds.patch(MAPS, { namespace: 'commonstuff', name }, 'merge', { metadata: { annotations } })
      await server.quiet()
    },
    /** Owners of the copies, and whether their content is that owner's. */
    owners: () => copies().map(copy => copy?.metadata.annotations?.[OWNER_ANNOTATION]),
    says: () => copies().map(copy => (at(copy?.data, 'from') === 'two' ? 'wds2' : 'wds1')),
  }
}
const at = (value: unknown, field: string): unknown => (isRecord(value) ? value[field] : undefined)
const FIRST = ['wds1', 'wds1', 'wds1', 'wds1']
const SECOND = ['wds2', 'wds2', 'wds2', 'wds2']

t.test(
  'what another space waits for counts among what goes, and is held with it: undone, it was never gone',
  async t => {
    const { server, until, select, held, isHeld, owners, says, told, preview, restart, workStatuses } = await awaited(
      t,
      26,
    )
    const slip = { ...server.peek('wds1', EDGE_PLACEMENTS, 'ep')!, spec: MAPS_OF('y') }
    t.match((await preview('wds1', EDGE_PLACEMENTS, slip)).moves, { deletes: 52, isHeld: true })
    const before = told()
    t.match(before, /^not placed where space wds1 owns it/)
    await select('y')
    await isHeld()
    await server.quiet()
    t.match(held()!.message, /^52 copies in 2 clusters/)
    const kept = async (when: string) => {
      t.same(owners(), FIRST, when)
      t.same(says(), FIRST, when)
      t.match(told(), /^not placed where space wds1 owns it until its deletion is confirmed/, when)
    }
    await kept('held')
    const rows = (await workStatuses()).filter(row => row.includes(':m000 '))
    t.same(rows, ['inv1.florin:configmaps:m000 Held DeletionHeld', 'inv1.guilder:configmaps:m000 Held DeletionHeld'])
    const theirs = configMap('m000', { from: 'two again' })
    t.match(await preview('wds2', MAPS, theirs), { groups: [{ action: 'Conflict', count: 2 }] })
    await server.in('wds2').update(MAPS, theirs)
    await server.quiet()
    await kept('whatever the other one writes')
    await restart(async () => {})
    await isHeld()
    await server.quiet()
    await kept('after a restart')
    await select('x')
    await until(() => held()?.status === 'False')
    await server.quiet()
    t.same([owners(), says()], [FIRST, FIRST], 'undone')
    t.equal(told(), before, 'undone')
  },
)

t.test('what another space waits for becomes its own when the hold is confirmed', async t => {
  const { server, clock, florin, until, select, held, isHeld, hash, confirm, counts, owners, says, told, restart } =
    await awaited(t, 30)
  await select('y')
  await isHeld()
  let lost = 0
  const racing: Client = {
    in(space) {
      const api = server.in(space)
      if (space !== florin) return api
      return {
        ...api,
        update: async (gvr, object, options) => {
          if (gvr.resource === 'configmaps' && lost++ === 0) throw new StatusError('Conflict', 'a lost race')
          return await api.update(gvr, object, options)
        },
      }
    },
    stream: options => server.stream(options),
  }
  await restart(async () => {}, racing)
  await isHeld()
  t.same(owners(), FIRST)
  await confirm(hash())
  await until(() => held()?.status === 'False')
  await clock.advance(3000)
  await server.quiet()
  t.same(counts(), [3, 3])
  t.ok(lost > 1, 'also where it was tried twice')
  t.same(owners(), SECOND)
  t.same(says(), SECOND)
  t.equal(told(), undefined)
})

t.test('who comes while a copy is held waits for it, and is told', async t => {
  const { server, select, isHeld, told, restart } = await awaited(t, 30)
  const other = server.in('wds2')
  await select('y')
  await isHeld()
  await other.create(MAPS, configMap('m007', { from: 'two' }))
  await server.quiet()
  t.match(told('m007'), /^not placed where space wds1 owns it/)
  await restart(() => other.create(MAPS, configMap('m008', { from: 'two' })))
  await server.quiet()
  t.match(told('m008'), /^not placed where space wds1 owns it/)
})

t.test('little passes on at once, and so does what is deleted by name, handed over or released', async t => {
  const { server, wds, florin, select, isHeld, names, owners, annotate } = await awaited(t, 30)
  const [first, last] = names as [string, string]
  await wds.update(MAPS, configMap(first, {}, { labels: { app: 'other' } }))
  await server.quiet()
  t.same(owners(), ['wds2', 'wds1', 'wds2', 'wds1'], 'a single label')
  await select('y')
  await isHeld()
  t.same(owners(), ['wds2', 'wds1', 'wds2', 'wds1'])
  await annotate(last, { [HAND_OVER_ANNOTATION]: 'wds2' })
  t.same(owners(), SECOND, 'handed over while it is held')
  await select('x')
  await server.quiet()
  const other = server.in('wds2')
  await other.create(MAPS, configMap('m001', { from: 'two' }))
  await other.create(MAPS, configMap('m002', { from: 'two' }))
  await server.quiet()
  await select('y')
  await isHeld()
  const ownerOf = (name: string) =>
    server.peek(florin, MAPS, name, 'commonstuff')?.metadata.annotations?.[OWNER_ANNOTATION]
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'm001' })
  await server.quiet()
  t.equal(ownerOf('m001'), 'wds2', 'deleted by name while it is held')
  t.equal(ownerOf('m002'), 'wds1')
  const target = server.peek('inv1', SYNC_TARGETS, 'florin')!
  const annotations = { [RELEASE_OWNER_ANNOTATION]: 'wds1' }
  await server.in('inv1').update(SYNC_TARGETS, { ...target, metadata: { ...target.metadata, annotations } })
  await server.quiet()
  t.equal(ownerOf('m002'), 'wds2', 'released')
})

t.test('a pause keeps what another space waits for, too', async t => {
  const { server, wds, edit, names, owners, says } = await awaited(t, 12)
  await edit('ep', ep => ({ ...ep, spec: { ...MAPS_OF('x'), paused: true } }))
  await server.quiet()
  for (const name of names) await wds.delete(MAPS, { namespace: 'commonstuff', name })
  await server.quiet()
  t.same(owners(), FIRST)
  await edit('ep', ep => ({ ...ep, spec: MAPS_OF('x') }))
  await server.quiet()
  t.same(owners(), SECOND)
  t.same(says(), SECOND)
})

t.test('a pause that is over is not reported of a copy whose next space is paused', async t => {
  const { server, edit, wds, names, owners, workStatuses } = await awaited(t, 12)
  const other = server.in('wds2')
  const second = server.peek('wds2', EDGE_PLACEMENTS, 'ep')!
  await edit('ep', ep => ({ ...ep, spec: { ...MAPS_OF('x'), paused: true } }))
  await server.quiet()
  for (const name of names) await wds.delete(MAPS, { namespace: 'commonstuff', name })
  await server.quiet()
  const rows = async () => (await workStatuses()).filter(row => / Paused /.test(row))
  t.match(await rows(), [/Paused PlacementPaused/])
  await other.update(EDGE_PLACEMENTS, { ...second, spec: { ...(second.spec as object), paused: true } })
  await server.quiet()
  await edit('ep', ep => ({ ...ep, spec: MAPS_OF('x') }))
  await server.quiet()
  t.same(owners(), FIRST)
  t.same(await rows(), [], 'the first space is paused no more')
})

t.test('a Namespace that is deleted with all that is in it gives nothing away', async t => {
  const { server, wds, isHeld, owners } = await awaited(t, 30)
  const source = server.peek('wds1', NAMESPACES, 'commonstuff')!
  await wds.update(NAMESPACES, { ...source, metadata: { ...source.metadata, finalizers: ['kubernetes'] } })
  await wds.delete(NAMESPACES, { name: 'commonstuff' })
  for (let i = 0; i < 30; i++) await wds.delete(MAPS, { namespace: 'commonstuff', name: nameOf(i) })
  const { finalizers: _, ...metadata } = server.peek('wds1', NAMESPACES, 'commonstuff')!.metadata
  await wds.update(NAMESPACES, { ...source, metadata })
  await isHeld()
  await server.quiet()
  t.same(owners(), FIRST)
})

t.test('what vanished while nobody was there, and another space waits for, is held as well', async t => {
  const { server, wds, isHeld, owners, says, restart } = await awaited(t, 26)
  await restart(async () => {
    for (let i = 0; i < 26; i++) await wds.delete(MAPS, { namespace: 'commonstuff', name: nameOf(i) })
  })
  await isHeld()
  await server.quiet()
  t.same([owners(), says()], [FIRST, FIRST])
})
