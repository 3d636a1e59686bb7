// An object that passes to another space and that no update makes that space's: recreated where its owner has left, else reported.

import t, { type Test } from 'tap'
import { StatusError, statusError } from '../../../../src/apimachinery/errors.ts'
import { at } from '../../../../src/apimachinery/fields.ts'
import type { GroupResource, GroupVersionResource, KubeObject } from '../../../../src/apimachinery/object.ts'
import { CRDS, NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import type { SpaceClient } from '../../../../src/client/client.ts'
import { BUDGET_EXCEEDED } from '../../../../src/placement/spaces/spaceBudget.ts'
import { EDGE_PLACEMENTS, SLICES, SYNC_TARGETS } from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import { namespace } from '../fakeServer.ts'
import {
  ALL_MAPS,
  CRONTABS,
  configMap,
  consent,
  MAPS,
  placement,
  replicaSet,
  SETS,
  slice,
  world,
} from '../translatorWorld.ts'

const CLAIMS: GroupVersionResource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
const OWNER = 'edge.kubestellar.io/owner'

/** `wds1` has what `wds2` places, too, and the mailbox refuses to change objects of a kind. */
async function rivals(t: Test, fixed?: GroupResource) {
  const clock = new FakeClock()
  const all = await world(t, clock)
  const { server, florin } = all
  await consent(server, 'wds2')
  const other = server.in('wds2')
  await other.create(NAMESPACES, namespace('commonstuff'))
  server.refuse = (space, verb, { resource }, name) => {
    if (space !== florin || verb !== 'update' || resource !== fixed?.resource) return
    const details = 'field is immutable: status.storedVersions, value, selector and many more are so'
    throw statusError.invalid({ group: '', kind: 'Fixed' }, name, [
      { type: 'Invalid', field: 'data', value: 'x', detail: details },
    ])
  }
  const place = async (api: SpaceClient, spec: object) => {
    await api.create(EDGE_PLACEMENTS, placement('ep', spec))
    await api.create(SLICES, slice('ep', 'florin'))
    await server.quiet()
  }
  const settled = async () => {
    await server.quiet()
    await clock.advance(1000)
    await server.quiet()
  }
  /** The condition `Placed`, once the last second is over. */
  const told = async (space: string): Promise<string> => {
    await settled()
    const conditions = at(server.peek(space, EDGE_PLACEMENTS, 'ep'), 'status', 'conditions') as Record<string, string>[]
    const { reason, message } = conditions.find(({ type }) => type === 'Placed')!
    return `${reason} ${message}`
  }
  const copy = (resource: GroupVersionResource, name: string) => server.peek(florin, resource, name, 'commonstuff')
  const claim = (space: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'commonstuff', labels: { of: space } },
    spec: {},
  })
  return { ...all, other, place, settled, told, copy, claim }
}

t.test('what cannot be changed is made anew for the next space when its owner leaves', async t => {
  const { server, wds, other, place, settled, told, copy, florin } = await rivals(t, MAPS)
  await wds.create(MAPS, configMap('page', { from: 'one' }))
  await place(wds, ALL_MAPS)
  await other.create(MAPS, configMap('page', { from: 'two' }))
  await place(other, ALL_MAPS)
  t.match(await told('wds2'), /^ObjectConflict .*space wds1 owns it/)
  const { uid } = copy(MAPS, 'page')!.metadata
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await settled()
  t.same(copy(MAPS, 'page')?.data, { from: 'two' })
  t.not(copy(MAPS, 'page')?.metadata.uid, uid)
  t.equal(copy(MAPS, 'page')?.metadata.annotations?.[OWNER], 'wds2')
  t.equal(await told('wds2'), 'AllPlaced ')
  const writes = server.writes.filter(write => write.startsWith(`${florin} delete configmaps`))
  t.equal(writes.length, 1)
})

t.test('what cannot be changed and is released while its owner still places it says what ends that', async t => {
  const { server, wds, other, place, told, copy } = await rivals(t, MAPS)
  await wds.create(MAPS, configMap('page', { from: 'one' }))
  await place(wds, ALL_MAPS)
  await other.create(MAPS, configMap('page', { from: 'two' }))
  await place(other, ALL_MAPS)
  const annotations = { 'edge.kubestellar.io/release-owner': 'root:wds1' }
  await server.in('inv1').patch(SYNC_TARGETS, { name: 'florin' }, 'merge', { metadata: { annotations } })
  t.match(
    await told('wds2'),
    /^NotTaken .*field is immutable.*; no update turns the object of space wds1 into this one: it/,
  )
  t.same(copy(MAPS, 'page')?.data, { from: 'one' }, 'nothing is taken from who has it')
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  t.equal(await told('wds2'), 'AllPlaced ')
  t.same(copy(MAPS, 'page')?.data, { from: 'two' })
})

