/**
 * A center that is not the one it was, or does not say what it held: restored, replaced by an empty one, out of order. Objects without a
 * deletion by name stay in the cluster, unless they are few, and the syncer reports so.
 */
import t, { type Test } from 'tap'
import { statusError } from '../../src/apimachinery/errors.ts'
import type { Client, StreamBatch, StreamEvent, StreamOptions } from '../../src/client/client.ts'
import { type Clock, systemClock } from '../../src/client/clock.ts'
import { CLUSTER_RECORD, CONFIRM_DELETION_ANNOTATION } from '../../src/placement/words/placement.ts'
import type { Syncer } from '../../src/syncer/syncer.ts'
import { adopt } from '../../src/syncer/whose/clusterRecord.ts'
import { mailboxOf } from '../../src/syncer/whose/places.ts'
import { startCenter } from '../support/center.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { CONFIGS, MAPS } from './support/kinds.ts'
import { type Pair, pairIn, sent } from './support/pair.ts'
import { recordingLogger } from './support/recordingLogger.ts'

const center = await startCenter(t, { expectsTrouble: true })

/** Streams what is true but for what the test has it say otherwise. */
class Liar {
  /** Epoch of another life than the true center's, which it does not know. */
  epoch: string | undefined
  /** Events of its snapshots. */
  tells: (event: StreamEvent) => boolean = () => true
  /** Other change of its batches. */
  bends: (batch: StreamBatch) => StreamBatch = batch => batch
  /** It was restored, and that is settled with the next word. */
  isSettledAtOnce = false

  over(client: Client): Client {
    return { ...client, in: space => client.in(space), stream: options => this.#stream(client, options) }
  }

  async *#stream(client: Client, options: StreamOptions): AsyncGenerator<StreamBatch, void, void> {
    if (this.epoch !== undefined && options.after !== undefined && options.epoch !== this.epoch)
      throw statusError.expired('the cursor is of another history')
    const { known: _known, epoch: _epoch, ...plain } = options
    for await (const batch of client.stream(this.epoch === undefined ? options : plain)) {
      const events = batch.events.filter(event => this.tells(event))
      const told = this.bends({ ...batch, events, ...(this.epoch !== undefined && { epoch: this.epoch }) })
      if (!this.isSettledAtOnce) {
        yield told
        continue
      }
      yield { ...told, restored: true }
      yield { ...told, events: [], synced: false }
    }
  }
}

function bent(event: StreamEvent, fields: Partial<StreamEvent>): StreamEvent {
  const { type, space, resource, namespace, name, revision, isKnown } = event
  // it is read on demand, and a known one comes without it
  const { object } = isKnown ? ({} as Partial<StreamEvent>) : event
  return { type, space, resource, namespace, name, revision, isKnown, object, ...fields } as StreamEvent
}

interface Scene {
  p: Pair
  liar: Liar
  names: string[]
  lines: ReturnType<typeof recordingLogger>['lines']
  start(more?: object, clock?: Clock): Syncer
  /** So many of them are in the cluster. */
  there(): number
  /** Resolves when the new center's content was received and processed. */
  heardAnew(): Promise<void>
}

async function scene(t: Test, count: number): Promise<Scene> {
  const names = Array.from({ length: count }, (_, i) => `m${i}`)
  const objectsByNamespace = [{ namespace: 'app', names: [...names, 'later'] }]
  const p = await pairIn(center, t, {
    namespacedObjects: [{ group: '', resource: 'configmaps', apiVersion: 'v1', objectsByNamespace }],
  })
  const liar = new Liar()
  const { logger, lines } = recordingLogger()
  for (const name of names) await p.mailbox.create(MAPS, sent(name))
  let syncer: Syncer | undefined
  const start = (more: object = {}, clock?: Clock): Syncer => {
    syncer = p.start(logger, clock, { center: p.toCenter.center(liar.over(center.client)), ...more })
    return syncer
  }
  /** Whether it knows all that the center says, and has looked at it in the cluster. */
  const isDone = ({ complete, waiting }: ReturnType<Syncer['status']>): boolean => complete && waiting.down === 0
  let marks = 0
  return {
    p,
    liar,
    names,
    lines,
    start,
    there: () => names.filter(name => center.world.get(p.clusterId, `configmaps app/${name}`) !== undefined).length,
    async heardAnew() {
      p.toCenter.cut()
      const later = sent('later', { mark: `${++marks}` })
      if (marks === 1) await p.mailbox.create(MAPS, later)
      else await p.mailbox.patch(MAPS, { namespace: 'app', name: 'later' }, 'merge', { data: later.data })
      await center.world.present(
        p.clusterId,
        'configmaps app/later',
        ({ data }) => JSON.stringify(data) === JSON.stringify(later.data),
      )
      while (syncer && !isDone(syncer.status())) await new Promise(resolve => setTimeout(resolve, 1))
      await p.settled()
    },
  }
}

