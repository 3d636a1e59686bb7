/** A cluster that drops or changes received fields: the center gets them, at the first write and at each later look. */
import t, { type Test } from 'tap'
import { at } from '../../../src/apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import { equalJson } from '../../../src/apimachinery/values.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import type { LiveField } from '../../../src/placement/outcome/fieldDifference.ts'
import type { Exception } from '../../../src/placement/outcome/outcome.ts'
import { LEFT_FIELDS_ANNOTATION } from '../../../src/placement/words/placement.ts'
import { startCenter } from '../../support/center.ts'
import { CRDS, DEPLOYMENTS, JOBS, MAPS } from '../support/kinds.ts'
import { PROJECTED, pairIn, sent } from '../support/pair.ts'
import { toldOutcomes } from '../support/toldOutcomes.ts'

const center = await startCenter(t, { expectsTrouble: true })
const TILLS = { group: 'example.org', version: 'v1', resource: 'tills' }
const named = (group: string, resource: string, ...names: string[]) => ({
  group,
  resource,
  apiVersion: 'v1',
  objectsByNamespace: [{ namespace: 'app', names }],
})

/** Effect of a mutating webhook, or an older schema, on each write. */
type Admission = (object: KubeObject) => KubeObject

function admitting(cluster: SpaceClient, admit: Admission): SpaceClient {
  return {
    ...cluster,
    create: (resource, object, options) => cluster.create(resource, admit(object), options),
    patch: (resource, ref, type, body, options) =>
      cluster.patch(resource, ref, type, type === 'apply' ? admit(body as KubeObject) : body, options),
  }
}

async function pair(test: Test) {
  const p = await pairIn(center, test, {
    namespacedObjects: [
      named('', 'configmaps', 'a', 'b'),
      named('apps', 'deployments', 'web'),
      named('batch', 'jobs', 'j'),
      named('example.org', 'tills', 't', 'u'),
    ],
  })
  const told = toldOutcomes(p)
  const { cluster } = p
  return {
    ...p,
    start: (admit: Admission = object => object) =>
      p.start(undefined, undefined, { center: told.center, cluster: admitting(p.toCluster.cluster(cluster), admit) }),
    tells: async (name: string, isSo: (one: Exception) => boolean = () => true) => {
      const find = (all: Iterable<Exception>) => [...all].find(one => one.name === name && isSo(one))
      const { exceptions } = await told.until(
        ({ compared, exceptions }) => compared && find(exceptions.values()) !== undefined,
      )
      return find(exceptions.values())!
    },
    settles: (name: string) =>
      told.until(({ compared, exceptions }) => compared && ![...exceptions.values()].some(one => one.name === name)),
  }
}

const without =
  (...fields: string[]): Admission =>
  object => ({
    ...object,
    spec: Object.fromEntries(Object.entries(object.spec ?? {}).filter(([field]) => !fields.includes(field))),
  })
const job = (spec: object): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { namespace: 'app', name: 'j', labels: PROJECTED },
  spec: { ...spec, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
})
const deployment = (image: string, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'app', name: 'web', labels: PROJECTED, annotations },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image }] } },
  },
})

t.test(
  'a Job that is to stand still runs in a cluster that does not know how: it is altered, and by no means suspended',
  async t => {
    const p = await pair(t)
    const syncer = p.start(without('suspend'))
    await p.mailbox.create(JOBS, job({ suspend: true, backoffLimit: 3 }))
    const said = await p.tells('j')
    t.match(said, {
      state: 'altered',
      reason: 'FieldsChanged',
      message: 'the cluster changes spec.suspend from true to false',
      differences: [{ path: 'spec.suspend', change: 'Changed', wanted: 'true', live: 'false', decisive: true }],
      health: { health: 'Progressing' },
    })
    await syncer.stop()
    p.start(without('suspend'))
    t.match(await p.tells('j'), { state: 'altered', reason: 'FieldsChanged' }, 'a restart forgets nothing')
  },
)

