/**
 * A syncer that is killed at any moment, again and again, while people change the space and the cluster. At the end a real kube-apiserver
 * holds the objects by the rules, and foreign ones there were never touched. `KILLS=50` for a longer one, `SEED` for another one. Skipped
 * where KUBEBUILDER_ASSETS is not set.
 */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { isStatusError } from '../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { unlessGone } from '../../src/client/unlessGone.ts'
import { ADOPT, CLUSTER_RECORD, CREATE_ONLY, KEEP_ON_DELETE, OVERWRITE } from '../../src/placement/words/placement.ts'
import { SEED, Seeded } from '../support/seeded.ts'
import { temporaryDir } from '../support/server.ts'
import { at, Center, clientOf, gone, is, map, register, there } from '../syncer/support/installation.ts'
import { LEASES, MAPS, NAMESPACES } from '../syncer/support/kinds.ts'
import { Program, until } from '../syncer/support/processes.ts'
import { assetsDir, startRealCluster } from '../syncer/support/realCluster.ts'

const KILLS = Number(process.env.KILLS ?? 6)
/** How long it may have worked at what came last. */
const WORK_MS = 600
/** Not every start is over by then. */
const START_MS = 2500
const noAssets = assetsDir() === undefined && 'KUBEBUILDER_ASSETS is not set'
t.setTimeout(0)

const noted = (name: string, data: Record<string, string>, annotation: string, value = 'true'): KubeObject => {
  const object = map(name, data)
  return { ...object, metadata: { ...object.metadata, annotations: { [annotation]: value } } }
}
const bare = (object: KubeObject | undefined): boolean =>
  object !== undefined && !JSON.stringify([object.metadata.labels, object.metadata.annotations]).includes('kubestellar')

/** Fate of one set of objects: first in the space and the cluster, then at the end. */
class Round {
  readonly #id: number
  readonly #wds: SpaceClient
  readonly #cluster: SpaceClient
  /** Foreign objects of the cluster, which must stay untouched. */
  readonly #foreign: KubeObject[] = []
  #raced: KubeObject | undefined

  constructor(id: number, wds: SpaceClient, cluster: SpaceClient) {
    this.#id = id
    this.#wds = wds
    this.#cluster = cluster
  }

  #name = (what: string): string => `${what}-${this.#id}`

