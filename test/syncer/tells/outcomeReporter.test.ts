/** Whatever a cluster says of whatever it holds: the center takes the report. */
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { REPORT_LIMIT_BYTES } from '../../../src/apiserver/authority/reportLimit.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { type Offer, offerOf } from '../../../src/placement/outcome/offer.ts'
import { type OutcomeReport, readOutcomeReport } from '../../../src/placement/outcome/outcome.ts'
import { OutcomeReporter } from '../../../src/syncer/tells/outcomeReporter.ts'
import { Outcomes } from '../../../src/syncer/tells/outcomes.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'

const key = (name: string) => ({ group: 'rbac.authorization.k8s.io', resource: 'clusterroles', namespace: '', name })

/** Reports until `next` has nothing more; the center's reading of each. */
async function reports(t: Test, outcomes: Outcomes, ...next: (() => void)[]): Promise<OutcomeReport[]> {
  const taken: OutcomeReport[] = []
  const end = new AbortController()
  const update = async (_type: unknown, body: KubeObject): Promise<object> => {
    t.ok(Buffer.byteLength(JSON.stringify(body)) <= REPORT_LIMIT_BYTES, 'it is within the limit of the center')
    taken.push(readOutcomeReport(body.spec))
    const change = next.shift()
    if (change) change()
    else end.abort()
    return { status: { epoch: 'e', again: false } }
  }
  const clock = new FakeClock()
  const reporter: OutcomeReporter = new OutcomeReporter({
    session: 's',
    mailbox: { update } as unknown as SpaceClient,
    outcomes,
    position: () => ({ revision: 9, epoch: 'e' }),
    everyMs: 1000,
    logger: silentLogger,
    clock,
  })
  const running = reporter.run(end.signal)
  for (let i = 0; i < 20 && !end.signal.aborted; i++) await clock.advance(1000)
  await running
  return taken
}

for (const [what, message] of [
  ['of three bytes each', '界'.repeat(300)],
  ['of six bytes each in JSON', '\u0001'.repeat(300)],
] as const)
  t.test(`long words in letters ${what}`, async t => {
    const outcomes = new Outcomes(new FakeClock())
    for (let i = 0; i < 300; i++) outcomes.except(key(`r${i}`), 1, { state: 'refused', reason: 'Invalid', message })
    const [report] = await reports(t, outcomes)
    t.ok(report!.exceptions.length > 50)
    t.equal(report!.exceptions.length + report!.unlisted.refused!, 300, 'what finds no place is counted')
  })

t.test('removals that are held are listed before all else, and put no copy in doubt where they are many', async t => {
  const outcomes = new Outcomes(new FakeClock())
  for (let i = 0; i < 200; i++) outcomes.except(key(`r${i}`), 1, { state: 'refused', reason: 'Invalid', message: 'no' })
  for (let i = 0; i < 400; i++)
    outcomes.except(key(`h${i}`), 1, { state: 'held', reason: 'DeletionHeld', message: '400 objects stay' })
  const [report] = await reports(t, outcomes)
  t.match(report!.exceptions[0], { reason: 'DeletionHeld', message: '400 objects stay' })
  t.equal(report!.exceptions.filter(({ state }) => state === 'refused').length, 200)
  t.strictSame(report!.unlisted, {})
})

t.test('a name that is too long to be told is counted, and hides no other', async t => {
  const outcomes = new Outcomes(new FakeClock())
  const trouble = { state: 'refused', reason: 'Forbidden', message: 'no' } as const
  outcomes.except(key('x'.repeat(254)), 1, trouble)
  outcomes.except(key('short'), 1, trouble)
  const [report] = await reports(t, outcomes)
  t.match(report, { exceptions: [{ name: 'short' }], unlisted: { refused: 1 } })
})

t.test('what is there, with other fields, displaces nothing that is not, and raises no doubt', async t => {
  const outcomes = new Outcomes(new FakeClock())
  const message = 'the cluster drops spec.currency'
  for (let i = 0; i < 20; i++)
    outcomes.except(key(`a${i}`), 1, { state: 'applied', reason: i < 10 ? 'FieldsDropped' : 'Applied', message })
  for (let i = 0; i < 290; i++) outcomes.except(key(`r${i}`), 1, { state: 'refused', reason: 'Invalid', message: '' })
  const [report] = await reports(t, outcomes)
  t.equal(report!.exceptions.filter(({ state }) => state === 'refused').length, 290)
  t.equal(report!.exceptions.length, 300)
  t.same(report!.unlisted, {})
})

