// Fields that placements leave to the clusters, on the copies.

import t from 'tap'
import { leftOf, leftRules } from '../../../../src/placement/content/leftRules.ts'
import { EDGE_PLACEMENTS, SLICES } from '../../../../src/placement/words/placement.ts'
import { ALL_MAPS, configMap, MAPS, placement, slice, world } from '../translatorWorld.ts'

const LEFT = 'edge.kubestellar.io/left-fields'
const rule = (...jsonPointers: string[]) => ({ kind: 'ConfigMap', jsonPointers })

t.test('the union of what placements of the space say is left, in each cluster of those that lead there', async t => {
  const { server, wds, florin, guilder } = await world(t)
  const said = (at: string, name = 'page') => {
    const text = server.peek(at, MAPS, name, 'commonstuff')?.metadata.annotations?.[LEFT]
    return text === undefined ? undefined : (JSON.parse(text) as unknown)
  }
  await wds.create(MAPS, configMap('page', { x: '1' }, { annotations: { [LEFT]: '["/data"]' } }))
  await wds.create(MAPS, configMap('other', { x: '1' }))
  await wds.create(EDGE_PLACEMENTS, placement('one', ALL_MAPS))
  await wds.create(SLICES, slice('one', 'florin', 'guilder'))
  await server.quiet()
  t.equal(said(florin), undefined, 'no object says it for itself')

  const one = server.peek('wds1', EDGE_PLACEMENTS, 'one')!
  const ignoreDifferences = [{ ...rule('/data/x'), name: 'page' }, rule('/data/y'), { ...rule('/z'), group: 'apps' }]
  await wds.update(EDGE_PLACEMENTS, { ...one, spec: { ...ALL_MAPS, ignoreDifferences } })
  await wds.create(EDGE_PLACEMENTS, placement('two', { ...ALL_MAPS, ignoreDifferences: [rule('/data/w', '/data/x')] }))
  await wds.create(SLICES, slice('two', 'guilder'))
  await server.quiet()
  t.same(said(florin), ['/data/x', '/data/y'])
  t.same(said(guilder), ['/data/w', '/data/x', '/data/y'])
  t.same(said(florin, 'other'), ['/data/y'])
  t.same(server.peek(florin, MAPS, 'page', 'commonstuff')!.data, { x: '1' }, 'it is made with all of it')

  await wds.update(EDGE_PLACEMENTS, { ...server.peek('wds1', EDGE_PLACEMENTS, 'one')!, spec: ALL_MAPS })
  await server.quiet()
  t.equal(said(florin), undefined)
  t.same(said(guilder), ['/data/w', '/data/x'])
})

t.test('which objects a rule is about', async t => {
  const deployment = { group: 'apps', kind: 'Deployment', namespace: 'n', name: 'web' }
  const about = (more: object) =>
    leftOf(leftRules({ ignoreDifferences: [{ jsonPointers: ['/spec'], ...more }] }), deployment).length > 0
  for (const yes of [
    { group: 'apps', kind: 'Deployment' },
    { group: '*', kind: '*' },
    { group: 'apps', kind: '*', namespace: 'n', name: '*' },
    { group: 'apps', kind: 'Deployment', namespace: '*', name: 'web' },
  ])
    t.ok(about(yes), JSON.stringify(yes))
  for (const no of [
    { kind: 'Deployment' },
    { group: 'apps', kind: 'DaemonSet' },
    { group: 'apps', kind: 'Deployment', namespace: 'm' },
    { group: 'apps', kind: 'Deployment', name: 'we' },
    { group: 'apps', kind: 'Deployment', jsonPointers: ['/status', 'spec'] },
  ])
    t.notOk(about(no), JSON.stringify(no))
})
