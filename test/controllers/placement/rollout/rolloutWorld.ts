/** Two clusters that report, and placements with a rollout strategy. */
import type { Test } from 'tap'
import { statusError } from '../../../../src/apimachinery/errors.ts'
import { at, records } from '../../../../src/apimachinery/fields.ts'
import type { Exception } from '../../../../src/placement/outcome/outcome.ts'
import { EDGE_PLACEMENTS, PLACEMENT_ROLLOUTS, SLICES } from '../../../../src/placement/words/placement.ts'
import { SetClock } from '../../../client/support/fakeClock.ts'
import { ALL_MAPS, configMap, MAPS, placement, slice, world } from '../translatorWorld.ts'

export type Cluster = 'florin' | 'guilder'

export const WITH_DEADLINE = { type: 'Progressive', progressive: { maxConcurrency: 1, progressDeadline: '60s' } }
export const ONE_BY_ONE = { type: 'Progressive', progressive: { maxConcurrency: 1 } }

const REFUSED: Pick<Exception, 'state' | 'reason'> = { state: 'refused', reason: 'Invalid' }

export async function rolloutWorld(t: Pick<Test, 'teardown'>) {
  const clock = new SetClock()
  const here = await world(t, clock)
  const { server, wds } = here
  const numbers = new Map<string, number>()
  const box = (name: Cluster) => here[name]
  /** A cluster has processed all that is in its mailbox, but for what it refuses or holds. */
  const report = async (name: Cluster, excepted: readonly string[] = [], state = REFUSED): Promise<void> => {
    const number = (numbers.get(name) ?? 0) + 1
    numbers.set(name, number)
    const exception = (key: string) => ({
      group: '',
      resource: 'configmaps',
      namespace: 'commonstuff',
      name: key,
      seq: server.revision,
      message: 'no',
      ...state,
      since: new Date(clock.now()).toISOString(),
    })
    here.outcomes().take(box(name), {
      session: 's',
      epoch: 'epoch',
      number,
      whole: true,
      compared: true,
      processed: server.revision,
      exceptions: excepted.map(exception),
      settled: [],
      unlisted: {},
    })
    await server.quiet()
  }
  /** All that is due within a time has happened. */
  const pass = async (ms: number): Promise<void> => {
    await server.quiet()
    for (let left = ms; left > 0; left -= 250) {
      await clock.advance(Math.min(left, 250))
      await server.quiet()
    }
  }
  const place = async (name: string, spec: object, ...targets: Cluster[]): Promise<void> => {
    await wds.create(EDGE_PLACEMENTS, placement(name, { ...ALL_MAPS, ...spec }))
    await wds.create(SLICES, slice(name, ...targets))
    await server.quiet()
  }
  const edit = async (name: string, a: string): Promise<void> => {
    await wds.patch(MAPS, { namespace: 'commonstuff', name }, 'merge', { data: { a } })
    await server.quiet()
  }
  const make = async (name: string, a: string): Promise<void> => {
    await wds.create(MAPS, configMap(name, { a }))
    await server.quiet()
  }
  /** Content of an object in the mailbox of a cluster. */
  const held = (name: Cluster, object = 'page', field = 'a'): unknown =>
    at(server.peek(box(name), MAPS, object, 'commonstuff')?.data, field)
  const rollout = (revision: number, name = 'ep') => server.peek('wds1', PLACEMENT_ROLLOUTS, `${name}.${revision}`)
  /** State of a rollout, and of each cluster in it. */
  const states = (revision: number, name = 'ep'): Record<string, unknown> => {
    const status = rollout(revision, name)?.status
    const clusters = records(status, 'clusters').map(one => [String(one.cluster), one.state] as const)
    return { rollout: at(status, 'state'), ...Object.fromEntries(clusters) }
  }
  return { ...here, clock, box, report, pass, place, edit, make, held, rollout, states }
}

/** A placement with revision 1 in both clusters. */
export async function rolledOut(t: Test, strategy: object = ONE_BY_ONE) {
  const here = await rolloutWorld(t)
  const { make, place, pass, report, states } = here
  await report('florin')
  await report('guilder')
  await make('page', '1')
  await make('side', '1')
  await place('ep', { rolloutStrategy: strategy }, 'florin', 'guilder')
  await pass(3000)
  await report('florin')
  await pass(500)
  await report('guilder')
  await pass(500)
  t.equal(states(1).rollout, 'Done')
  return here
}

/** A placement without a strategy that both clusters have. */
export async function unstaged(t: Test) {
  const here = await rolloutWorld(t)
  const { make, place, pass, report } = here
  await report('florin')
  await report('guilder')
  await make('page', '1')
  await make('side', '1')
  await place('ep', {}, 'florin', 'guilder')
  await pass(500)
  await report('florin')
  await report('guilder')
  const stage = async (rolloutStrategy: object | null) => {
    await here.wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { rolloutStrategy } })
    await here.server.quiet()
  }
  return { ...here, stage }
}

/** Requests of the center about a kind fail until the answer is called. */
export function failing(
  server: Awaited<ReturnType<typeof rolloutWorld>>['server'],
  verbs: readonly string[],
  plural: string,
) {
  server.refuse = (_, verb, { resource }) => {
    if (verbs.includes(verb) && resource === plural)
      throw statusError.forbidden({ group: '', resource: '' }, '', 'the space is full')
  }
  return () => {
    server.refuse = () => {}
  }
}
