// Pauses: what is paused stays in the mailboxes as it is, and all is made up for afterwards.

import t, { type Test } from 'tap'
import { objects } from '../../../../src/apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../../../src/apimachinery/object.ts'
import {
  EDGE_PLACEMENTS,
  LOCATIONS,
  PAUSED_ANNOTATION,
  SLICES,
  SYNC_TARGETS,
} from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import { ALL_MAPS, configMap, MAPS, placement, slice, world } from '../translatorWorld.ts'

/** ConfigMaps `edited`, `deleted` and `left` in both mailboxes. */
async function placed(t: Test) {
  const clock = new FakeClock()
  const scene = await world(t, clock)
  const { server, wds, florin, guilder } = scene
  for (const name of ['edited', 'deleted', 'left']) await wds.create(MAPS, configMap(name, { v: '1' }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  const inMailbox = (space: string) =>
    server.names(space, MAPS).map(name => {
      const { data } = server.peek(space, MAPS, name.slice('commonstuff/'.length), 'commonstuff')!
      return `${name.slice('commonstuff/'.length)} ${isRecord(data) && data.v}`
    })
  const mailboxes = () => [florin, guilder].map(inMailbox)
  const change = async () => {
    await wds.update(MAPS, configMap('edited', { v: '2' }))
    await wds.delete(MAPS, { namespace: 'commonstuff', name: 'deleted' })
    await wds.create(MAPS, configMap('new', { v: '1' }))
    await server.quiet()
  }
  const spec = async (value: object) => {
    await wds.update(EDGE_PLACEMENTS, { ...server.peek('wds1', EDGE_PLACEMENTS, 'ep')!, spec: value })
    await server.quiet()
  }
  const condition = async () => {
    await clock.advance(1000)
    await server.quiet()
    const { status } = server.peek('wds1', EDGE_PLACEMENTS, 'ep')!
    const conditions = isRecord(status) && Array.isArray(status.conditions) ? status.conditions.filter(isRecord) : []
    return conditions.find(({ type }) => type === 'Paused')
  }
  return { ...scene, mailboxes, change, spec, condition }
}
const BEFORE = ['deleted 1', 'edited 1', 'left 1']
const AFTER = ['edited 2', 'left 1', 'new 1']
const paused = (object: KubeObject, value: boolean): KubeObject => {
  const { [PAUSED_ANNOTATION]: _, ...annotations } = object.metadata.annotations ?? {}
  const now = value ? { ...annotations, [PAUSED_ANNOTATION]: 'true' } : annotations
  return { ...object, metadata: { ...object.metadata, annotations: now } }
}

t.test('a paused EdgePlacement changes nothing, also over a restart, and catches up', async t => {
  const { mailboxes, change, spec, condition, restart, server } = await placed(t)
  await spec({ ...ALL_MAPS, paused: true })
  await change()
  t.same(mailboxes(), [BEFORE, BEFORE])
  t.match(await condition(), { status: 'True', reason: 'PlacementPaused' })
  await restart(async () => undefined)
  await server.quiet()
  t.same(mailboxes(), [BEFORE, BEFORE])
  await spec({ downsync: [{ ...ALL_MAPS.downsync[0], objectNames: ['edited', 'new'] }], paused: true })
  t.same(mailboxes(), [BEFORE, BEFORE])
  await spec(ALL_MAPS)
  t.same(mailboxes(), [AFTER, AFTER])
  t.match(await condition(), { status: 'False', reason: 'NotPaused' })
})

t.test('what was deleted during a pause and stays in clusters is told, of it and of its placement', async t => {
  const { wds, spec, server, workStatuses, restart, condition } = await placed(t)
  await spec({ ...ALL_MAPS, paused: true })
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'deleted' })
  await server.quiet()
  const isLeft = [
    'inv1.florin:configmaps:deleted Paused PlacementPaused',
    'inv1.guilder:configmaps:deleted Paused PlacementPaused',
  ]
  t.same(
    (await workStatuses()).filter(row => row.includes(':deleted ')),
    isLeft,
  )
  await restart(async () => undefined)
  await server.quiet()
  t.same(
    (await workStatuses()).filter(row => row.includes(':deleted ')),
    isLeft,
    'also after a restart',
  )
  for (const name of ['edited', 'left']) await wds.delete(MAPS, { namespace: 'commonstuff', name })
  await condition()
  t.match(await condition(), { status: 'True' })
  const said = objects(server.peek('wds1', EDGE_PLACEMENTS, 'ep')!.status, 'conditions')
  t.match(
    said.find(({ type }) => type === 'Applied'),
    {
      status: 'False',
      reason: 'Paused',
      message: '6 copies that nobody places any more stay in clusters until the pause ends',
    },
  )
  await spec(ALL_MAPS)
  t.same(await workStatuses(), [])
})

