/** Definitions that came along with custom objects, in clusters that have their own, against real API servers. */
import t from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import type { GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'
import { isRecord } from '../../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { systemClock } from '../../../src/client/clock.ts'
import { healthOf } from '../../../src/placement/outcome/health.ts'
import { DOWNSYNCED, IMPLIED_ANNOTATION } from '../../../src/placement/words/placement.ts'
import { awaitedDefinition } from '../../../src/syncer/down/definitions.ts'
import { MailboxMirror } from '../../../src/syncer/mailbox/mirror.ts'
import { startCenter } from '../../support/center.ts'
import { CONFIGS, CRDS } from '../support/kinds.ts'
import { type Pair, PROJECTED, pairIn } from '../support/pair.ts'
import { toldOutcomes } from '../support/toldOutcomes.ts'

const GROUP = 'group1.test'
const NAME = `gears.${GROUP}`
const KEY = `customresourcedefinitions.apiextensions.k8s.io ${NAME}`
const gears = (version: string): GroupVersionResource => ({ group: GROUP, version, resource: 'gears' })
const center = await startCenter(t, { expectsTrouble: true })

function definition(fields: readonly string[], versions: readonly string[], metadata: object = {}): KubeObject {
  const properties = Object.fromEntries(fields.map(field => [field, { type: 'string' }]))
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: NAME, ...metadata },
    spec: {
      group: GROUP,
      names: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' },
      scope: 'Namespaced',
      versions: versions.map((name, i) => ({ name, served: true, storage: i === 0, schema })),
    },
  }
}
const implied = { labels: PROJECTED, annotations: { [IMPLIED_ANNOTATION]: 'true' } }
const gear = (name: string, version: string): KubeObject => ({
  apiVersion: `${GROUP}/${version}`,
  kind: 'Gear',
  metadata: { name, namespace: 'app', labels: PROJECTED },
  spec: { teeth: '12' },
})
const established = ({ status }: KubeObject): boolean => isRecord(status) && Array.isArray(status.conditions)
const wants = (version: string) => ({
  namespacedObjects: [
    { group: GROUP, resource: 'gears', apiVersion: version, objectsByNamespace: [{ namespace: 'app', names: ['*'] }] },
  ],
  clusterScope: [{ group: CRDS.group, resource: CRDS.resource, apiVersion: 'v1', objects: [NAME] }],
})
async function define(p: Pair, at: 'mailbox' | 'cluster', object: KubeObject): Promise<void> {
  await p[at].create(CRDS, object)
  await center.world.present(at === 'mailbox' ? p.mailboxId : p.clusterId, KEY, established)
}
const refused = async (p: Pair): Promise<{ name: string; reason: string; message: string }[]> => {
  const { status } = await p.mailbox.get(CONFIGS, { name: 'the-one' })
  const report = isRecord(status) && isRecord(status.refused) ? status.refused.objects : []
  return report as { name: string; reason: string; message: string }[]
}

for (const more of [{}, { adoptExisting: true }]) {
  t.test(`a definition that came along leaves the cluster's own as it is ${JSON.stringify(more)}`, async t => {
    const p = await pairIn(center, t, wants('v1'))
    await define(p, 'cluster', definition(['teeth', 'local'], ['v1']))
    const before = await p.cluster.get(CRDS, { name: NAME })
    await define(p, 'mailbox', definition(['teeth'], ['v1'], implied))
    await p.mailbox.create(gears('v1'), gear('a', 'v1'))
    p.start(undefined, systemClock, more)
    await center.world.present(p.clusterId, `gears.${GROUP} app/a`)
    await p.settled()
    t.same(await p.cluster.get(CRDS, { name: NAME }), before)
    t.same(await refused(p), [], 'nothing is missing')
  })
}

t.test('a definition that was placed is refused where the cluster has its own, which stays as it is', async t => {
  const p = await pairIn(center, t, wants('v1'))
  await define(p, 'cluster', definition(['teeth', 'local'], ['v1']))
  const before = await p.cluster.get(CRDS, { name: NAME })
  await define(p, 'mailbox', definition(['teeth'], ['v1'], { labels: PROJECTED }))
  await p.mailbox.create(gears('v1'), gear('a', 'v1'))
  p.start(undefined, systemClock)
  await center.world.present(p.clusterId, `gears.${GROUP} app/a`)
  const told = await center.world.present(
    p.mailboxId,
    'syncerconfigs.edge.kubestellar.io the-one',
    ({ status }) => isRecord(status) && isRecord(status.refused) && status.refused.count === 1,
  )
  t.match(told.status, { refused: { objects: [{ name: NAME, reason: 'AlreadyInCluster' }] } })
  t.same(await p.cluster.get(CRDS, { name: NAME }), before)
})

