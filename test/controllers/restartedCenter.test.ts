/**
 * A center at rest that starts anew writes nothing but its epoch, with trouble of many kinds in it. A new run knows little at first:
 * no condition turns because of that, and no count changes.
 */
import t, { type Test } from 'tap'
import { WORKSPACES } from '../../src/apimachinery/resources.ts'
import {
  BINDINGS,
  CRDS,
  configMap,
  MAPS,
  MAPS_OF_APP,
  NAMESPACES,
  namespace,
  PLACEMENTS,
  placement,
  startCenter,
  TARGETS,
} from '../support/center.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/temporaryDir.ts'

const EDGE = 'edge.kubestellar.io/v2alpha1'
const [ALL_OF_APP] = MAPS_OF_APP.downsync
const named = (...objectNames: string[]) => ({ downsync: [{ ...ALL_OF_APP, objectNames }] })
const labelled = (many: string) => ({ downsync: [{ ...ALL_OF_APP, labelSelectors: [{ matchLabels: { many } }] }] })
/** More than may leave at once. */
const MANY = 60

t.setTimeout(FILE_LIMIT_MS)

t.test('a restart turns no condition and changes no count', { timeout: FILE_LIMIT_MS }, async t => {
  const dataDir = temporaryDir(t)
  let revision = 0
  await t.test('trouble', async t => {
    revision = await trouble(t, dataDir)
    t.ok(revision > 0)
  })
  for (const restart of ['the first restart', 'the second']) {
    await t.test(restart, async t => {
      const center = await startCenter(t, { dataDir, expectsTrouble: true })
      const end = await center.settled()
      const written: string[] = []
      const changes = center.client.stream({ space: '*', after: revision, signal: AbortSignal.timeout(FILE_LIMIT_MS) })
      for await (const batch of changes) {
        for (const { resource, name } of batch.events) written.push(`${resource.resource} ${name}`)
        if (batch.revision >= end) break
      }
      t.strictSame(written, ['epochs epochs'])
      revision = end
    })
  }
})

/** Revision of a center at rest in which not all is well. */
async function trouble(t: Test, dataDir: string): Promise<number> {
  const center = await startCenter(t, { dataDir, expectsTrouble: true })
  const scene = await center.scene('one', ['a', 'b'])
  const other = await center.scene('two', ['c'])
  const bind = (name: string, path: string) =>
    other.wds.create(BINDINGS, { apiVersion: EDGE, kind: 'InventoryBinding', metadata: { name }, spec: { path } })
  await bind('one', 'root:one-imw')
  await bind('nowhere', 'root:none')
  for (const name of ['good', 'theirs']) await scene.map(name, { v: '1' })
  await scene.place('fine', named('good', 'theirs'))
  await center.settled()
  await other.wds.create(MAPS, configMap('theirs', { v: '2' }))
  await other.wds.create(PLACEMENTS, placement('contested', { ...scene.everywhere(), ...named('theirs') }))
  await scene.map('custom', { v: '1' }, { annotations: { 'edge.kubestellar.io/customizer': 'missing' } })
  await scene.place('custom', named('custom'))
  await scene.place('nowhere', { locationSelectors: [{ matchLabels: { scene: 'none' } }] })
  await scene.place('paused', { paused: true })
  for (let i = 0; i < MANY; i++) await scene.map(`many-${i}`, {}, { labels: { many: 'yes' } })
  await scene.place('many', labelled('yes'))
  await center.settled()
  await scene.replace('many', labelled('no'))
  await scene.place('staged', { rolloutStrategy: { type: 'Progressive', progressive: { maxConcurrency: 1 } } })
  await scene.place('collected', { downsync: [{ ...ALL_OF_APP, statusCollectors: ['none'] }] })
  await center.client.in(scene.inventory).patch(TARGETS, { name: 'b' }, 'merge', { spec: { unschedulable: true } })

  const stuck = { finalizers: ['example.com/stays'] }
  await scene.wds.create(NAMESPACES, namespace('going'))
  await scene.wds.create(MAPS, configMap('stays', {}, { namespace: 'going', ...stuck }))
  await scene.wds.delete(NAMESPACES, { name: 'going' })
  const leaving = await center.space('leaving')
  await center.client.in(leaving).create(MAPS, configMap('stays', {}, { namespace: 'default', ...stuck }))
  await center.client.in('root').delete(WORKSPACES, { name: 'leaving' })
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  await scene.wds.create(CRDS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gears.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gears', singular: 'gear', kind: 'Gear' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  return await center.settled()
}
