// Removals and holds with two EdgePlacements in a space, with pauses, and with few objects.

import t, { type Test } from 'tap'
import { at } from '../../../../src/apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../../../src/apimachinery/object.ts'
import { CRDS, NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import {
  EDGE_PLACEMENTS,
  INVENTORY_BINDINGS,
  LOCATIONS,
  OWNER_ANNOTATION,
  PAUSED_ANNOTATION,
  PLACEMENT_GRANTS,
  SLICES,
  SYNC_TARGETS,
} from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import { namespace } from '../fakeServer.ts'
import {
  CRONTABS,
  configMap,
  confirmHeld,
  consent,
  MAPS,
  placement,
  setGrant,
  slice,
  world,
} from '../translatorWorld.ts'

const NS = 'commonstuff'
const mapsOf = (...apps: string[]) => ({
  downsync: apps.map(app => ({ apiGroup: '', resources: ['configmaps'], labelSelectors: [{ matchLabels: { app } }] })),
})
const SELECTED_NAMESPACE = { downsync: [{ apiGroup: '', resources: ['namespaces'], objectNames: [NS] }] }

async function scene(t: Test) {
  const clock = new FakeClock()
  const all = await world(t, clock)
  const { server, wds, florin, guilder } = all
  await wds.create(NAMESPACES, namespace('default'))
  const find = (name: string) => server.peek('wds1', EDGE_PLACEMENTS, name)
  const conditionOf = (name: string, type: string): Record<string, unknown> | undefined => {
    const conditions = at(find(name)?.status, 'conditions')
    return (Array.isArray(conditions) ? conditions.filter(isRecord) : []).find(one => one.type === type)
  }
  const settle = async () => {
    for (let i = 0; i < 3; i++) {
      await server.quiet()
      await clock.advance(1500)
    }
    await server.quiet()
  }
  return {
    ...all,
    clock,
    settle,
    find,
    make: async (app: string, count: number, from = 0) => {
      for (let i = from; i < from + count; i++)
        await wds.create(MAPS, configMap(`${app}${i}`, { i: `${i}` }, { labels: { app } }))
    },
    label: (name: string, app: string) => wds.update(MAPS, configMap(name, { i: '0' }, { labels: { app } })),
    place: async (name: string, spec: object, ...targets: ('florin' | 'guilder')[]) => {
      await wds.create(EDGE_PLACEMENTS, placement(name, spec))
      await wds.create(SLICES, slice(name, ...targets))
    },
    edit: async (name: string, spec: object) => wds.update(EDGE_PLACEMENTS, { ...find(name)!, spec }),
    lead: async (name: string, ...targets: ('florin' | 'guilder')[]) =>
      wds.update(SLICES, {
        ...server.peek('wds1', SLICES, name)!,
        destinations: slice(name, ...targets).destinations,
      }),
    remove: async (name: string) => {
      await wds.delete(EDGE_PLACEMENTS, { name })
      if (server.peek('wds1', SLICES, name)) await wds.delete(SLICES, { name })
    },
    pauseObject: async (name: string, value: string | null) =>
      wds.patch(MAPS, { namespace: NS, name }, 'merge', { metadata: { annotations: { [PAUSED_ANNOTATION]: value } } }),
    counts: () => [florin, guilder].map(space => server.names(space, MAPS).length).join(),
    isHeld: (name: string) => conditionOf(name, 'DeletionHeld')?.status === 'True',
    messageOf: (name: string) => String(conditionOf(name, 'DeletionHeld')?.message),
  }
}

t.test('an EdgePlacement that is deleted by name takes what it had, whatever else the space places', async t => {
  const { counts, isHeld, make, place, remove, settle } = await scene(t)
  await make('x', 60)
  await place('p', mapsOf('x'), 'florin', 'guilder')
  await place('q', mapsOf('x'), 'florin')
  await settle()
  t.equal(counts(), '60,60')
  await remove('p')
  await settle()
  t.equal(counts(), '60,0')
  t.notOk(isHeld('q'))
})

t.test('a deletion by name covers what was held of just that EdgePlacement, also where others wait', async t => {
  const { server, counts, isHeld, lead, make, messageOf, place, remove, restart, settle } = await scene(t)
  await make('x', 60)
  await make('y', 60)
  await place('p', mapsOf('x'), 'florin')
  await place('q', mapsOf('y'), 'guilder')
  await settle()
  await lead('p')
  await settle()
  t.same([isHeld('p'), isHeld('q')], [true, false], 'whose copies are held is told')
  await lead('q')
  await settle()
  t.equal(counts(), '60,60')
  t.same([isHeld('p'), isHeld('q')], [true, true])
  t.match(messageOf('p'), /^120 copies in 2 clusters/, 'a space has one plan')
  await remove('q')
  await settle()
  t.equal(counts(), '60,0')
  t.match(messageOf('p'), /^60 copies in 1 cluster/)
  await restart(async () => {})
  await settle()
  t.equal(counts(), '60,0')
  await confirmHeld(server, 'wds1', 'p')
  await settle()
  t.equal(counts(), '0,0')
})

for (const gap of ['at once', 'when the first is done'] as const) {
  t.test(`both EdgePlacements of a space are deleted by name, ${gap}: nothing is left`, async t => {
    const { server, counts, make, place, remove, settle } = await scene(t)
    await make('x', 60)
    await place('p', mapsOf('x'), 'florin', 'guilder')
    await place('q', mapsOf('x'), 'florin')
    await settle()
    await remove('p')
    if (gap !== 'at once') await server.quiet()
    await remove('q')
    await settle()
    t.equal(counts(), '0,0')
  })
}

t.test('both have copies held, and are deleted by name: nothing is left', async t => {
  const { counts, edit, make, place, remove, settle } = await scene(t)
  await make('x', 60)
  await make('y', 60)
  await place('p', mapsOf('x'), 'florin')
  await place('q', mapsOf('y'), 'guilder')
  await settle()
  for (const name of ['p', 'q']) await edit(name, mapsOf('none'))
  await settle()
  t.equal(counts(), '60,60')
  for (const name of ['q', 'p']) {
    await remove(name)
    await settle()
  }
  t.equal(counts(), '0,0')
})

for (const second of [false, true]) {
  const beside = second ? ', another placement leads elsewhere' : ''
  t.test(`a paused EdgePlacement that is deleted gives up what its pause kept${beside}`, async t => {
    const { server, wds, counts, edit, make, place, remove, settle } = await scene(t)
    await make('x', 3)
    await place('p', mapsOf('x'), 'florin')
    if (second) await place('q', { downsync: [{ resources: ['configmaps'], objectNames: ['x1'] }] }, 'guilder')
    await settle()
    await edit('p', { ...mapsOf('x'), paused: true })
    await settle()
    await wds.delete(MAPS, { namespace: NS, name: 'x0' })
    await settle()
    t.equal(counts(), second ? '3,1' : '3,0')
    await remove('p')
    await settle()
    t.equal(counts(), second ? '0,1' : '0,0')
    t.equal(server.names('wds1', MAPS).length, 2)
  })
  for (const end of ['ends', 'ends with the object'] as const) {
    t.test(`what a paused object keeps goes when the pause ${end}, and no restart ends it${beside}`, async t => {
      const { wds, counts, make, pauseObject, place, remove, restart, settle, workStatuses } = await scene(t)
      await make('x', 2)
      await place('p', mapsOf('x'), 'florin')
      if (second) await place('q', { downsync: [{ resources: ['configmaps'], objectNames: ['x1'] }] }, 'guilder')
      await settle()
      await pauseObject('x0', 'true')
      await settle()
      await remove('p')
      await settle()
      await restart(async () => {})
      await settle()
      t.equal(counts(), second ? '1,1' : '1,0')
      t.match((await workStatuses()).join(), /inv1.florin:configmaps:x0 Paused ObjectPaused/, 'it is reported')
      if (end === 'ends') await pauseObject('x0', null)
      else await wds.delete(MAPS, { namespace: NS, name: 'x0' })
      await settle()
      t.equal(counts(), second ? '0,1' : '0,0')
    })
  }
}

t.test('a Namespace that is selected itself goes with the last who places it, and moves', async t => {
  const { server, wds, florin, guilder, lead, place, remove, settle } = await scene(t)
  const has = () => [florin, guilder].map(space => server.peek(space, NAMESPACES, NS) !== undefined)
  await consent(server, 'wds2')
  const other = server.in('wds2')
  await other.create(NAMESPACES, namespace(NS))
  await place('p', SELECTED_NAMESPACE, 'florin')
  await settle()
  await lead('p', 'guilder')
  await settle()
  t.same(has(), [false, true], 'moved')
  await other.create(EDGE_PLACEMENTS, placement('q', SELECTED_NAMESPACE))
  await other.create(SLICES, slice('q', 'guilder'))
  await settle()
  await remove('p')
  await settle()
  t.same(has(), [false, true], 'the other space places it')
  await other.delete(EDGE_PLACEMENTS, { name: 'q' })
  await settle()
  t.same(has(), [false, false])
  await place('p', SELECTED_NAMESPACE, 'florin')
  await settle()
  const born = { ...configMap('born', {}), metadata: { name: 'born', namespace: NS } }
  await server.in(florin).create(MAPS, born)
  await remove('p')
  await settle()
  t.same(has(), [true, false], 'something of others is in it')
  await server.in(florin).delete(MAPS, { namespace: NS, name: 'born' })
  await settle()
  t.same(has(), [false, false])
  t.ok(wds)
})

t.test('a Namespace that waited for what was held in it asks for no second confirmation', async t => {
  const { server, counts, florin, edit, isHeld, make, place, settle } = await scene(t)
  await make('x', 60)
  await place('p', { downsync: [...mapsOf('x').downsync, ...SELECTED_NAMESPACE.downsync] }, 'florin')
  await place('q', mapsOf('none'), 'guilder')
  await settle()
  await edit('p', mapsOf('none'))
  await settle()
  t.ok(isHeld('p'))
  t.notOk(isHeld('q'))
  await confirmHeld(server, 'wds1', 'p')
  await settle()
  t.equal(counts(), '0,0')
  t.notOk(server.peek(florin, NAMESPACES, NS))
})

t.test('a definition that came along is nothing that stays', async t => {
  const { server, wds, counts, isHeld, make, place, settle } = await scene(t)
  const metadata = { name: 'crontabs.stable.example.com' }
  const spec = { group: 'stable.example.com', names: { plural: 'crontabs' } }
  await wds.create(CRDS, { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec })
  await wds.create(CRONTABS, {
    apiVersion: 'stable.example.com/v1',
    kind: 'CronTab',
    metadata: { name: 'one', namespace: NS },
  })
  await make('x', 11)
  await setGrant(server, 'wds1', { locations: { matchLabels: { env: 'prod' } } })
  const tests = [...mapsOf('x').downsync, { apiGroup: 'stable.example.com' }]
  await place('p', { downsync: tests }, 'florin', 'guilder')
  await settle()
  t.equal(counts(), '11,11')
  for (const resource of [LOCATIONS, SYNC_TARGETS]) {
    const { metadata, ...object } = server.peek('inv1', resource, 'florin')!
    await server.in('inv1').update(resource, { ...object, metadata: { ...metadata, labels: { 'loc-name': 'florin' } } })
  }
  await settle()
  t.equal(counts(), '11,11')
  t.ok(isHeld('p'))
})

t.test('a copy counts once, however often it leaves and returns', async t => {
  const { server, counts, isHeld, label, make, place } = await scene(t)
  await make('x', 45)
  await place('p', mapsOf('x'), 'florin')
  await server.quiet()
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 20; i++) await label(`x${i}`, 'other')
    await server.quiet()
    t.equal(counts(), '25,0')
    for (let i = 0; i < 20; i++) await label(`x${i}`, 'x')
    await server.quiet()
    t.equal(counts(), '45,0')
  }
  t.notOk(isHeld('p'))
})

