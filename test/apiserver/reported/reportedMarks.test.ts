/** Marks on reports of a cluster: differences that its syncer reports, live values, and silence; in lists, and in the order of a watch. */
import t from 'tap'
import type { FieldDifference } from '../../../src/placement/outcome/fieldDifference.ts'
import type { Exception } from '../../../src/placement/outcome/outcome.ts'
import { Api } from '../../support/api.ts'
import { configMap, startCenter } from '../../support/center.ts'
import { MAPS, TARGETS } from '../../support/scene.ts'
import { accessOf } from '../../support/server.ts'

const EDGE = 'edge.kubestellar.io'
const CONFIG = `/apis/${EDGE}/v2alpha1/syncerconfigs/the-one/outcome`
const DIFFERENCES = `${EDGE}/differences`
const SILENT = `${EDGE}/silent-since`
const SINCE = '2026-01-31T12:00:00Z'
const DROPPED: FieldDifference = { path: 'data.x', change: 'Changed', wanted: '"1"', live: '"2"', decisive: false }

const center = await startCenter(t)
const { client, world } = center
const admin = new Api({ ...accessOf(center.server.kubeconfigPath), url: center.server.url })
t.teardown(() => admin.close())
const scene = await center.scene('a', ['paris', 'rome', 'oslo'])
const a = scene.wdsId
const [paris, rome] = [await scene.mailbox('paris'), await scene.mailbox('rome')]
await scene.place('p')
for (const name of ['page', 'other']) await client.in(a).create(MAPS, configMap(name, { x: '1' }))
await world.present(paris, 'configmaps app/other')
await world.present(rome, 'configmaps app/other')
await center.settled()

const view = (location: string, space = a): string => `/services/reported/clusters/${space}/locations/${location}`
const MAPS_PATH = '/api/v1/namespaces/app/configmaps'
const PARIS = `${view('imw.paris')}${MAPS_PATH}`
const ROME = `${view('imw.rome')}${MAPS_PATH}`
const marksOf = ({ metadata }: { metadata: { annotations?: Record<string, string> } }): Record<string, unknown> => {
  const { [DIFFERENCES]: differences, [SILENT]: silent } = metadata.annotations ?? {}
  return { ...(differences && { differences: JSON.parse(differences) }), ...(silent && { silent }) }
}

/** A syncer's words. */
class Syncer {
  readonly #mailbox: string
  #number = 0
  #epoch = ''
  constructor(mailbox: string) {
    this.#mailbox = mailbox
  }