async function allThere({ p, names }: Scene): Promise<void> {
  for (const name of names) await center.world.present(p.clusterId, `configmaps app/${name}`)
  await p.settled()
}

/** Waits until the syncer reports that it holds so many: it judges a moment after it has looked at the last one. */
async function holds(syncer: Syncer, count: number): Promise<void> {
  const late = AbortSignal.timeout(PATIENCE_MS)
  while (syncer.status().exceptions.held !== count) {
    if (late.aborted) throw new Error(`it holds ${syncer.status().exceptions.held}, not ${count}`)
    await new Promise(resolve => setTimeout(resolve, 1))
  }
}

const isMap = ({ resource, name }: StreamEvent): boolean => resource.resource === 'configmaps' && /^m\d/.test(name)
const DELETION_HELD = /objects stay in the cluster: the center does not hold them any more/
const held = (s: Scene) => s.lines.filter(({ message }) => DELETION_HELD.test(message))
const hashIn = (text: string): string => /confirm-deletion=(\w+)$/.exec(text)?.[1] ?? ''

t.test(
  'what a center of another life does not know stays, over restarts, until that is confirmed or it is back',
  async t => {
    const s = await scene(t, 60)
    const { p, liar } = s
    let syncer = s.start()
    await allThere(s)
    liar.epoch = 'restored'
    liar.tells = event => !isMap(event)
    await s.heardAnew()
    t.equal(s.there(), 60)
    t.equal(held(s).length, 1, 'told once')
    await holds(syncer, 60)
    await syncer.stop()
    syncer = s.start()
    await s.heardAnew()
    t.equal(s.there(), 60, 'after a restart')
    await holds(syncer, 60)
    await syncer.stop()
    const stateDir = temporaryDir(t)
    syncer = s.start({ stateDir })
    await s.heardAnew()
    t.equal(s.there(), 60, 'after one that remembers nothing')
    t.equal(new Set(held(s).map(({ message }) => hashIn(message))).size, 1, 'one and the same')
    // five are placed again
    liar.tells = event => !isMap(event) || /^m[0-4]$/.test(event.name)
    liar.epoch = 'restored again'
    await s.heardAnew()
    await holds(syncer, 55)
    const { message } = held(s).at(-1)!
    t.match(message, /^55 objects stay/)
    const confirm = (hash: string) =>
      p.cluster.patch(MAPS, CLUSTER_RECORD, 'merge', {
        metadata: { annotations: { [CONFIRM_DELETION_ANNOTATION]: hash } },
      })
    await confirm(hashIn(held(s)[0]!.message))
    await s.heardAnew()
    t.equal(s.there(), 60, 'that was another plan')
    await confirm(hashIn(message))
    await center.world.until('their end', () => (s.there() === 5 ? undefined : 'some are there'))
    await p.settled()
    t.equal(syncer.status().exceptions.held, undefined)
  },
)

t.test('a confirmation is obeyed once: what is placed again and missing once more is asked about anew', async t => {
  const s = await scene(t, 60)
  const { p, liar } = s
  let syncer = s.start()
  await allThere(s)
  const note = `configmaps ${CLUSTER_RECORD.namespace}/${CLUSTER_RECORD.name}`
  const areMissing = async (epoch: string): Promise<void> => {
    liar.epoch = epoch
    liar.tells = event => !isMap(event)
    await s.heardAnew()
    t.equal(s.there(), 60)
    await holds(syncer, 60)
  }
  await areMissing('restored')
  await syncer.stop()
  const annotations = { [CONFIRM_DELETION_ANNOTATION]: hashIn(held(s).at(-1)?.message ?? '') }
  await p.cluster.patch(MAPS, CLUSTER_RECORD, 'merge', { metadata: { annotations } })
  syncer = s.start({ stateDir: temporaryDir(t) })
  await center.world.until('their end', () => (s.there() === 0 ? undefined : 'some are there'))
  await center.world.present(
    p.clusterId,
    note,
    ({ metadata }) => metadata.annotations?.[CONFIRM_DELETION_ANNOTATION] === undefined,
  )
  liar.epoch = 'whole again'
  liar.tells = () => true
  await s.heardAnew()
  await allThere(s)
  await areMissing('restored once more')
})

