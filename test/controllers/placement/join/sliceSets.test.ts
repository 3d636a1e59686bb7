// Several slices of a placement in the translator: no destination that stays counts as gone.

import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { SliceSets } from '../../../../src/controllers/placement/join/sliceSets.ts'
import { compilePlacement } from '../../../../src/placement/select/placementSpec.ts'
import { EDGE_API_VERSION } from '../../../../src/placement/words/placement.ts'
import type { Destination } from '../../../../src/placement/words/ways.ts'

const SPEC = compilePlacement({ apiVersion: EDGE_API_VERSION, kind: 'EdgePlacement', metadata: { name: 'ep' } })

function world() {
  const told: string[] = []
  const state = { placed: true }
  const names = (list: readonly Destination[] | undefined) =>
    list ? list.map(({ locationName }) => locationName).join(' ') : 'nothing known'
  const sets = new SliceSets({
    setDestinations: (_space, placement, list) => told.push(`${placement}: ${names(list)}`),
    spec: () => (state.placed ? SPEC : undefined),
  })
  const last = () => told.at(-1)
  return { sets, told, last, state }
}

function slice(name: string, locations: string, { count = 1, labelled = true, of = 'ep' } = {}): KubeObject {
  const owner = { apiVersion: EDGE_API_VERSION, kind: 'EdgePlacement', name: of, uid: 'u' }
  return {
    apiVersion: EDGE_API_VERSION,
    kind: 'SinglePlacementSlice',
    metadata: {
      name,
      ...(labelled && { labels: { 'edge.kubestellar.io/edge-placement': of }, ownerReferences: [owner] }),
      ...(count > 1 && { annotations: { 'edge.kubestellar.io/slices': String(count) } }),
    },
    destinations: locations
      .split(' ')
      .filter(name => name !== '')
      .map(name => ({ cluster: 'inv1', locationName: name, syncTargetName: name, syncTargetUID: name })),
  }
}

t.test('all slices of a placement count, and a destination that two of them have counts once', async t => {
  const { sets, last } = world()
  sets.set('w', 'ep', slice('ep', 'a b', { count: 2 }))
  sets.set('w', 'ep-slice-2', slice('ep-slice-2', 'b c'))
  t.equal(last(), 'ep: a b c')
  sets.set('w', 'ep', slice('ep', 'a', { count: 2 }))
  t.equal(last(), 'ep: a b c', 'b has moved')
  sets.set('w', 'ep-slice-2', slice('ep-slice-2', 'c'))
  t.equal(last(), 'ep: a c', 'and is gone now')
})

t.test('while a slice that there is to be is missing, what it said stays', async t => {
  const { sets, last, state } = world()
  sets.set('w', 'ep', slice('ep', 'a', { count: 2 }))
  sets.set('w', 'ep-slice-2', slice('ep-slice-2', 'b'))
  sets.set('w', 'ep-slice-2', undefined)
  t.equal(last(), 'ep: a b')
  sets.set('w', 'ep-slice-3', slice('ep-slice-3', 'c'))
  t.equal(last(), 'ep: a c', 'another one is there in its place')
  sets.set('w', 'ep', undefined)
  t.equal(last(), 'ep: a c')
  sets.set('w', 'ep', slice('ep', '', { count: 1 }))
  t.equal(last(), 'ep: c')
  sets.set('w', 'ep-slice-3', undefined)
  t.equal(last(), 'ep: ', 'the first said that there is one slice')
  sets.set('w', 'ep', slice('ep', 'a'))
  sets.set('w', 'ep', undefined)
  t.equal(last(), 'ep: a')
  state.placed = false
  sets.placementGone('w', 'ep')
  t.equal(last(), 'ep: nothing known')
})

t.test('a slice of another writer is gone when it is gone', async t => {
  const { sets, last } = world()
  sets.set('w', 'ep', slice('ep', 'a', { labelled: false }))
  t.equal(last(), 'ep: a')
  sets.set('w', 'ep', undefined)
  t.equal(last(), 'ep: nothing known')
})

t.test('a snapshot that brings one slice after the other takes nothing away before it is complete', async t => {
  const { sets, told, last } = world()
  sets.begin()
  sets.set('w', 'ep', slice('ep', 'a b', { count: 2 }))
  sets.set('w', 'ep-slice-2', slice('ep-slice-2', 'c'))
  const before = told.length
  sets.synced()
  t.equal(told.length, before, 'at a start nothing is told twice')
  sets.begin()
  sets.set('w', 'ep', slice('ep', 'a', { count: 2 }))
  t.equal(last(), 'ep: a b c')
  sets.begin()
  sets.set('w', 'ep', slice('ep', 'a', { count: 2 }))
  t.equal(last(), 'ep: a b c', 'also when it begins again')
  sets.set('w', 'ep-slice-2', slice('ep-slice-2', 'b'))
  sets.synced()
  t.equal(last(), 'ep: a b')
})

t.test('a slice that is another placement’s now is that one’s', async t => {
  const { sets, told } = world()
  sets.set('w', 'ep', slice('ep', 'a', { count: 2 }))
  sets.set('w', 'ep-slice-2', slice('ep-slice-2', 'b'))
  sets.set('w', 'ep-slice-2', slice('ep-slice-2', 'z', { of: 'ep-slice-2' }))
  t.same(told.slice(-2), ['ep: a b', 'ep-slice-2: z'])
  sets.set('w', 'ep-slice-3', slice('ep-slice-3', 'b'))
  t.equal(told.at(-1), 'ep: a b')
})