  /** @param waitMs before somebody in the cluster makes what may have come meanwhile */
  async begin(waitMs: number): Promise<void> {
    const [wds, cluster] = [this.#wds, this.#cluster]
    for (const what of ['refused', 'seeded'])
      this.#foreign.push(await made(cluster, map(this.#name(what), { own: 'x' })))
    await made(cluster, map(this.#name('adopted'), { own: 'x' }))
    const x = { x: '1' }
    await Promise.all([
      made(wds, map(this.#name('plain'), x)),
      made(wds, map(this.#name('short'), x)),
      made(wds, map(this.#name('refused'), x)),
      made(wds, noted(this.#name('adopted'), x, ADOPT)),
      made(wds, noted(this.#name('returned'), x, ADOPT)),
      made(wds, noted(this.#name('first'), x, CREATE_ONLY)),
      made(wds, noted(this.#name('kept'), x, KEEP_ON_DELETE)),
      made(wds, noted(this.#name('seed'), x, OVERWRITE, 'false')),
      made(wds, noted(this.#name('seeded'), x, OVERWRITE, 'false')),
      made(wds, map(this.#name('raced'), x)),
      this.#race(waitMs),
    ])
  }

  async #race(waitMs: number): Promise<void> {
    await setTimeout(waitMs)
    const raced = await made(this.#cluster, map(this.#name('raced'), { own: 'x' }))
    if (dataOf(raced).own === 'x') this.#raced = raced
  }

  /** Something of it has come. */
  async isUnderWay(): Promise<void> {
    await until(this.#cluster, MAPS, at(this.#name('plain')), there)
  }

  /** The space says something else by now, whatever of it has come. */
  async change(): Promise<void> {
    for (const what of ['plain', 'adopted', 'first', 'seed', 'refused', 'seeded', 'raced'])
      await this.#wds.patch(MAPS, at(this.#name(what)), 'merge', { data: { x: '2' } })
    await this.#wds.delete(MAPS, at(this.#name('short')))
  }

  async take(): Promise<void> {
    for (const what of ['kept', 'returned']) {
      await until(this.#cluster, MAPS, at(this.#name(what)), there)
      await this.#wds.delete(MAPS, at(this.#name(what)))
    }
  }

  async holds(t: Test): Promise<void> {
    const comes = (what: string, isSo: (object: KubeObject | undefined) => boolean) =>
      until(this.#cluster, MAPS, at(this.#name(what)), isSo)
    await comes('plain', is('data', { x: '2' }))
    await comes('short', gone)
    await comes('adopted', is('data', { own: 'x', x: '2' }))
    await comes('kept', bare)
    await comes('returned', gone)
    for (const what of ['first', 'seed']) await comes(what, object => ['1', '2'].includes(String(dataOf(object).x)))
    const raced = await this.#cluster.get(MAPS, at(this.#name('raced')))
    if (this.#raced) this.#foreign.push(this.#raced)
    else await comes('raced', is('data', { x: '2' }))
    t.equal(dataOf(raced).own, this.#raced ? 'x' : undefined, `${this.#id}: it is whose it was made by`)
  }

  async isUntouched(t: Test): Promise<void> {
    for (const before of this.#foreign) {
      const now = await this.#cluster.get(MAPS, at(before.metadata.name ?? ''))
      t.equal(now.metadata.resourceVersion, before.metadata.resourceVersion, `${before.metadata.name} is untouched`)
    }
  }

  /** Everything leaves the space. */
  async end(): Promise<void> {
    for (const what of ['plain', 'refused', 'adopted', 'first', 'seed', 'seeded', 'raced'])
      await this.#wds.delete(MAPS, at(this.#name(what)))
  }

  async isOver(): Promise<void> {
    const comes = (what: string, isSo: (object: KubeObject | undefined) => boolean) =>
      until(this.#cluster, MAPS, at(this.#name(what)), isSo)
    for (const what of ['plain', 'first']) await comes(what, gone)
    await comes('adopted', is('data', { own: 'x' }))
    await comes('adopted', bare)
    await comes('seed', there)
    if (!this.#raced) await comes('raced', gone)
  }
}

const dataOf = (object: KubeObject | undefined) => (object?.data ?? {}) as Record<string, unknown>

/** Makes it, or finds that it is there: as it was made, should the answer to that have been lost. */
async function made(client: SpaceClient, object: KubeObject): Promise<KubeObject> {
  for (;;) {
    try {
      return await client.create(MAPS, object)
    } catch (error) {
      if (isStatusError(error, 'AlreadyExists')) return await client.get(MAPS, at(object.metadata.name ?? ''))
      if (!isStatusError(error, 'ServiceUnavailable')) throw error
    }
  }
}

t.test('killed at any moment', { skip: noAssets, timeout: 0 }, async t => {
  const random = new Seeded(SEED)
  const dir = temporaryDir(t)
  const center = new Center(t, join(dir, 'center'))
  const [toCluster] = await Promise.all([startRealCluster(t, join(dir, 'real')), center.start()])
  const cluster = await clientOf(t, toCluster)
  const mailbox = await register(center)
  const fromCenter = join(dir, 'syncer.kubeconfig')
  await center.syncerKubeconfig(fromCenter, mailbox)
  const wds = center.in('root:wmw1')
  // marks that somebody copied with what they stand on, to another name or place, are nobody's
  await cluster.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'theirs' } })
  let states = 0
  const syncer = (): Program => {
    const flags = ['--from-kubeconfig', fromCenter, '--to-kubeconfig', toCluster, '--health-address', 'none']
    return Program.orrery(t, ['syncer', ...flags, '--state-dir', join(dir, `state-${states}`)])
  }
  const rounds: Round[] = []
  /** Its successor need not wait until it is taken for dead. */
  const kill = async (): Promise<void> => {
    await running.end('SIGKILL')
    await unlessGone(cluster.delete(LEASES, CLUSTER_RECORD))
  }
  let running = syncer()
  await cluster.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  for (let id = 0; id < KILLS; id++) {
    const round = new Round(id, wds, cluster)
    const before = rounds.at(-1)
    rounds.push(round)
    const begun = round.begin(random.number(WORK_MS))
    const met = random.chance(70) ? round.isUnderWay().then(() => random.number(WORK_MS)) : random.number(START_MS)
    const killing = (async () => {
      await setTimeout(await met)
      await kill()
    })()
    await Promise.all([killing, begun, before?.change()])
    // now and then it has lost what it remembers
    if (random.chance(25)) states++
    running = syncer()
  }
  const ours = await until(cluster, MAPS, at('plain-0'), there)
  const copied = await copies(cluster, ours!)
  await rounds.at(-1)?.change()
  const each = async (what: (round: Round) => Promise<void>) => {
    for (const round of rounds) await what(round)
  }
  await setTimeout(random.number(START_MS))
  await kill()
  running = syncer()
  await each(round => round.take())
  await each(round => round.holds(t))
  await each(round => round.isUntouched(t))
  const over = each(round => round.end())
  await Promise.all([over, setTimeout(random.number(START_MS)).then(kill)])
  running = syncer()
  await each(round => round.isOver())
  await each(round => round.isUntouched(t))
  for (const before of copied) {
    const { namespace = '', name = '', resourceVersion } = before.metadata
    t.equal(
      (await cluster.get(MAPS, { namespace, name })).metadata.resourceVersion,
      resourceVersion,
      `${namespace}/${name}`,
    )
  }
  await running.end('SIGTERM')
})

/** As `kubectl get -o yaml | sed | kubectl apply` makes them. */
async function copies(cluster: SpaceClient, { data, metadata }: KubeObject): Promise<KubeObject[]> {
  const { labels, annotations } = metadata
  const marks = { ...(labels && { labels }), ...(annotations && { annotations }) }
  const copy = (namespace: string, name: string): Promise<KubeObject> =>
    cluster.create(MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, ...marks }, data })
  return [await copy('shop', 'a-copy'), await copy('theirs', 'plain-0')]
}
