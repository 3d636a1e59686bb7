/** Kinds that one side lacks, and objects that are born in the cluster, against real API servers in this process. */
import t, { type Test } from 'tap'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import { UPSYNCED } from '../../../src/placement/words/placement.ts'
import { startCenter } from '../../support/center.ts'
import { CONFIGS, CRDS, NAMESPACES, namespace } from '../support/kinds.ts'
import { type Pair, PROJECTED, pairIn } from '../support/pair.ts'

const SPROCKETS = { group: 'group1.test', version: 'v1', resource: 'sprockets' }
const center = await startCenter(t, { expectsTrouble: true })
const pair = (test: Test, spec: object): Promise<Pair> => pairIn(center, test, spec)

const definition = (group: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `sprockets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'sprockets', singular: 'sprocket', kind: 'Sprocket' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})
const sprocket = (name: string, n: number): KubeObject => ({
  apiVersion: 'group1.test/v1',
  kind: 'Sprocket',
  metadata: { name, namespace: 'orbital' },
  spec: { n },
})

t.test('upsync brings the CRD, the Namespace, the object and its status inward, and takes them back', async t => {
  const p = await pair(t, {
    upsync: [{ apiGroup: 'group1.test', resources: ['sprockets'], namespaces: ['orbital'], names: ['*'] }],
  })
  const { world } = center
  const key = 'sprockets.group1.test orbital/george'
  await p.cluster.create(NAMESPACES, namespace('orbital'))
  const { spec: defined, ...rest } = definition('group1.test')
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://cluster.test/convert' } }
  const conversion = { strategy: 'Webhook', webhook }
  await p.cluster.create(CRDS, { ...rest, spec: { ...(isRecord(defined) && defined), conversion } })
  await world.present(
    p.clusterId,
    'customresourcedefinitions.apiextensions.k8s.io sprockets.group1.test',
    ({ status }) => isRecord(status) && Array.isArray(status.conditions),
  )
  await p.cluster.create(SPROCKETS, sprocket('george', 1))
  const syncer = p.start()
  const carried = await world.present(p.mailboxId, key)
  t.equal(carried.metadata.annotations?.[UPSYNCED], 'Sprocket/orbital/george')
  const name = 'sprockets.group1.test'
  t.match(await p.cluster.get(CRDS, { name }), { spec: { conversion } })
  t.same(
    (await p.mailbox.get(CRDS, { name })).spec,
    {
      ...(isRecord(defined) && ((await p.cluster.get(CRDS, { name })).spec as object)),
      conversion: { strategy: 'None' },
    },
    "the cluster's webhook stays in the cluster",
  )
  await p.cluster.patch(
    SPROCKETS,
    { namespace: 'orbital', name: 'george' },
    'merge',
    { status: { ok: true } },
    { subresource: 'status' },
  )
  await p.cluster.patch(SPROCKETS, { namespace: 'orbital', name: 'george' }, 'merge', { spec: { n: 2 } })
  await world.present(
    p.mailboxId,
    key,
    ({ spec, status }) => JSON.stringify([spec, status]) === '[{"n":2},{"ok":true}]',
  )
  const large = { status: { ok: 'x'.repeat(256 * 1024) } }
  const george = { namespace: 'orbital', name: 'george' }
  await p.cluster.patch(SPROCKETS, george, 'merge', large, { subresource: 'status' })
  await world.present(p.mailboxId, key, ({ status }) => status === undefined)
  await p.mailbox.delete(SPROCKETS, { namespace: 'orbital', name: 'george' })
  await world.present(p.mailboxId, key, ({ metadata }) => metadata.uid !== carried.metadata.uid)
  await syncer.stop()
  await p.cluster.delete(SPROCKETS, { namespace: 'orbital', name: 'george' })
  p.start()
  await world.absent(p.mailboxId, key)
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { spec: { upsync: [] } })
  await world.absent(p.mailboxId, 'customresourcedefinitions.apiextensions.k8s.io sprockets.group1.test')
})

t.test(
  'what left the cluster leaves the mailbox at once, also kinds whose dependents stay unless one says otherwise',
  async t => {
    const RCS = { group: '', version: 'v1', resource: 'replicationcontrollers' }
    const p = await pair(t, {
      upsync: [{ apiGroup: '', resources: ['replicationcontrollers'], namespaces: ['orbital'], names: ['*'] }],
    })
    const { world } = center
    const key = 'replicationcontrollers orbital/rc'
    await p.cluster.create(NAMESPACES, namespace('orbital'))
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const metadata = { name: 'rc', namespace: 'orbital' }
    await p.cluster.create(RCS, { apiVersion: 'v1', kind: 'ReplicationController', metadata, spec: { template } })
    p.start()
    await world.present(p.mailboxId, key)
    const waiting: unknown[] = []
    t.teardown(
      world.onChange(({ type, space, object }) => {
        if (space === p.mailboxId && type === 'MODIFIED') waiting.push(object.metadata.finalizers)
      }),
    )
    await p.cluster.delete(RCS, metadata, { propagationPolicy: 'Background' })
    await world.absent(p.mailboxId, key)
    t.strictSame(waiting, [])
  },
)

t.test('objects of a kind that the cluster does not serve yet arrive when their CRD does', async t => {
  const list = (resource: string, group: string, names: string[]) => ({
    group,
    resource,
    apiVersion: 'v1',
    objectsByNamespace: [{ namespace: 'app', names }],
  })
  const p = await pair(t, { namespacedObjects: [list('sprockets', 'group1.test', ['a'])] })
  p.start()
  await p.mailbox.create(CRDS, definition('group1.test'))
  await center.world.present(
    p.mailboxId,
    'customresourcedefinitions.apiextensions.k8s.io sprockets.group1.test',
    ({ status }) => isRecord(status) && Array.isArray(status.conditions),
  )
  await p.mailbox.create(SPROCKETS, {
    ...sprocket('a', 1),
    metadata: { name: 'a', namespace: 'app', labels: PROJECTED },
  })
  await center.world.present(p.clusterId, 'namespaces app')
  await p.settled()
  const clusterScope = [
    {
      group: 'apiextensions.k8s.io',
      resource: 'customresourcedefinitions',
      apiVersion: 'v1',
      objects: ['sprockets.group1.test'],
    },
  ]
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { spec: { clusterScope } })
  await center.world.present(p.clusterId, 'sprockets.group1.test app/a')
})