t.test('a cluster that is handed over may be emptied of what its new mailbox does not hold', async t => {
  const s = await scene(t, 12)
  const { p, liar } = s
  const syncer = s.start()
  await allThere(s)
  await syncer.stop()
  const given = await mailboxOf(p.mailbox)
  t.equal((await adopt(p.cluster, { ...given, space: 'another' }))?.mailbox, p.mailboxName)
  await adopt(p.cluster, given)
  liar.tells = event => !isMap(event)
  s.start({ stateDir: temporaryDir(t) })
  await center.world.until('their end', () => (s.there() === 0 ? undefined : 'some are there'))
  const note = `configmaps ${CLUSTER_RECORD.namespace}/${CLUSTER_RECORD.name}`
  await center.world.present(
    p.clusterId,
    note,
    ({ metadata }) => metadata.annotations?.[CONFIRM_DELETION_ANNOTATION] === undefined,
  )
  t.equal(held(s).length, 0)
})

t.test('all of more than ten is too much, a little is not', async t => {
  for (const [count, left] of [
    [11, 11],
    [10, 0],
  ] as const) {
    const s = await scene(t, count)
    const { p, liar } = s
    s.start()
    await allThere(s)
    liar.epoch = 'another center'
    liar.tells = ({ resource }) => resource.resource !== 'configmaps'
    p.toCenter.cut()
    if (left > 0) {
      while (held(s).length === 0) await new Promise(resolve => setTimeout(resolve, 1))
      await p.settled()
    } else await center.world.until('their end', () => (s.there() === 0 ? undefined : 'some are there'))
    t.equal(s.there(), left)
  }
})

t.test('a mailbox that was made anew, and is empty as yet, empties no cluster', async t => {
  const s = await scene(t, 12)
  const { p, liar } = s
  const syncer = s.start()
  await allThere(s)
  liar.bends = batch => ({ ...batch, events: batch.events.map(event => bent(event, { space: 'another' })) })
  liar.tells = event => !isMap(event)
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { metadata: { annotations: { note: 'x' } } })
  while (held(s).length === 0) await new Promise(resolve => setTimeout(resolve, 1))
  await p.settled()
  t.equal(s.there(), 12)
  // it is filled again
  liar.tells = () => true
  p.toCenter.expired = true
  p.toCenter.cut()
  while (syncer.status().exceptions.held !== undefined) await new Promise(resolve => setTimeout(resolve, 1))
  for (const name of s.names.slice(0, 11)) await p.mailbox.delete(MAPS, { namespace: 'app', name })
  await center.world.until('their end', () => (s.there() === 1 ? undefined : 'some are there'))
})

t.test('what the same center deleted while nobody listened goes, however much it was', async t => {
  const s = await scene(t, 60)
  const { p } = s
  const syncer = s.start()
  await allThere(s)
  await syncer.stop()
  for (const name of s.names) await p.mailbox.delete(MAPS, { namespace: 'app', name })
  p.toCenter.expired = true
  s.start()
  await center.world.until('their end', () => (s.there() === 0 ? undefined : 'some are there'))
  t.equal(held(s).length, 0)
})

t.test(
  'a syncer without a state holds even a little where a restore is settled before it has searched its cluster',
  async t => {
    const s = await scene(t, 3)
    const { liar } = s
    const first = s.start()
    await allThere(s)
    await first.stop()
    liar.epoch = 'restored'
    liar.tells = event => !isMap(event)
    liar.isSettledAtOnce = true
    const second = s.start({ stateDir: temporaryDir(t) })
    await s.heardAnew()
    await holds(second, 3)
    t.equal(s.there(), 3)
  },
)

t.test('a stream that begins again at lower revisions takes nothing away', async t => {
  const s = await scene(t, 12)
  const { p, liar } = s
  s.start()
  await allThere(s)
  liar.bends = batch => ({ ...batch, revision: 1, events: batch.events.map(event => bent(event, { revision: 1 })) })
  await s.heardAnew()
  liar.tells = () => false
  p.toCenter.cut()
  liar.tells = () => true
  await s.heardAnew()
  t.equal(s.there(), 12)
})

t.test('who takes a cluster over holds what the one before it held, and obeys the same word', async t => {
  const s = await scene(t, 60)
  const { p, liar } = s
  const lease = (holder: string) => ({ lease: { holder, durationMs: 1500 }, stateDir: temporaryDir(t) })
  const first = s.start(lease('first'), systemClock)
  await allThere(s)
  liar.epoch = 'restored'
  liar.tells = event => !isMap(event)
  await s.heardAnew()
  while (held(s).length === 0) await new Promise(resolve => setTimeout(resolve, 1))
  const second = s.start(lease('second'), systemClock)
  await first.stop()
  await second.synced
  while (held(s).length === 1) await new Promise(resolve => setTimeout(resolve, 1))
  await p.settled()
  t.equal(s.there(), 60)
  await holds(second, 60)
  const hash = hashIn(held(s)[0]!.message)
  const annotations = { [CONFIRM_DELETION_ANNOTATION]: hash }
  await p.cluster.patch(MAPS, CLUSTER_RECORD, 'merge', { metadata: { annotations } })
  await center.world.until('their end', () => (s.there() === 0 ? undefined : 'some are there'))
})