t.test('when much is settled and much is new, all is said anew', async t => {
  const outcomes = new Outcomes(new FakeClock())
  const name = (i: number) => `${String(i).padStart(3, '0')}${'界'.repeat(250)}`
  const message = 'no'.repeat(100)
  const except = (i: number) => outcomes.except(key(name(i)), 1, { state: 'refused', reason: 'Invalid', message })
  for (let i = 0; i < 300; i++) except(i)
  const [first, second] = await reports(t, outcomes, () => {
    for (let i = 0; i < 300; i++) {
      outcomes.settle(key(name(i)))
      except(300 + i)
    }
  })
  t.ok(first!.whole)
  t.match(second, { whole: true, settled: [] })
})

t.test('what cluster and syncer are is told once it is known, and again when the cluster was upgraded', async t => {
  const clock = new FakeClock()
  const taken: OutcomeReport[] = []
  const update = async (_type: unknown, body: KubeObject): Promise<object> => {
    taken.push(readOutcomeReport(body.spec))
    return { status: { epoch: 'e', again: false } }
  }
  let upgrades = 0
  const answers: (string | undefined)[] = [undefined, 'v1.33.0', 'v1.33.0', 'v1.34.0']
  const reporter: OutcomeReporter = new OutcomeReporter({
    session: 's',
    mailbox: { update } as unknown as SpaceClient,
    outcomes: new Outcomes(clock, () => reporter.news()),
    position: () => undefined,
    everyMs: 1e9,
    versions: async () => {
      const kubernetes = answers.shift()
      if (kubernetes === undefined) throw new Error('the cluster is away')
      return { kubernetes, syncer: '0.2.0' }
    },
    onUpgrade: () => upgrades++,
    logger: silentLogger,
    clock,
  })
  const end = new AbortController()
  const running = reporter.run(end.signal)
  for (let minute = 0; minute < 130; minute++) await clock.advance(60_000)
  end.abort()
  await running
  const told = taken.map(({ versions }) => versions?.kubernetes)
  t.same([...new Set(told)], [undefined, 'v1.33.0', 'v1.34.0'])
  t.ok(told.length <= 4, 'what is the same is no news')
  t.equal(upgrades, 1, 'what it serves is another question then')
})

t.test('what the center did not hear is said again soon, and then ever less often', async t => {
  const clock = new FakeClock()
  const at: number[] = []
  const update = async (): Promise<object> => {
    at.push(clock.now())
    // it is about to start: nobody there keeps account yet
    if (at.length <= 3) return { status: { epoch: '', again: true } }
    if (at.length <= 6) throw new Error('it is away')
    return { status: { epoch: 'e', again: false } }
  }
  const reporter = new OutcomeReporter({
    session: 's',
    mailbox: { update } as unknown as SpaceClient,
    outcomes: new Outcomes(clock),
    position: () => ({ revision: 9, epoch: 'e' }),
    everyMs: 60_000,
    logger: silentLogger,
    clock,
  })
  const end = new AbortController()
  const running = reporter.run(end.signal)
  for (let second = 0; second < 300; second++) await clock.advance(200)
  end.abort()
  await running
  const waits = at.slice(1).map((ms, i) => Math.floor((ms - at[i]!) / 1000))
  t.same(waits, [1, 2, 4, 8, 16])
})

t.test(
  'a word about nothing new is said as seldom as the center wants, and as before to one that does not say',
  async t => {
    const clock = new FakeClock()
    const at: number[] = []
    const bodies: KubeObject[] = []
    const asked = [undefined, 200, 200, 1e9, -5, 'soon']
    const update = async (_type: unknown, body: KubeObject): Promise<object> => {
      at.push(clock.now())
      bodies.push(body)
      if (at.length === 4) throw new Error('it is away')
      return { status: { epoch: 'e', again: false, quietSeconds: asked.shift() } }
    }
    const reporter = new OutcomeReporter({
      session: 's',
      mailbox: { update } as unknown as SpaceClient,
      outcomes: new Outcomes(clock),
      position: () => ({ revision: 9, epoch: 'e' }),
      everyMs: 82_000,
      logger: silentLogger,
      clock,
    })
    const end = new AbortController()
    const running = reporter.run(end.signal)
    while (at.length < 8) await clock.advance(1000)
    end.abort()
    await running
    const waits = at.slice(1).map((ms, i) => 10 * Math.round((ms - at[i]!) / 10_000))
    t.same(waits, [80, 200, 200, 0, 600, 80, 80], 'of what it did not hear it hears soon')
    const bytes = Buffer.byteLength(JSON.stringify(bodies[1]))
    t.ok(bytes < 260, `${bytes} bytes are enough to say nothing`)
  },
)