t.test('a copy that cannot pass on yet returns no status to the space that waits for it', async t => {
  const { server, wds, other, place, settled, told, copy, florin } = await rivals(t)
  server.refuse = (space, verb, { resource }, name) => {
    if (space !== florin || verb !== 'update' || resource !== SETS.resource) return
    const details = { name, causes: [{ reason: BUDGET_EXCEEDED, field: 'objects', message: 'full' }] }
    throw new StatusError('Forbidden', 'the mailbox is full', details)
  }
  const spec = { downsync: [{ apiGroup: 'apps' }], wantSingletonReportedState: true }
  for (const api of [wds, other]) {
    await api.create(SETS, replicaSet('rs'))
    await place(api, spec)
  }
  const reported = { ...copy(SETS, 'rs')!, status: { readyReplicas: 7 } }
  await server.in(florin).update(SETS, reported, { subresource: 'status' })
  await settled()
  const statusIn = (space: string) => server.peek(space, SETS, 'rs', 'commonstuff')!.status
  t.same(statusIn('wds1'), { readyReplicas: 7 })
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await settled()
  t.equal(copy(SETS, 'rs')?.metadata.annotations?.[OWNER], 'wds1')
  t.match(await told('wds2'), /^NotTaken /)
  t.equal(statusIn('wds2'), undefined)
})

t.test('a definition without the version that is stored is told as refused, and as nobody’s conflict', async t => {
  const { server, wds, other, place, settled, told, copy, florin } = await rivals(t, CRDS)
  const name = 'crontabs.stable.example.com'
  const crd = (label: string): KubeObject => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, labels: { label } },
    spec: { group: 'stable.example.com', names: { plural: 'crontabs' } },
  })
  const tab = (tabName: string): KubeObject => ({
    apiVersion: 'stable.example.com/v1',
    kind: 'CronTab',
    metadata: { name: tabName, namespace: 'commonstuff' },
    spec: {},
  })
  for (const [api, id] of [
    [wds, 'one'],
    [other, 'two'],
  ] as const) {
    await api.create(CRDS, crd(id))
    await api.create(CRONTABS, tab(id))
    await place(api, { downsync: [{ apiGroup: 'stable.example.com' }] })
  }
  const conflict = () => server.peek('wds2', CRDS, name)?.metadata.annotations?.['edge.kubestellar.io/object-conflict']
  t.match(await told('wds2'), /^ObjectConflict .*space wds1 owns it/)
  t.match(conflict(), /space wds1 owns it/)
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  t.match(await told('wds2'), /^NotTaken .*storedVersions.*; the cluster stores .*Keep that version in spec.versions/)
  t.equal(conflict(), undefined)
  t.ok(copy(CRONTABS, 'two'), 'what is there of the kind stays')
  await other.delete(CRONTABS, { namespace: 'commonstuff', name: 'two' })
  await settled()
  await other.create(CRONTABS, tab('two'))
  t.equal(await told('wds2'), 'AllPlaced ')
  t.equal(server.peek(florin, CRDS, name)?.metadata.labels?.label, 'two')
  t.ok(copy(CRONTABS, 'two'))
})

t.test('data pass to another space only by the word of their owner', async t => {
  for (const heir of [undefined, 'root:wds3', 'root:wds2']) {
    const { wds, other, place, settled, told, copy, claim } = await rivals(t)
    const [key, spec] = [{ name: 'data', namespace: 'commonstuff' }, { downsync: [{ resources: [CLAIMS.resource] }] }]
    await wds.create(CLAIMS, claim('wds1'))
    await place(wds, spec)
    await other.create(CLAIMS, claim('wds2'))
    await place(other, spec)
    const { uid } = copy(CLAIMS, 'data')!.metadata
    const annotations = { 'edge.kubestellar.io/hand-over-to': heir ?? '' }
    if (heir) await wds.patch(CLAIMS, key, 'merge', { metadata: { annotations } })
    await settled()
    await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
    t.equal(await told('wds2'), 'AllPlaced ')
    t.same(copy(CLAIMS, 'data')?.metadata.labels?.of, 'wds2')
    t.equal(copy(CLAIMS, 'data')?.metadata.uid === uid, heir === 'root:wds2', `handed over to ${heir}`)
  }
})

t.test('no update and no object that is made anew at once deletes the last good copy', async t => {
  const { wds, place, told, copy } = await rivals(t, MAPS)
  await wds.create(MAPS, configMap('page', { from: 'one' }))
  await place(wds, ALL_MAPS)
  const { uid } = copy(MAPS, 'page')!.metadata
  await wds.update(MAPS, configMap('page', { from: 'edit' }))
  t.match(await told('wds1'), /^NotTaken .*field is immutable/, 'an edit is no order to delete anything')
  await Promise.all([
    wds.delete(MAPS, { namespace: 'commonstuff', name: 'page' }),
    wds.create(MAPS, configMap('page', { from: 'two' })),
  ])
  t.match(await told('wds1'), /^NotTaken .*field is immutable/, 'nor is an object that takes its name')
  t.same(copy(MAPS, 'page')?.data, { from: 'one' })
  t.equal(copy(MAPS, 'page')?.metadata.uid, uid)
})
