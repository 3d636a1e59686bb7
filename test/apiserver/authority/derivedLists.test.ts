// A reader of SyncerConfig `the-one` gets its objects one by one, though they are not stored.
import t from 'tap'
import { at } from '../../../src/apimachinery/fields.ts'
import { Api } from '../../support/api.ts'
import { startCenter } from '../../support/center.ts'
import { accessOf } from '../../support/server.ts'

const CONFIGS = '/apis/edge.kubestellar.io/v2alpha1/syncerconfigs'
const CARRIES = 'edge.kubestellar.io/carries'

const center = await startCenter(t)
const admin = new Api({ ...accessOf(center.server.kubeconfigPath), url: center.server.url })
t.teardown(() => admin.close())
const scene = await center.scene('lists', ['florin'])
const mailbox = await scene.mailbox('florin')
const api = admin.in(mailbox)
const names = (config: unknown): string => {
  const lists = at(config, 'spec', 'namespacedObjects') as { objectsByNamespace: { names: string[] }[] }[]
  return lists.flatMap(({ objectsByNamespace }) => objectsByNamespace.flatMap(({ names }) => names)).join(' ')
}
const carries = (config: unknown): unknown => at(config, 'metadata', 'annotations', CARRIES)
const drop = (name: string) =>
  scene.wds.delete({ group: '', version: 'v1', resource: 'configmaps' }, { namespace: 'app', name })

await scene.map('a')
await scene.map('b')
await scene.place('ep')
await center.holds(mailbox, ['app/a', 'app/b'])
await center.settled()

t.test('a GET and a LIST tell all that is carried, as the store does not', async t => {
  const one = await api.ok(api.get(`${CONFIGS}/the-one`))
  t.same((one.spec as { namespacedObjects: object[] }).namespacedObjects, [
    {
      group: '',
      resource: 'configmaps',
      apiVersion: 'v1',
      objectsByNamespace: [{ namespace: 'app', names: ['a', 'b'] }],
    },
  ])
  t.same((one.spec as { clusterScope: object[] }).clusterScope, [], 'a Namespace that came along is not listed')
  t.equal(carries(one), undefined)
  for (const space of [mailbox, '*']) {
    const list = await admin.ok(admin.in(space).get(CONFIGS))
    const items = list.items as object[]
    t.same(items.map(names), ['a b'], space)
  }
  const table = await api.get(`${CONFIGS}/the-one`, { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
  t.equal(table.code, 200)
  const everywhere = await admin.in('*').get(CONFIGS, { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
  const { columnDefinitions, rows } = everywhere.body as unknown as { columnDefinitions: object[]; rows: object[] }
  t.match(columnDefinitions, [{ name: 'Space' }, { name: 'Name' }])
  t.match(rows, [{ cells: [`root:espw:${await scene.mailboxName('florin')}`, 'the-one'] }])
  const stored = center.world.get(mailbox, 'syncerconfigs.edge.kubestellar.io the-one')
  t.equal(names(stored), '')
  t.equal(carries(stored), 'projected')
  t.equal(stored!.metadata.resourceVersion, one.metadata.resourceVersion, 'so that it can be changed by who read it')
})

t.test('a watch tells of each change of what is carried, at its revision', async t => {
  const watch = await api.watch(`${CONFIGS}?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dthe-one`)
  t.equal(names((await watch.until(({ type }) => type === 'ADDED')).at(-1)!.object), 'a b')
  const made = await scene.map('c')
  const seen = (await watch.until(({ object }) => names(object) === 'a b c')).at(-1)!
  t.equal(seen.type, 'MODIFIED')
  t.ok(Number(at(seen.object, 'metadata', 'resourceVersion')) > Number(made.metadata.resourceVersion))
  await drop('c')
  await watch.until(({ object }) => names(object) === 'a b')
  watch.close()
})

t.test('a stream tells the same to who does not ask for what is stored, and resumes', async t => {
  const path = `/services/stream/clusters/${mailbox}`
  const isOne = (line: Record<string, unknown>): boolean => line.resource === 'syncerconfigs'
  const old = await admin.watch(path)
  const begun = await old.until(line => line.type === 'BOOKMARK' && line.synced === true)
  t.same(
    begun.filter(isOne).map(({ object }) => [names(object), carries(object)]),
    [['a b', undefined]],
  )
  const brief = await admin.watch(`${path}?brief=true`)
  const stored = await brief.until(line => line.type === 'BOOKMARK' && line.synced === true)
  t.same(
    stored.filter(isOne).map(({ object }) => [names(object), carries(object)]),
    [['', 'projected']],
  )
  await scene.map('c')
  const told = await old.until(line => isOne(line) && names(line.object) === 'a b c')
  t.ok(told.some(line => line.resource === 'configmaps' && line.name === 'c'))
  const revision = Number(told.at(-1)!.revision)
  old.close()
  await drop('c')
  const again = await admin.watch(`${path}?resourceVersion=${revision}`)
  await again.until(line => isOne(line) && names(line.object) === 'a b')
  again.close()
  const rest = await brief.until(line => line.resource === 'configmaps' && line.type === 'DELETED')
  t.same(rest.filter(isOne), [])
  brief.close()
})