t.test('one that the syncer made itself follows the center', async t => {
  const p = await pairIn(center, t, wants('v1'))
  await define(p, 'mailbox', definition(['teeth'], ['v1'], implied))
  p.start()
  const made = await center.world.present(p.clusterId, KEY, established)
  t.ok(made.metadata.annotations?.[DOWNSYNCED])
  t.notOk(made.metadata.annotations?.[IMPLIED_ANNOTATION], 'that is between the center and the syncer')
  const { spec } = definition(['teeth', 'size'], ['v1'])
  await p.mailbox.patch(CRDS, { name: NAME }, 'merge', { spec })
  await center.world.present(p.clusterId, KEY, object => JSON.stringify(object).includes('size'))
})

t.test('a definition that the cluster does not establish is not there', async t => {
  const p = await pairIn(center, t, wants('v1'))
  const { spec, ...rest } = definition(['teeth'], ['v1'])
  const names = { plural: 'cogs', singular: 'cog', kind: 'Gear', listKind: 'GearList' }
  const other = { ...rest, metadata: { name: `cogs.${GROUP}` }, spec: { ...(spec as object), names } }
  await p.cluster.create(CRDS, other)
  await center.world.present(p.clusterId, `customresourcedefinitions.apiextensions.k8s.io cogs.${GROUP}`, established)
  await define(p, 'mailbox', definition(['teeth'], ['v1'], { labels: PROJECTED }))
  const told = toldOutcomes(p)
  p.start(undefined, undefined, { center: told.center })
  const isRefused = ({ state }: { state: string }): boolean => state === 'refused'
  const { exceptions } = await told.until(outcome => [...outcome.exceptions.values()].some(isRefused))
  t.match([...exceptions.values()], [{ name: NAME, reason: 'NamesNotAccepted', message: /is already in use/ }])
  await p.cluster.delete(CRDS, { name: `cogs.${GROUP}` })
  await told.until(({ compared, exceptions }) => compared && exceptions.size === 0)
  const live = await p.cluster.get(CRDS, { name: NAME })
  t.equal(healthOf(CRDS, live).health, 'Healthy', 'it is when it is')
})

t.test(
  "an object whose version the cluster's own definition does not serve is told so, and arrives when it does",
  async t => {
    const p = await pairIn(center, t, wants('v2'))
    await define(p, 'cluster', definition(['teeth'], ['v1']))
    await define(p, 'mailbox', definition(['teeth'], ['v2'], implied))
    await p.mailbox.create(gears('v2'), gear('a', 'v2'))
    p.start()
    await center.world.present(
      p.mailboxId,
      'syncerconfigs.edge.kubestellar.io the-one',
      ({ status }) => isRecord(status) && isRecord(status.refused),
    )
    const [entry, ...others] = await refused(p)
    t.match(entry, {
      name: 'a',
      reason: 'VersionNotServed',
      message: /CustomResourceDefinition gears.group1.test, which serves v1, not v2/,
    })
    t.same(others, [], 'the definition itself is no trouble')
    const { spec } = definition(['teeth'], ['v1', 'v2'])
    await p.cluster.patch(CRDS, { name: NAME }, 'merge', { spec })
    await center.world.present(p.clusterId, `gears.${GROUP} app/a`)
    await center.world.present(
      p.mailboxId,
      'syncerconfigs.edge.kubestellar.io the-one',
      ({ status }) => isRecord(status) && !isRecord(status.refused),
    )
  },
)

t.test('a custom object tells how far the definition is that it waits for', async t => {
  const sent = definition(['teeth'], ['v1'], implied)
  const at = { ...CRDS, namespace: '', name: NAME }
  const key = { group: GROUP, resource: 'gears', namespace: 'app', name: 'a' }
  const waitsFor = async (live: KubeObject | undefined, placed = true) => {
    const mirror = new MailboxMirror()
    const event = {
      type: 'ADDED',
      space: 's',
      resource: CRDS,
      namespace: '',
      name: NAME,
      revision: 1,
      mentions: () => false,
    } as const
    if (placed) mirror.apply(at, { ...event, object: sent })
    const get = async () => live ?? Promise.reject(new StatusError('NotFound', 'gone'))
    return await awaitedDefinition({ mirror, cluster: { get } as unknown as SpaceClient }, key)
  }
  const condition = (type: string, status: string, message = '') => ({
    ...sent,
    status: { conditions: [{ type, status, message }] },
  })
  const reason = 'DefinitionNotEstablished'
  const prefix = `waits for CustomResourceDefinition ${NAME} in the cluster: `
  t.same(await waitsFor(undefined), { state: 'waiting', reason, message: `${prefix}it is not there` })
  t.match(await waitsFor(sent), { message: `${prefix}it is not established` })
  t.match(await waitsFor(condition('NamesAccepted', 'False', '"Gear" is taken')), {
    message: `${prefix}"Gear" is taken`,
  })
  t.match(await waitsFor(condition('Established', 'True')), { message: `${prefix}it is about to be served` })
  t.equal(await waitsFor(undefined, false), undefined, 'nobody sends one')
})
