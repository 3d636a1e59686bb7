/** Claims of a syncer about a cluster that is out of reach, and about one that comes back as it was before. */
import t, { type Test } from 'tap'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import type { Client, SpaceClient } from '../../../src/client/client.ts'
import { OUTCOME_SUBRESOURCE, type OutcomeReport, readOutcomeReport } from '../../../src/placement/outcome/outcome.ts'
import { DOWNSYNCED } from '../../../src/placement/words/placement.ts'
import { ownMark } from '../../../src/syncer/objects/marks.ts'
import type { Syncer } from '../../../src/syncer/syncer.ts'
import { startCenter } from '../../support/center.ts'
import { asCluster, configMap, MAPS, NAMESPACES, namespace } from '../support/kinds.ts'
import { type Pair, PROJECTED, pairIn, sent } from '../support/pair.ts'

const AT_A = { namespace: 'app', name: 'a' }
const LEASES = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
const LEASE = { namespace: 'kube-system', name: 'orrery-syncer' }
const center = await startCenter(t, { expectsTrouble: true })
const saying =
  (x: string) =>
  ({ data }: KubeObject): boolean =>
    isRecord(data) && data.x === x

const over = (space: SpaceClient): SpaceClient => ({
  get: (...args) => space.get(...args),
  list: (...args) => space.list(...args),
  watch: (...args) => space.watch(...args),
  create: (...args) => space.create(...args),
  update: (...args) => space.update(...args),
  patch: (...args) => space.patch(...args),
  delete: (...args) => space.delete(...args),
  discover: () => space.discover(),
})

/** Reports of a syncer to the center about its cluster. */
class Told {
  #last: OutcomeReport | undefined
  #more = Promise.withResolvers<void>()

  client(client: Client): Client {
    const listening = (space: SpaceClient): SpaceClient => ({
      ...over(space),
      update: async (resource, object, options) => {
        if (options?.subresource !== OUTCOME_SUBRESOURCE) return await space.update(resource, object, options)
        this.#last = readOutcomeReport(object.spec)
        this.#more.resolve()
        this.#more = Promise.withResolvers()
        return { ...object, status: { epoch: 'e', again: false } }
      },
    })
    return { in: name => listening(client.in(name)), stream: options => client.stream(options) }
  }

  async until(has: (report: OutcomeReport) => boolean): Promise<void> {
    while (!this.#last || !has(this.#last)) await this.#more.promise
  }
}

async function served(
  t: Test,
  around = (cluster: SpaceClient) => cluster,
): Promise<{ p: Pair; told: Told; syncer: Syncer }> {
  const p = await pairIn(center, t)
  const told = new Told()
  await p.mailbox.create(MAPS, sent('a', { x: '1' }))
  const lease = { holder: 'h', durationMs: 15_000 }
  const cluster = around(p.toCluster.cluster(p.cluster))
  const syncer = p.start(undefined, undefined, {
    center: told.client(p.toCenter.center(center.client)),
    cluster,
    lease,
  })
  await center.world.present(p.clusterId, 'configmaps app/a', saying('1'))
  await told.until(({ compared }) => compared)
  return { p, told, syncer }
}

t.test(
  'of a cluster out of reach nothing is claimed, and of what it lost meanwhile nothing before it is there again',
  async t => {
    const { p, told } = await served(t)
    p.toCluster.down = true
    p.toCluster.cut()
    await told.until(({ compared, unreachable }) => !compared && unreachable === true)
    await p.cluster.delete(MAPS, AT_A)
    p.toCluster.down = false
    await told.until(({ compared }) => compared)
    t.ok(saying('1')(await p.cluster.get(MAPS, AT_A)))
  },
)

t.test('a cluster that was brought back as it was before is compared anew, though nobody saw it go', async t => {
  let isDeaf = false
  const deafened = (cluster: SpaceClient): SpaceClient => ({
    ...over(cluster),
    async *watch(resource, options) {
      for await (const batch of cluster.watch(resource, options)) if (!isDeaf) yield batch
    },
  })
  const { p } = await served(t, deafened)
  const before = await p.cluster.get(LEASES, LEASE)
  await center.world.present(
    p.clusterId,
    'leases.coordination.k8s.io kube-system/orrery-syncer',
    ({ metadata }) => metadata.resourceVersion !== before.metadata.resourceVersion,
  )
  // what its watches would tell belongs to versions that are yet to come
  isDeaf = true
  await p.cluster.delete(MAPS, AT_A)
  await p.settled()
  t.notOk(center.world.get(p.clusterId, 'configmaps app/a'))
  await p.cluster.patch(LEASES, LEASE, 'merge', { spec: before.spec })
  await center.world.present(p.clusterId, 'configmaps app/a', saying('1'))
})

t.test(
  'another cluster that answers in its place is found out before anything is written or removed there',
  async t => {
    const id = await center.space('another-cluster')
    const another = asCluster(center.client.in(id))
    const placed = configMap('theirs', { x: '9' })
    await another.create(NAMESPACES, namespace('app'))
    await another.create(MAPS, { ...placed, metadata: { ...placed.metadata, ...marked(placed) } })
    const note = configMap('orrery-syncer', { mailbox: 'y-mb-5b3c9c2e-0d6a-4c5e-9d3e-0f5a6b7c8d9e' })
    await another.create(MAPS, { ...note, metadata: { name: 'orrery-syncer', namespace: 'kube-system' } })
    const held = namesIn(await another.list(MAPS))

    let isSwapped = false
    // who follows the note is slower than all others
    const isOfNote = (options?: { fieldSelector?: string }): boolean => options?.fieldSelector !== undefined
    const swapped = (cluster: SpaceClient): SpaceClient => {
      const now = (): SpaceClient => (isSwapped ? another : cluster)
      return {
        get: (...args) => now().get(...args),
        list: (resource, options) =>
          isSwapped && isOfNote(options) ? new Promise(() => {}) : now().list(resource, options),
        watch: (resource, options) => now().watch(resource, options),
        create: (...args) => now().create(...args),
        update: (...args) => now().update(...args),
        patch: (...args) => now().patch(...args),
        delete: (...args) => now().delete(...args),
        discover: () => now().discover(),
      }
    }
    const { p, told, syncer } = await served(t, swapped)
    p.toCluster.down = true
    p.toCluster.cut()
    await told.until(({ unreachable }) => unreachable === true)
    isSwapped = true
    const reason = await Promise.race([syncer.refused, told.until(({ compared }) => compared)])
    t.match(reason, /is served from the mailbox y-mb-.* from now on/)
    await center.settled()
    t.same(namesIn(await another.list(MAPS)), held)
  },
)

const marked = (object: KubeObject) => ({ labels: PROJECTED, annotations: { [DOWNSYNCED]: ownMark(object) } })

const namesIn = ({ items }: { items: KubeObject[] }): string[] =>
  items.map(({ metadata }) => `${metadata.namespace}/${metadata.name} ${metadata.resourceVersion}`)