type Scene = Awaited<ReturnType<typeof scene>>
const EMPTYING: Record<string, (scene: Scene) => Promise<unknown>> = {
  'its choice becomes empty': ({ lead }) => lead('p'),
  'its slice is deleted': ({ wds }) => wds.delete(SLICES, { name: 'p' }),
  'it selects nothing any more': ({ edit }) => edit('p', mapsOf('none')),
  'its Namespace alone stays selected': ({ edit }) => edit('p', { downsync: SELECTED_NAMESPACE.downsync }),
  'the grant is withdrawn': ({ server }) => server.in('inv1').delete(PLACEMENT_GRANTS, { name: 'wds1' }),
  'the binding is deleted': ({ wds }) => wds.delete(INVENTORY_BINDINGS, { name: 'inv1' }),
}
for (const [what, change] of Object.entries(EMPTYING)) {
  t.test(`however little an EdgePlacement carries, it is held when ${what}`, async t => {
    const all = await scene(t)
    const { counts, isHeld, make, place, remove, restart, settle } = all
    await make('x', 2)
    await make('y', 1)
    await place('p', { downsync: [...mapsOf('x').downsync, ...SELECTED_NAMESPACE.downsync] }, 'florin', 'guilder')
    await place('q', mapsOf('y'), 'florin')
    await settle()
    t.equal(counts(), '3,2')
    await change(all)
    await settle()
    t.equal(counts(), '3,2')
    t.ok(isHeld('p'))
    await restart(async () => {})
    await settle()
    t.equal(counts(), '3,2', 'no restart deletes it')
    await remove('p')
    await settle()
    t.equal(counts(), '1,0', 'until it is deleted by name')
  })
}