t.test('copies behind a paused Location are told, too', async t => {
  const { wds, server, workStatuses } = await placed(t)
  const inventory = server.in('inv1')
  const location = server.peek('inv1', LOCATIONS, 'florin')!
  const spec = { instanceSelector: { matchLabels: { 'loc-name': 'florin' } } }
  await inventory.update(LOCATIONS, paused({ ...location, spec }, true))
  await server.quiet()
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'deleted' })
  await server.quiet()
  const rows = () => workStatuses().then(all => all.filter(row => row.includes(':deleted ')))
  t.same(await rows(), ['inv1.florin:configmaps:deleted Paused LocationPaused'])
  await inventory.update(LOCATIONS, paused(server.peek('inv1', LOCATIONS, 'florin')!, false))
  await server.quiet()
  t.same(await rows(), [])
})

t.test('a paused EdgePlacement that is deleted is gone', async t => {
  const { mailboxes, spec, wds, server } = await placed(t)
  await spec({ ...ALL_MAPS, paused: true })
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await server.quiet()
  t.same(mailboxes(), [[], []])
})

t.test('what another placement of the space places goes on', async t => {
  const { mailboxes, change, spec, wds, server } = await placed(t)
  await spec({ ...ALL_MAPS, paused: true })
  await wds.create(EDGE_PLACEMENTS, placement('other', ALL_MAPS))
  await wds.create(SLICES, slice('other', 'florin'))
  await change()
  await server.quiet()
  t.same(mailboxes(), [['deleted 1', 'edited 2', 'left 1', 'new 1'], BEFORE])
})

t.test('a paused object stays as it is, also where it is selected no more', async t => {
  const { mailboxes, change, condition, wds, server, spec } = await placed(t)
  const of = (v: string) => configMap('edited', { v })
  await wds.update(MAPS, paused(of('1'), true))
  await server.quiet()
  await wds.update(MAPS, paused(of('2'), true))
  await wds.update(MAPS, configMap('left', { v: '2' }))
  await server.quiet()
  t.same(mailboxes()[0], ['deleted 1', 'edited 1', 'left 2'])
  t.match(await condition(), { status: 'True', reason: 'PartlyPaused', message: /^nothing is .* of 1 of its objects/ })
  await spec({ downsync: [{ ...ALL_MAPS.downsync[0], objectNames: ['left'] }] })
  t.same(mailboxes()[0], ['edited 1', 'left 2'])
  await change()
  t.same(mailboxes()[0], ['left 2'], 'changed without the annotation it is paused no more')
  t.match(await condition(), { status: 'False' })
})

t.test('nothing changes at a paused Location, and all of it is made up for', async t => {
  const { mailboxes, change, condition, server } = await placed(t)
  const inventory = server.in('inv1')
  const target = server.peek('inv1', SYNC_TARGETS, 'florin')!
  await inventory.update(SYNC_TARGETS, { ...target, metadata: { ...target.metadata, labels: { id: 'florin' } } })
  const location = {
    ...server.peek('inv1', LOCATIONS, 'florin')!,
    spec: { instanceSelector: { matchLabels: { id: 'florin' } } },
  }
  await inventory.update(LOCATIONS, paused({ ...location, metadata: { ...location.metadata } }, true))
  await server.quiet()
  await change()
  t.same(mailboxes(), [BEFORE, AFTER])
  t.match(await condition(), { status: 'True', message: /Location florin$/ })
  await inventory.update(LOCATIONS, paused(server.peek('inv1', LOCATIONS, 'florin')!, false))
  await server.quiet()
  t.same(mailboxes(), [AFTER, AFTER])
  t.match(await condition(), { status: 'False' })
})