t.test('an image that the admission of the cluster sets is told, at edits, too, and nobody fights it', async t => {
  const p = await pair(t)
  p.start(object => (object.kind === 'Deployment' ? { ...object, spec: deployment('mirror/x').spec } : object))
  await p.mailbox.create(DEPLOYMENTS, deployment('x:1'))
  const path = 'spec.template.spec.containers[name=c].image'
  t.match(await p.tells('web'), {
    state: 'altered',
    reason: 'FieldsChanged',
    differences: [{ path, change: 'Changed', wanted: '"x:1"', live: '"mirror/x"', decisive: true }],
  })
  await p.mailbox.patch(DEPLOYMENTS, { namespace: 'app', name: 'web' }, 'strategic', { spec: deployment('x:2').spec })
  await p.tells('web', ({ differences }) => differences?.[0]?.wanted === '"x:2"')
  const ref = { namespace: 'app', name: 'web' }
  const { resourceVersion } = (await p.cluster.get(DEPLOYMENTS, ref)).metadata
  await p.cluster.patch(DEPLOYMENTS, ref, 'merge', { status: { replicas: 1 } }, { subresource: 'status' })
  await p.settled()
  const writes = Number((await p.cluster.get(DEPLOYMENTS, ref)).metadata.resourceVersion) - Number(resourceVersion)
  t.ok(writes > 0)
  t.equal((await p.cluster.get(DEPLOYMENTS, ref)).metadata.generation, 1, 'it is not written again')
})

t.test('how it is says the live spec, also where that is left to the cluster or made once', async t => {
  const p = await pair(t)
  p.start()
  const ref = { namespace: 'app', name: 'j' }
  for (const annotations of [
    { [LEFT_FIELDS_ANNOTATION]: JSON.stringify(['/spec/suspend']) },
    { 'edge.kubestellar.io/create-only': 'true' },
  ] as const) {
    const { metadata, ...rest } = job({ suspend: true })
    await p.mailbox.create(JOBS, { ...rest, metadata: { ...metadata, annotations } })
    await center.world.present(p.clusterId, 'jobs.batch app/j')
    await p.settles('j')
    await p.cluster.patch(JOBS, ref, 'merge', { spec: { suspend: false } }, { fieldManager: 'somebody' })
    const said = await p.tells('j')
    t.match(said, {
      state: 'applied',
      reason: 'Applied',
      health: { health: 'Progressing', message: 'it has not begun' },
    })
    t.equal(said.differences, undefined)
    const status = { startTime: '2026-01-01T00:00:00Z' }
    await p.cluster.patch(JOBS, ref, 'merge', { status }, { subresource: 'status' })
    await p.tells('j', ({ health }) => health?.message === 'it runs')
    await p.cluster.patch(JOBS, ref, 'merge', { spec: { suspend: true } }, { fieldManager: 'somebody' })
    await p.settles('j')
    await p.mailbox.delete(JOBS, ref)
    await center.world.absent(p.clusterId, 'jobs.batch app/j')
  }
})

t.test('what a placement leaves to the cluster is no difference', async t => {
  const p = await pair(t)
  const scaled = (object: KubeObject) => ({ ...object, spec: { ...(object.spec as object), replicas: 5 } })
  p.start(object => (object.kind === 'Deployment' ? scaled(object) : object))
  const left = { [LEFT_FIELDS_ANNOTATION]: JSON.stringify(['/spec/replicas']) }
  const { spec, ...web } = deployment('x:1')
  await p.mailbox.create(DEPLOYMENTS, { ...web, spec: { ...(spec as object), replicas: 2 } })
  t.match(await p.tells('web'), { differences: [{ path: 'spec.replicas', wanted: '2', live: '5' }] })
  await p.mailbox.patch(DEPLOYMENTS, { namespace: 'app', name: 'web' }, 'merge', { metadata: { annotations: left } })
  const said = await p.tells('web', ({ differences }) => differences === undefined)
  t.match(said, { state: 'applied', reason: 'Applied', liveFields: [{ path: 'spec.replicas', live: '5' }] })
})

const definition = (...fields: string[]): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'tills.example.org' },
  spec: {
    group: 'example.org',
    scope: 'Namespaced',
    names: { plural: 'tills', singular: 'till', kind: 'Till', listKind: 'TillList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: Object.fromEntries(fields.map(f => [f, { type: 'string' }])) },
            },
          },
        },
      },
    ],
  },
})
const till = (name: string, spec: object): KubeObject => ({
  apiVersion: 'example.org/v1',
  kind: 'Till',
  metadata: { namespace: 'app', name, labels: PROJECTED },
  spec,
})