t.test(
  'what the cluster offers is told with all that there is, and when it is another; nothing else gives way to it',
  async t => {
    const clock = new FakeClock()
    const taken: OutcomeReport[] = []
    const again = [false, false, false, false, true, false]
    const update = async (_type: unknown, body: KubeObject): Promise<object> => {
      t.ok(Buffer.byteLength(JSON.stringify(body)) <= REPORT_LIMIT_BYTES, 'it is within the limit of the center')
      taken.push(readOutcomeReport(body.spec))
      return { status: { epoch: 'e', again: again.shift() ?? false } }
    }
    const offerOfMany = (version: string): Offer =>
      offerOf(Array.from({ length: 3000 }, (_, i) => ({ group: 'x.test', resource: `kind${i}`, versions: [version] })))
    let offer: Offer | undefined
    const outcomes = new Outcomes(clock)
    const message = '界'.repeat(300)
    for (let i = 0; i < 300; i++) outcomes.except(key(`r${i}`), 1, { state: 'refused', reason: 'Invalid', message })
    const reporter = new OutcomeReporter({
      session: 's',
      mailbox: { update } as unknown as SpaceClient,
      outcomes,
      position: () => ({ revision: 9, epoch: 'e' }),
      everyMs: 10_000,
      offer: () => offer,
      logger: silentLogger,
      clock,
    })
    const end = new AbortController()
    const running = reporter.run(end.signal)
    const next = async (): Promise<OutcomeReport> => {
      const before = taken.length
      while (taken.length === before) await clock.advance(1000)
      return taken.at(-1)!
    }
    t.match(taken[0] ?? (await next()), { whole: true, offer: undefined }, 'before it is known')
    offer = offerOfMany('v1')
    reporter.news()
    t.same((await next()).offer, offer)
    const { offer: silent, exceptions, settled } = await next()
    t.equal(silent, undefined, 'it is as it was')
    t.same([exceptions, settled], [[], []])
    offer = offerOfMany('v2')
    reporter.news()
    t.same((await next()).offer, offer)
    await next() // which the center did not count
    t.same((await next()).offer, offer, 'all that there is')
    end.abort()
    await clock.advance(1000)
    await running
  },
)

t.test('news wait for as long as the center wants, and not at all where it does not say', async t => {
  const clock = new FakeClock()
  const taken: { at: number; exceptions: number }[] = []
  let gatherMilliseconds: unknown = 250
  const update = async (_type: unknown, body: KubeObject): Promise<object> => {
    taken.push({ at: clock.now(), exceptions: readOutcomeReport(body.spec).exceptions.length })
    return { status: { epoch: 'e', again: false, gatherMilliseconds } }
  }
  const outcomes: Outcomes = new Outcomes(clock, () => reporter.news())
  const reporter: OutcomeReporter = new OutcomeReporter({
    session: 's',
    mailbox: { update } as unknown as SpaceClient,
    outcomes,
    position: () => ({ revision: 9, epoch: 'e' }),
    everyMs: 1e9,
    logger: silentLogger,
    clock,
  })
  const end = new AbortController()
  const running = reporter.run(end.signal)
  const rest = async (): Promise<void> => {
    for (let i = 0; i < 5; i++) await clock.advance(200)
  }
  await rest()
  const except = (name: string): void => {
    outcomes.except(key(name), 1, { state: 'refused', reason: 'Invalid', message: 'no' })
  }
  /** Wait of a change before its report, and the number of changes in it. */
  const told = async (): Promise<[ms: number, exceptions: number]> => {
    const [before, since] = [taken.length, clock.now()]
    except(`a${before}`)
    await clock.advance(0)
    except(`b${before}`)
    while (taken.length === before) await clock.advance(10)
    const { at, exceptions } = taken[before]!
    await rest()
    return [at - since, exceptions]
  }
  t.same(await told(), [250, 2])
  gatherMilliseconds = undefined
  t.same(await told(), [250, 2], 'as it was told last')
  t.equal((await told())[0], 0)
  for (const [said, ms] of [
    [1e9, 5000],
    [-5, 0],
    ['soon', 0],
  ] as const) {
    gatherMilliseconds = said
    await told()
    gatherMilliseconds = undefined
    t.equal((await told())[0], ms, String(said))
  }
  end.abort()
  await clock.advance(10_000)
  await running
})
