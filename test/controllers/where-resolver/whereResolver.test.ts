// Results of the where-resolver for users of placements and inventories, against a small server in memory.

import t, { type Test } from 'tap'
import type { GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'
import { type Clock, systemClock } from '../../../src/client/clock.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { startWhereResolver } from '../../../src/controllers/where-resolver/whereResolver.ts'
import { mailboxName } from '../../../src/placement/words/placement.ts'
import { timeBy } from '../../support/time.ts'
import { consent } from '../consent/consent.ts'
import { FakeServer } from '../placement/fakeServer.ts'
import { fedByTopology } from '../placement/fedByTopology.ts'

const edge = (resource: string): GroupVersionResource => ({
  group: 'edge.kubestellar.io',
  version: 'v2alpha1',
  resource,
})
const PLACEMENTS = edge('edgeplacements')
const SLICES = edge('singleplacementslices')
const LOCATIONS = edge('locations')
const TARGETS = edge('synctargets')
const EDGE = 'edge.kubestellar.io/v2alpha1'

type Labels = Record<string, string>
const location = (name: string, labels: Labels, instanceSelector?: object): KubeObject => ({
  apiVersion: EDGE,
  kind: 'Location',
  metadata: { name, labels },
  spec: { ...(instanceSelector && { instanceSelector }) },
})
const target = (name: string, labels: Labels = { id: name }): KubeObject => ({
  apiVersion: EDGE,
  kind: 'SyncTarget',
  metadata: { name, labels },
})
const placement = (name: string, ...locationSelectors: object[]): KubeObject => ({
  apiVersion: EDGE,
  kind: 'EdgePlacement',
  metadata: { name },
  spec: { locationSelectors },
})
const matching = (labels: Labels) => ({ matchLabels: labels })

async function world(t: Test, clock: Clock = systemClock, keepMs = 0) {
  const server = new FakeServer()
  const deps = { client: server, places: server, logger: silentLogger, keepMs }
  const resolver = fedByTopology(startWhereResolver, { ...deps, ...timeBy(clock) })
  t.teardown(() => resolver.stop())
  await consent(server, 'inv1', 'wds1')
  const inventory = server.in('inv1')
  for (const name of ['guilder', 'florin']) await inventory.create(TARGETS, target(name))
  await inventory.create(LOCATIONS, location('florin', { env: 'prod' }, matching({ id: 'florin' })))
  await inventory.create(LOCATIONS, location('guilder', { env: 'prod', extended: 'yes' }, matching({ id: 'guilder' })))
  const names = (name: string) =>
    ((server.peek('wds1', SLICES, name)?.destinations ?? []) as { locationName: string; syncTargetName: string }[]).map(
      d => `${d.locationName}>${d.syncTargetName}`,
    )
  return { server, inventory, wds: server.in('wds1'), names }
}

t.test('a placement gets a slice of its name, owned by it, with a row for each Location and SyncTarget', async t => {
  const { server, wds } = await world(t)
  await wds.create(PLACEMENTS, placement('ep', matching({ env: 'prod' })))
  await server.quiet()
  const slice = server.peek('wds1', SLICES, 'ep')!
  const { uid } = server.peek('wds1', PLACEMENTS, 'ep')!.metadata
  t.same(slice.metadata.ownerReferences, [{ apiVersion: EDGE, kind: 'EdgePlacement', name: 'ep', uid }])
  t.same(
    slice.destinations,
    ['florin', 'guilder'].map(name => ({
      cluster: 'inv1',
      locationName: name,
      syncTargetName: name,
      syncTargetUID: server.peek('inv1', TARGETS, name)!.metadata.uid,
    })),
  )
  t.same(server.peek('wds1', PLACEMENTS, 'ep')!.status, { specGeneration: 1, matchingLocationCount: 2 })
})

t.test(
  'selectors are alternatives, none selects nothing, and an absent instanceSelector stands for no SyncTarget',
  async t => {
    const { server, wds, inventory, names } = await world(t)
    await wds.create(PLACEMENTS, placement('none'))
    await wds.create(PLACEMENTS, placement('either', matching({ extended: 'yes' }), matching({ empty: 'yes' })))
    await inventory.create(LOCATIONS, location('bare', { empty: 'yes' }))
    await inventory.create(LOCATIONS, location('all', { empty: 'yes' }, {}))
    await server.quiet()
    t.same(names('none'), [])
    t.ok(server.peek('wds1', SLICES, 'none'))
    t.same(
      names('either'),
      ['all>florin', 'all>guilder', 'guilder>guilder'],
      'one SyncTarget by two Locations keeps both rows',
    )
    t.same(server.peek('wds1', PLACEMENTS, 'either')!.status, { specGeneration: 1, matchingLocationCount: 3 })
  },
)

t.test('changes of Locations and SyncTargets reach the slices that they concern and no others', async t => {
  const { server, wds, inventory, names } = await world(t)
  await wds.create(PLACEMENTS, placement('prod', matching({ env: 'prod' })))
  await wds.create(PLACEMENTS, placement('ext', matching({ extended: 'yes' })))
  await server.quiet()
  const before = server.writes.length
  const florin = server.peek('inv1', LOCATIONS, 'florin')!
  await inventory.update(LOCATIONS, { ...florin, metadata: { ...florin.metadata, labels: { env: 'test' } } })
  await server.quiet()
  t.same(names('prod'), ['guilder>guilder'])
  t.same(
    server.writes.slice(before).filter(write => write.startsWith('wds1')),
    [
      'wds1 update grantedlocations /inv1.florin',
      'wds1 update singleplacementslices /prod',
      'wds1 status edgeplacements /prod',
    ],
  )
  const { uid } = server.peek('inv1', TARGETS, 'guilder')!.metadata
  await inventory.delete(TARGETS, { name: 'guilder' })
  await server.quiet()
  t.same([names('prod'), names('ext')], [[], []])
  await inventory.create(TARGETS, target('guilder'))
  await server.quiet()
  t.same(names('ext'), ['guilder>guilder'])
  const rows = server.peek('wds1', SLICES, 'ext')!.destinations as { syncTargetUID: string }[]
  t.not(rows[0]!.syncTargetUID, uid, 'a new SyncTarget is another one')
})

t.test('a slice that somebody edits or deletes is mended', async t => {
  const { server, wds, names } = await world(t)
  await wds.create(PLACEMENTS, placement('ep', matching({ env: 'prod' })))
  await server.quiet()
  await wds.update(SLICES, { ...server.peek('wds1', SLICES, 'ep')!, destinations: [] })
  await server.quiet()
  t.equal(names('ep').length, 2)
  await wds.delete(SLICES, { name: 'ep' })
  await server.quiet()
  t.equal(names('ep').length, 2)
})

t.test('a malformed selector is shown on the placement, the others count, and the cure clears it', async t => {
  const { server, wds, names } = await world(t)
  const bad = { matchExpressions: [{ key: 'env', operator: 'Near', values: ['prod'] }] }
  await wds.create(PLACEMENTS, placement('ep', bad, matching({ extended: 'yes' })))
  await server.quiet()
  t.same(names('ep'), ['guilder>guilder'])
  const key = 'validation-error.kubestellar.io/0'
  const object = server.peek('wds1', PLACEMENTS, 'ep')!
  t.match(object.metadata.annotations![key], /^spec\.locationSelectors\[0\].*Near.*correct or remove/)
  await wds.update(PLACEMENTS, { ...object, spec: { locationSelectors: [matching({ env: 'prod' })] } })
  await server.quiet()
  t.notOk(key in server.peek('wds1', PLACEMENTS, 'ep')!.metadata.annotations!)
  t.same(names('ep'), ['florin>florin', 'guilder>guilder'])
})

t.test('a Location counts its SyncTargets and those that are available', async t => {
  const { server, inventory } = await world(t)
  await inventory.create(LOCATIONS, location('both', {}, {}))
  await server.quiet()
  const status = () => server.peek('inv1', LOCATIONS, 'both')!.status
  t.same(status(), { instances: 2, availableInstances: 0 })
  const report = (value: string) =>
    inventory.patch(
      TARGETS,
      { name: 'florin' },
      'merge',
      { status: { conditions: [{ type: 'Ready', status: value }] } },
      { subresource: 'status' },
    )
  await report('True')
  await server.quiet()
  t.same(status(), { instances: 2, availableInstances: 1 })
  await report('False')
  await server.quiet()
  t.same(status(), { instances: 2, availableInstances: 0 })
})

const MAILBOX = `root:espw:${mailboxName('inv1', '01234567-89ab-cdef-0123-456789abcdef')}`

t.test('placements in a mailbox, or in a space that its syncer made there, choose nothing', async t => {
  const { server } = await world(t)
  server.place('box', MAILBOX)
  server.place('below', `${MAILBOX}:wmw1`)
  for (const space of ['box', 'below']) {
    await server.in(space).create(PLACEMENTS, placement('ep', {}))
    await server.quiet()
    t.notOk(server.peek(space, SLICES, 'ep'))
    t.equal(server.peek(space, PLACEMENTS, 'ep')!.status, undefined)
    await server.in(space).create(SLICES, { apiVersion: EDGE, kind: 'SinglePlacementSlice', metadata: { name: 'ep' } })
    await server.quiet()
    t.same(server.peek(space, SLICES, 'ep')!.destinations, undefined, 'what they say themselves is left alone')
  }
})

t.test('Locations and SyncTargets in a mailbox are never chosen', async t => {
  const { server, wds, names } = await world(t)
  server.place('box', MAILBOX)
  server.place('below', `${MAILBOX}:imw1`)
  await wds.create(PLACEMENTS, placement('ep', matching({ env: 'prod' })))
  for (const space of ['box', 'below']) {
    await server.in(space).create(TARGETS, target('trap'))
    await server.in(space).create(LOCATIONS, location('trap', { env: 'prod' }, {}))
  }
  await server.quiet()
  t.same(names('ep'), ['florin>florin', 'guilder>guilder'])
  t.match(server.peek('wds1', PLACEMENTS, 'ep')!.status, { matchingLocationCount: 2 })
  t.equal(server.peek('box', LOCATIONS, 'trap')!.status, undefined)
})

t.test('a space whose place is not known counts only once it is known', async t => {
  const { server, wds, names } = await world(t)
  for (const space of ['inv2', 'wds2']) server.unplaced.add(space)
  for (const space of ['wds1', 'wds2']) await consent(server, 'inv2', space)
  await wds.create(PLACEMENTS, placement('ep', matching({ late: 'yes' })))
  await server.in('inv2').create(TARGETS, target('late'))
  await server.in('inv2').create(LOCATIONS, location('late', { late: 'yes' }, {}))
  await server.in('wds2').create(PLACEMENTS, placement('ep', matching({ late: 'yes' })))
  await server.quiet()
  t.same(names('ep'), [])
  t.notOk(server.peek('wds2', SLICES, 'ep'))
  for (const space of ['inv2', 'wds2']) server.place(space)
  await server.quiet()
  t.same(names('ep'), ['late>late'])
  t.equal((server.peek('wds2', SLICES, 'ep')!.destinations as unknown[]).length, 1)
})

t.test('thousands of selectors are not all tried, and faults in thousands are not all told', async t => {
  const { server, wds, names } = await world(t)
  const others = Array(5000).fill(matching({ env: 'none' }))
  await wds.create(PLACEMENTS, placement('long', matching({ extended: 'yes' }), ...others, matching({ env: 'prod' })))
  await wds.create(PLACEMENTS, placement('odd', ...Array(3000).fill(matching({ 'no label': 'x' }))))
  await server.quiet()
  t.same(names('long'), ['guilder>guilder'])
  const faults = (name: string) =>
    Object.entries(server.peek('wds1', PLACEMENTS, name)?.metadata.annotations ?? {}).filter(([key]) =>
      key.startsWith('validation-error.kubestellar.io/'),
    )
  t.match(faults('long'), [[/\/0$/, /^spec\.locationSelectors\[5000\]: it and all selectors behind it select nothing/]])
  t.equal(faults('odd').length, 51)
  t.match(faults('odd').at(-1)?.[1], 'and 2950 more faults')
})

t.test('nothing new is placed on a SyncTarget that is unschedulable; what goes there goes on', async t => {
  const { server, inventory, wds, names } = await world(t)
  await wds.create(PLACEMENTS, placement('before', matching({ env: 'prod' })))
  await server.quiet()
  const unschedulable = (value: boolean) =>
    inventory.patch(TARGETS, { name: 'florin' }, 'merge', { spec: { unschedulable: value } })
  await unschedulable(true)
  await wds.create(PLACEMENTS, placement('after', matching({ env: 'prod' })))
  await server.quiet()
  t.same(names('before'), ['florin>florin', 'guilder>guilder'])
  t.same(names('after'), ['guilder>guilder'])
  await wds.patch(PLACEMENTS, { name: 'before' }, 'merge', { spec: { locationSelectors: [] } })
  await server.quiet()
  await wds.patch(PLACEMENTS, { name: 'before' }, 'merge', { spec: { locationSelectors: [matching({ env: 'prod' })] } })
  await server.quiet()
  t.same(names('before'), ['guilder>guilder'], 'who left does not come back')
  await unschedulable(false)
  await server.quiet()
  for (const name of ['before', 'after']) t.same(names(name), ['florin>florin', 'guilder>guilder'])
})

t.test('from the time in evictAfter on nothing leads to a SyncTarget; placements are told', async t => {
  const clock = handClock(Date.parse('2026-01-01T00:00:00Z'))
  const { server, inventory, wds, names } = await world(t, clock)
  await wds.create(PLACEMENTS, placement('everywhere', matching({ env: 'prod' })))
  await wds.create(PLACEMENTS, placement('elsewhere', matching({ extended: 'yes' })))
  await server.quiet()
  const evictAfter = (value: string | null) =>
    inventory.patch(TARGETS, { name: 'florin' }, 'merge', { spec: { evictAfter: value } })
  const scheduled = (name: string) => {
    const { conditions } = (server.peek('wds1', PLACEMENTS, name)?.status ?? {}) as { conditions?: { type: string }[] }
    return conditions?.find(({ type }) => type === 'Scheduled')
  }
  await evictAfter('2026-01-01T01:00:00Z')
  await server.quiet()
  t.same(names('everywhere'), ['florin>florin', 'guilder>guilder'], 'its time has not come')
  t.notOk(scheduled('everywhere'))
  clock.advance(3_600_000)
  await server.quiet()
  t.same(names('everywhere'), ['guilder>guilder'])
  t.match(scheduled('everywhere'), { status: 'False', reason: 'Evicted', message: /florin: .*evictAfter/ })
  t.notOk(scheduled('elsewhere'))
  await evictAfter(null)
  await server.quiet()
  t.same(names('everywhere'), ['florin>florin', 'guilder>guilder'])
  t.match(scheduled('everywhere'), { status: 'True' })
  await inventory.patch(TARGETS, { name: 'florin' }, 'merge', { spec: { unschedulable: true } })
  await wds.create(PLACEMENTS, placement('late', matching({ env: 'prod' })))
  await server.quiet()
  t.match(scheduled('late'), { status: 'False', reason: 'Unschedulable', message: /florin: / })
  t.match(scheduled('everywhere'), { status: 'True' }, 'it leads there still')
})

/** Time passes when a test says so. */
function handClock(startMs: number): Clock & { advance(ms: number): void } {
  let nowMs = startMs
  const timers = new Set<{ atMs: number; run: () => void }>()
  return {
    now: () => nowMs,
    after(delayMs, run) {
      const timer = { atMs: nowMs + delayMs, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    advance(ms) {
      nowMs += ms
      for (const timer of [...timers]) if (timer.atMs <= nowMs && timers.delete(timer)) timer.run()
    },
  }
}
t.test('a placement that is paused leads where it led, and is resolved anew afterwards', async t => {
  const { server, wds, names } = await world(t)
  await wds.create(PLACEMENTS, placement('p', matching({ env: 'prod' })))
  await server.quiet()
  const spec = (value: object) => wds.patch(PLACEMENTS, { name: 'p' }, 'merge', { spec: value })
  await spec({ paused: true, locationSelectors: [] })
  await server.quiet()
  t.same(names('p'), ['florin>florin', 'guilder>guilder'])
  await spec({ paused: null })
  await server.quiet()
  t.same(names('p'), [])
})

t.test('many destinations are told in several slices, and a change writes the one that it is about', async t => {
  const { server, wds, inventory } = await world(t)
  const add = (n: number) => inventory.create(TARGETS, target(`many-${n}`, { fleet: 'yes' }))
  for (let n = 0; n < 1001; n++) await add(n)
  await inventory.create(LOCATIONS, location('fleet', { env: 'fleet' }, matching({ fleet: 'yes' })))
  await wds.create(PLACEMENTS, placement('ep', matching({ env: 'fleet' })))
  await server.quiet()
  const slices = () =>
    server.names('wds1', SLICES).map(name => {
      const { metadata, destinations } = server.peek('wds1', SLICES, name)!
      const { labels, annotations, ownerReferences } = metadata
      return [
        name,
        (destinations as unknown[]).length,
        labels?.['edge.kubestellar.io/edge-placement'],
        ownerReferences?.map(({ name }) => name).join(),
        annotations?.['edge.kubestellar.io/slices'],
      ]
    })
  t.same(slices(), [
    ['ep', 500, 'ep', 'ep', '3'],
    ['ep-slice-2', 500, 'ep', 'ep', undefined],
    ['ep-slice-3', 1, 'ep', 'ep', undefined],
  ])
  const writesOf = async (change: () => Promise<unknown>) => {
    const before = server.writes.length
    await change()
    await server.quiet()
    return server.writes.slice(before).filter(write => write.includes('singleplacementslices'))
  }
  t.same(await writesOf(() => add(2000)), ['wds1 update singleplacementslices /ep-slice-3'])
  const gone = (server.peek('wds1', SLICES, 'ep-slice-2')!.destinations as { syncTargetName: string }[])[7]!
  t.same(await writesOf(() => inventory.delete(TARGETS, { name: gone.syncTargetName })), [
    'wds1 update singleplacementslices /ep-slice-2',
  ])
  await writesOf(() => wds.delete(SLICES, { name: 'ep-slice-2' }))
  t.same(
    slices().map(([name, size]) => [name, size]),
    [
      ['ep', 500],
      ['ep-slice-3', 501 - 1],
      ['ep-slice-2', 1],
    ].toSorted(),
    'what somebody deletes is told again',
  )
  const label = server.peek('inv1', LOCATIONS, 'fleet')!
  t.same(
    await writesOf(() =>
      inventory.update(LOCATIONS, { ...label, spec: { instanceSelector: matching({ fleet: 'none' }) } }),
    ),
    [
      'wds1 update singleplacementslices /ep',
      'wds1 delete singleplacementslices /ep-slice-2',
      'wds1 delete singleplacementslices /ep-slice-3',
    ],
  )
  t.same(slices(), [['ep', 0, 'ep', 'ep', undefined]])
})

t.test('what changes sides is given to the one before it is taken from the other', async t => {
  const clock = handClock(Date.parse('2026-01-01T00:00:00Z'))
  const { server, inventory, wds, names } = await world(t, clock, 100)
  await wds.create(PLACEMENTS, placement('stable', matching({ env: 'prod' })))
  await wds.create(PLACEMENTS, placement('canary', matching({ env: 'canary' })))
  await server.quiet()
  t.same([names('stable'), names('canary')], [['florin>florin', 'guilder>guilder'], []])
  await inventory.patch(LOCATIONS, { name: 'florin' }, 'merge', { metadata: { labels: { env: 'canary' } } })
  await server.quiet()
  t.same([names('stable'), names('canary')], [['florin>florin', 'guilder>guilder'], ['florin>florin']])
  clock.advance(100)
  await server.quiet()
  t.same([names('stable'), names('canary')], [['guilder>guilder'], ['florin>florin']])
})