t.test(
  'fields that an older definition of the cluster cuts off: the object is there, and it is said which',
  async t => {
    const p = await pair(t)
    const established = ({ status }: KubeObject) =>
      JSON.stringify(status ?? {}).includes('"Established","status":"True"')
    for (const [space, client, fields] of [
      [p.clusterId, p.cluster, ['brand']],
      [p.mailboxId, p.mailbox, ['brand', 'currency']],
    ] as const) {
      await client.create(CRDS, definition(...fields))
      await center.world.present(space, 'customresourcedefinitions.apiextensions.k8s.io tills.example.org', object =>
        established(object),
      )
    }
    const syncer = p.start()
    await p.mailbox.create(TILLS, till('t', { brand: 'a', currency: 'CHF' }))
    await p.mailbox.create(TILLS, till('u', { brand: 'a' }))
    const path = 'spec.currency'
    t.match(await p.tells('t'), {
      state: 'applied',
      reason: 'FieldsDropped',
      differences: [{ path, change: 'Dropped', wanted: '"CHF"', decisive: false }],
    })
    await p.settles('u')
    await p.mailbox.patch(TILLS, { namespace: 'app', name: 'u' }, 'merge', { spec: { currency: 'EUR' } })
    t.match(await p.tells('u'), { state: 'applied', reason: 'FieldsDropped' }, 'at an edit, too')
    await syncer.stop()
    await p.cluster.patch(CRDS, { name: 'tills.example.org' }, 'merge', definition('brand', 'currency'))
    p.start()
    await Promise.all(['t', 'u'].map(name => p.settles(name)))
    const held = (await p.cluster.get(TILLS, { namespace: 'app', name: 't' })).spec
    t.match(held, { currency: 'CHF' }, 'it is written again where the cluster may know more by now')
  },
)

t.test('of what is made once it is told as long as nobody changed it there', async t => {
  const p = await pair(t)
  p.start(object => (isRecord(object.data) && object.data.x ? { ...object, data: { x: 'other' } } : object))
  const once = (name: string, annotations: Record<string, string>) =>
    p.mailbox.create(MAPS, sent(name, { x: '1' }, { annotations }))
  await once('a', { 'edge.kubestellar.io/create-only': 'true' })
  await once('b', { 'edge.kubestellar.io/downsync-overwrite': 'false' })
  for (const name of ['a', 'b']) {
    t.match(await p.tells(name), {
      state: 'altered',
      differences: [{ path: 'data.x', wanted: '"1"', live: '"other"' }],
    })
    await p.cluster.patch(MAPS, { namespace: 'app', name }, 'merge', { data: { x: 'mine' } }, { fieldManager: 'me' })
    await p.settles(name)
  }
})

t.test(
  'live values of fields that are left to the cluster: those that its author does not set, and those that the placement names',
  async t => {
    const p = await pair(t)
    p.start()
    await p.mailbox.create(DEPLOYMENTS, deployment('x:1'))
    await center.world.present(p.clusterId, 'deployments.apps app/web')
    const web = { namespace: 'app', name: 'web' }
    const set = (spec: object) => p.cluster.patch(DEPLOYMENTS, web, 'merge', { spec }, { fieldManager: 'hpa' })
    const tells = (...liveFields: LiveField[]) =>
      p.tells('web', one => equalJson(one.liveFields, liveFields) && one.differences === undefined)
    await set({ minReadySeconds: 5 })
    t.match(await tells({ path: 'spec.minReadySeconds', live: '5' }), { state: 'applied', reason: 'Applied' })
    await set({ minReadySeconds: 7 })
    await tells({ path: 'spec.minReadySeconds', live: '7' })
    const left = { [LEFT_FIELDS_ANNOTATION]: '["/spec/replicas"]' }
    await p.mailbox.patch(DEPLOYMENTS, web, 'merge', { metadata: { annotations: left }, spec: { minReadySeconds: 3 } })
    await center.world.present(p.clusterId, 'deployments.apps app/web', ({ spec }) => at(spec, 'minReadySeconds') === 3)
    await set({ replicas: 8 })
    await tells({ path: 'spec.replicas', live: '8' })
    await set({ replicas: 1 })
    await p.settles('web')
    t.pass('a field that its author sets, or that is as he wishes, is none')
  },
)