t.test('an app that lost its clusters just before the server ended is held at the start', async t => {
  const { counts, edit, isHeld, make, place, restart, settle } = await scene(t)
  await make('x', 2)
  await place('p', mapsOf('x'), 'florin', 'guilder')
  await settle()
  await restart(() => edit('p', mapsOf('none')))
  await settle()
  t.equal(counts(), '2,2')
  t.ok(isHeld('p'))
})

const MEANT: Record<string, { change: (scene: Scene) => Promise<unknown>; left: string }> = {
  'objects are relabelled one by one': {
    change: async ({ label }) => {
      for (let i = 0; i < 3; i++) await label(`x${i}`, 'other')
    },
    left: '0,0',
  },
  'objects are deleted by name': {
    change: async ({ wds }) => {
      for (let i = 0; i < 3; i++) await wds.delete(MAPS, { namespace: NS, name: `x${i}` })
    },
    left: '0,0',
  },
  'a Namespace is deleted with what is in it': {
    change: async ({ server, wds }) => {
      const source = server.peek('wds1', NAMESPACES, NS)!
      await wds.update(NAMESPACES, { ...source, metadata: { ...source.metadata, finalizers: ['kubernetes'] } })
      await wds.delete(NAMESPACES, { name: NS })
      await server.quiet()
      for (let i = 0; i < 3; i++) await wds.delete(MAPS, { namespace: NS, name: `x${i}` })
      const { finalizers: _, ...metadata } = server.peek('wds1', NAMESPACES, NS)!.metadata
      await wds.update(NAMESPACES, { ...source, metadata })
    },
    left: '0,0',
  },
  'the workload moves by the same edit': { change: ({ lead }) => lead('p', 'guilder'), left: '0,3' },
  'the EdgePlacement is deleted by name': { change: ({ remove }) => remove('p'), left: '0,0' },
  'a part of it leaves': { change: ({ label }) => label('x1', 'other'), left: '2,0' },
}
for (const [what, { change, left }] of Object.entries(MEANT)) {
  t.test(`nothing is held where ${what}`, async t => {
    const all = await scene(t)
    const { counts, isHeld, make, place, settle } = all
    await make('x', 3)
    await place('p', { downsync: [...mapsOf('x').downsync, ...SELECTED_NAMESPACE.downsync] }, 'florin')
    await place('q', mapsOf('none'), 'florin')
    await settle()
    t.equal(counts(), '3,0')
    await change(all)
    await settle()
    t.equal(counts(), left)
    for (const name of ['p', 'q']) t.notOk(isHeld(name))
  })
}

