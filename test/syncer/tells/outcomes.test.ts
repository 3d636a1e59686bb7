/** A syncer claims only what it has looked at. */
import t from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import { Outcomes, troubleOf } from '../../../src/syncer/tells/outcomes.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'

const key = (name: string) => ({ group: '', resource: 'configmaps', namespace: 'shop', name })

t.test('nothing is claimed before everything was compared with the cluster', async t => {
  const outcomes = new Outcomes(new FakeClock())
  t.notOk(outcomes.compared)
  outcomes.whole([key('a'), key('b')])
  await outcomes.looking(key('a'), async () => {})
  t.notOk(outcomes.compared)
  await t.rejects(
    outcomes.looking(key('b'), async () => {
      throw new Error('lost')
    }),
  )
  t.ok(outcomes.compared, 'a look that failed is a look: it is an exception')
})

t.test('what was known of a cluster that goes out of sight is compared anew when it is back', async t => {
  const outcomes = new Outcomes(new FakeClock())
  outcomes.whole([key('a')])
  await outcomes.looking(key('a'), async () => {})
  t.ok(outcomes.compared)
  outcomes.lostSight()
  t.notOk(outcomes.compared)
  outcomes.whole([key('a')])
  await outcomes.looking(key('a'), async () => {})
  t.notOk(outcomes.compared, 'what is looked at in the dark does not count')
  await outcomes.looking(key('a'), async () => outcomes.sightIsBack([key('a')]))
  t.notOk(outcomes.compared, 'nor what began there')
  await outcomes.looking(key('a'), async () => {})
  t.ok(outcomes.compared)
  outcomes.lostSight()
  outcomes.sightIsBack(undefined)
  t.notOk(outcomes.compared, 'the mailbox is not known as a whole yet')
})

t.test('what was looked at ends before the oldest change that was not', async t => {
  const outcomes = new Outcomes(new FakeClock())
  t.equal(outcomes.processed(10), 10)
  outcomes.changed(key('a'), 11)
  outcomes.changed(key('b'), 12)
  t.equal(outcomes.processed(12), 10)
  await outcomes.looking(key('b'), async () => {})
  t.equal(outcomes.processed(12), 10)
  await outcomes.looking(key('a'), async () => {})
  t.equal(outcomes.processed(12), 12)
})

t.test('a snapshot tells in the order of names', async t => {
  const outcomes = new Outcomes(new FakeClock())
  outcomes.changed(key('a'), 105)
  outcomes.changed(key('b'), 102)
  t.equal(outcomes.processed(110), 101)
})

t.test('what changes while it is looked at is to be looked at again', async t => {
  const outcomes = new Outcomes(new FakeClock())
  outcomes.changed(key('a'), 11)
  await outcomes.looking(key('a'), async () => outcomes.changed(key('a'), 12))
  t.equal(outcomes.processed(12), 11)
  await outcomes.looking(key('a'), async () => {})
  t.equal(outcomes.processed(12), 12)
})

t.test('a change of content is not looked at because a status followed it', async t => {
  const outcomes = new Outcomes(new FakeClock())
  outcomes.changed(key('a'), 11)
  outcomes.changed(key('b'), 12)
  outcomes.changed(key('a'), 13)
  t.equal(outcomes.processed(13), 10)
  await outcomes.looking(key('b'), async () => {})
  t.equal(outcomes.processed(13), 10)
  await outcomes.looking(key('a'), async () => {})
  t.equal(outcomes.processed(13), 13)
})

t.test('of what changes again and again while it is looked at, what was looked at counts', async t => {
  const outcomes = new Outcomes(new FakeClock())
  outcomes.changed(key('a'), 11)
  outcomes.changed(key('b'), 12)
  await outcomes.looking(key('a'), async () => {
    outcomes.changed(key('a'), 13)
    outcomes.changed(key('a'), 14)
  })
  t.equal(outcomes.processed(14), 11, 'b came before what came meanwhile')
  await outcomes.looking(key('b'), async () => {})
  t.equal(outcomes.processed(14), 12)
  await outcomes.looking(key('a'), async () => ({ postponed: true }))
  t.equal(outcomes.processed(14), 12, 'no look')
  await outcomes.looking(key('a'), async () => {})
  t.equal(outcomes.processed(14), 14)
})

t.test('trouble keeps since when it is, until it is over', async t => {
  const clock = new FakeClock()
  let news = 0
  const outcomes = new Outcomes(clock, () => news++)
  const trouble = { state: 'refused', reason: 'Forbidden', message: 'no' } as const
  outcomes.except(key('a'), 5, trouble)
  const [first] = outcomes.exceptions.values()
  await clock.advance(5000)
  outcomes.except(key('a'), 5, trouble)
  t.equal(news, 1, 'the same again is no news')
  outcomes.except(key('a'), 6, { ...trouble, message: 'no longer than that' })
  const [second] = outcomes.exceptions.values()
  t.equal(second?.since, first?.since)
  t.equal(second?.seq, 6)
  outcomes.settle(key('a'))
  t.equal(outcomes.exceptions.size, 0)
})

t.test('what a cluster will not take is apart from what may work again', async t => {
  t.match(troubleOf(new StatusError('Invalid', 'spec.x: bad')), {
    state: 'refused',
    reason: 'Invalid',
    message: 'spec.x: bad',
  })
  t.match(troubleOf(new StatusError('ServiceUnavailable', 'away')), { state: 'retrying', reason: 'ServiceUnavailable' })
  t.match(troubleOf(new StatusError('NotFound', 'namespaces "x" not found')), { state: 'retrying' })
  const noNamespace = new StatusError('NotFound', 'namespaces "x" not found', { kind: 'namespaces', name: 'x' })
  t.match(troubleOf(noNamespace), { state: 'waiting', reason: 'NamespaceMissing' })
  const going = new StatusError('Forbidden', 'it is being terminated', {
    causes: [{ reason: 'NamespaceTerminating', message: '' }],
  })
  t.match(troubleOf(going), { state: 'waiting', reason: 'NamespaceTerminating', message: 'it is being terminated' })
  t.match(troubleOf(new StatusError('Forbidden', 'no')), { state: 'refused', reason: 'Forbidden' })
  t.match(troubleOf('odd'), { state: 'retrying', reason: 'Error', message: 'odd' })
})

t.test('a cluster whose limit leaves no room for the marks: the refusal says what to shorten', async t => {
  for (const name of ['a', 'b']) {
    const words = `ConfigMap "${name}" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes`
    const { state, message } = troubleOf(new StatusError('Invalid', words))
    t.equal(state, 'refused')
    t.match(message, /Too long.*the marks by which Orrery knows its objects .* shorten the object's own/)
  }
})