  async say(more: object): Promise<void> {
    for (;;) {
      const number = ++this.#number
      const spec = { session: `of-${this.#mailbox}`, number, whole: true, epoch: this.#epoch, compared: true, ...more }
      const body = { apiVersion: `${EDGE}/v2alpha1`, kind: 'SyncerOutcome', metadata: { name: 'the-one' }, spec }
      const { status } = await admin.ok(admin.in(this.#mailbox).put(CONFIG, body))
      const { epoch, again } = status as { epoch: string; again: boolean }
      this.#epoch = epoch
      if (!again) return
    }
  }

  /** All of the mailbox is in the cluster, but for that. */
  async reports(exceptions: readonly Partial<Exception>[] = []): Promise<void> {
    const processed = center.server.store.revision
    const about = {
      group: '',
      resource: 'configmaps',
      namespace: 'app',
      seq: processed,
      state: 'applied',
      since: SINCE,
    }
    const told = exceptions.map(one => ({ ...about, reason: 'FieldsChanged', message: '', ...one }))
    await this.say({ processed, exceptions: told })
  }
}
const syncers = { paris: new Syncer(paris), rome: new Syncer(rome) }
await syncers.paris.reports()
await syncers.rome.reports()

t.test('differences that a cluster reports are on its report, and on no other', async t => {
  const list = await admin.ok(admin.get(PARIS))
  const watch = await admin.watch(`${PARIS}?watch=1&resourceVersion=${list.metadata.resourceVersion}`)
  t.teardown(() => watch.close())
  await syncers.paris.reports([{ name: 'page', differences: [DROPPED] }])
  const [told] = await watch.take(1)
  t.match(told, { type: 'MODIFIED', object: { metadata: { name: 'page' }, data: { x: '1' } } })
  t.same(marksOf(told!.object), { differences: [DROPPED] })
  const found = await admin.ok(admin.get(`${PARIS}/page`))
  t.same(marksOf(found), { differences: [DROPPED] })
  t.equal(found.metadata.resourceVersion, told?.object.metadata.resourceVersion, 'under one resource version')
  t.same(marksOf(await admin.ok(admin.get(`${PARIS}/other`))), {})
  t.same(marksOf(await admin.ok(admin.get(`${ROME}/page`))), {})
  const resumed = await admin.watch(`${PARIS}?watch=1&resourceVersion=${list.metadata.resourceVersion}`)
  t.teardown(() => resumed.close())
  t.same(marksOf((await resumed.take(1))[0]!.object), { differences: [DROPPED] }, 'a watch that resumes gets it')

  await client.in(a).patch(MAPS, { namespace: 'app', name: 'other' }, 'merge', { data: { x: '3' } })
  await center.settled()
  await syncers.paris.reports()
  const events = await watch.take(2)
  t.same(
    events.map(({ type, object }) => [type, object.metadata.name, marksOf(object)]),
    [
      ['MODIFIED', 'other', {}],
      ['MODIFIED', 'page', {}],
    ],
    'in the order of the store',
  )
  const revisions = events.map(({ object }) => Number(object.metadata.resourceVersion))
  t.ok(revisions[0]! <= revisions[1]!)
})

t.test('a cluster that falls silent marks all its reports, with the time of its last word', async t => {
  const OSLO = `${view('imw.oslo')}${MAPS_PATH}`
  await world.present(await scene.mailbox('oslo'), 'configmaps app/other')
  await center.settled()
  const list = await admin.ok(admin.get(OSLO))
  const watch = await admin.watch(`${OSLO}?watch=1&resourceVersion=${list.metadata.resourceVersion}`)
  const elsewhere = await admin.watch(`${ROME}?watch=1&resourceVersion=${list.metadata.resourceVersion}`)
  t.teardown(() => Promise.all([watch.close(), elsewhere.close()]))
  const says = (status: 'True' | 'False'): Promise<unknown> => {
    const ready = { type: 'Ready', status, reason: status === 'True' ? 'SyncerReports' : 'SyncerSilent', message: '' }
    const body = { status: { lastSyncerHeartbeatTime: SINCE, conditions: [{ ...ready, lastTransitionTime: SINCE }] } }
    return client.in(scene.inventory).patch(TARGETS, { name: 'oslo' }, 'merge', body, { subresource: 'status' })
  }
  await says('False')
  const events = await watch.take(2)
  t.same(
    events.map(({ type, object }) => [type, object.metadata.name, marksOf(object)]),
    ['other', 'page'].map(name => ['MODIFIED', name, { silent: SINCE }]),
  )
  const [first] = events.map(({ object }) => object.metadata.resourceVersion)
  const cut = await admin.watch(`${OSLO}?watch=1&resourceVersion=${first}`)
  t.teardown(() => cut.close())
  t.equal((await cut.take(2)).length, 2, 'a watch that was cut off amid them gets all of them')
  const { items } = (await admin.ok(admin.get(OSLO))) as unknown as { items: (typeof list)[] }
  t.same(items.map(marksOf), [{ silent: SINCE }, { silent: SINCE }])
  const columnsAt = async (path: string): Promise<string[]> => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
    const table = (await admin.ok(admin.get(path, { accept }))) as unknown as { columnDefinitions: { name: string }[] }
    return table.columnDefinitions.map(({ name }) => name)
  }
  t.same(await columnsAt(OSLO), ['Silent', 'Name', 'Data', 'Age'])
  t.same(await columnsAt(ROME), ['Name', 'Data', 'Age'], 'and no such column where nothing is silent')
  const merged = `/services/reported/clusters/${a}${MAPS_PATH}`
  t.same(await columnsAt(merged), ['Location', 'Silent', 'Name', 'Data', 'Age'])
  await says('True')
  t.same(
    (await watch.take(2)).map(({ object }) => marksOf(object)),
    [{}, {}],
  )
  const reaches = (unreachableSince: string | null): Promise<unknown> => {
    const body = { status: { outcome: { reachable: unreachableSince === null, unreachableSince } } }
    return client.in(scene.inventory).patch(TARGETS, { name: 'oslo' }, 'merge', body, { subresource: 'status' })
  }
  for (const since of [SINCE, null]) {
    await reaches(since)
    const marks = since === null ? {} : { silent: since }
    t.same(
      (await watch.take(2)).map(({ object }) => marksOf(object)),
      [marks, marks],
      'so does one that its syncer does not reach',
    )
  }
  await client.in(a).patch(MAPS, { namespace: 'app', name: 'other' }, 'merge', { data: { x: 'last' } })
  t.match(await elsewhere.take(1), [{ object: { data: { x: 'last' } } }], 'other clusters send nothing of it')
})

t.test('what an author writes under the keys of marks is none', async t => {
  const annotations = { [SILENT]: SINCE, [DIFFERENCES]: '[{"path":"spec"}]', [`${EDGE}/live-fields`]: '[]' }
  await client.in(a).create(MAPS, configMap('forged', {}, { annotations }))
  await world.present(rome, 'configmaps app/forged')
  const { metadata } = await admin.ok(admin.get(`${ROME}/forged`))
  t.same(Object.keys(metadata.annotations ?? {}).sort(), [`${EDGE}/location`, 'kcp.io/cluster'])
})