t.test('the number of held copies and the condition agree in every version of a status', async t => {
  const { server, clock, edit, find, isHeld, make, messageOf, place, settle } = await scene(t)
  await make('x', 30)
  await place('p', mapsOf('x'), 'florin', 'guilder')
  await settle()
  const odd: string[] = []
  const agree = (object: KubeObject | undefined) => {
    const said = isHeld('p') ? Number(/^\d+/.exec(messageOf('p'))?.[0]) : 0
    const counted = at(object?.status, 'counts', 'deletionHeld')
    if (counted !== said) odd.push(`${counted} and ${said}`)
  }
  const until = async (held: boolean) => {
    for (let i = 0; i < 20 && isHeld('p') !== held; i++) {
      const isDone = () => {
        agree(find('p'))
        return isHeld('p') === held
      }
      await Promise.race([server.until(isDone), clock.advance(300)])
      await server.quiet()
    }
    await settle()
    agree(find('p'))
    t.equal(isHeld('p'), held)
  }
  await edit('p', mapsOf('none'))
  await until(true)
  t.equal(at(find('p')?.status, 'counts', 'deletionHeld'), 60)
  await edit('p', mapsOf('x'))
  await until(false)
  t.same(odd, [])
})

for (const isFirst of [true, false]) {
  t.test(
    `what another space takes over is not held, the other one leads there ${isFirst ? 'before' : 'after'} it is given up`,
    async t => {
      const { florin, isHeld, lead, make, place, server, settle } = await scene(t)
      const other = server.in('wds2')
      await consent(server, 'wds2')
      await other.create(NAMESPACES, namespace(NS))
      await other.create(MAPS, configMap('x0', { from: 'two' }, { labels: { app: 'x' } }))
      await make('x', 1)
      await place('p', mapsOf('x'), 'florin')
      await other.create(EDGE_PLACEMENTS, placement('p', mapsOf('x')))
      await other.create(SLICES, slice('p'))
      await settle()
      const follows = async () => {
        const known = server.peek('wds2', SLICES, 'p')!
        await other.update(SLICES, { ...known, destinations: slice('p', 'florin').destinations })
      }
      const ownerOf = () => server.peek(florin, MAPS, 'x0', NS)?.metadata.annotations?.[OWNER_ANNOTATION]
      t.equal(ownerOf(), 'wds1')
      if (isFirst) await follows()
      await lead('p')
      await settle()
      if (!isFirst) {
        t.ok(isHeld('p'), 'nothing else is known yet')
        await follows()
        await settle()
      }
      t.equal(ownerOf(), 'wds2')
      t.notOk(isHeld('p'))
    },
  )
}
