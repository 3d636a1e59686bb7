/** Log of an operator while a side of the syncer is away: one line when it goes, one when it is back. */
import t from 'tap'
import { StatusError, statusError } from '../../../src/apimachinery/errors.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { Link } from '../../../src/syncer/whose/link.ts'
import { quietLogger } from '../../../src/syncer/whose/quietLogger.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import { recordingLogger } from '../support/recordingLogger.ts'

const REFUSED = statusError.unauthorized
const BROKEN = () =>
  new StatusError('ServiceUnavailable', 'https://c: connect ECONNREFUSED', undefined, { cause: new Error('x') })

function linked() {
  const { logger, lines } = recordingLogger()
  const link = new Link({ name: 'the center', refusedHint: 'ask for a new one', logger })
  let failure: Error | undefined
  const discover = async () => {
    if (failure) throw failure
    return []
  }
  const client = link.watchOver({ discover } as unknown as SpaceClient)
  const call = async (error?: Error) => {
    failure = error
    await client.discover().catch(() => {})
  }
  return { link, call, messages: () => lines.map(line => line.message) }
}

t.test(
  'a center that turns the syncer away is one line, whatever else it answers, until it gives a stream',
  async t => {
    const { logger, lines } = recordingLogger()
    const link = new Link({ name: 'the center', refusedHint: 'ask for a new one', logger })
    let isNewer = false
    const client = link.watchOverAll({
      in: () => ({ discover: async () => [] }) as unknown as SpaceClient,
      async *stream() {
        if (!isNewer) throw new StatusError('NotAcceptable', 'this syncer is too new; upgrade the center')
        yield { events: [], revision: 1, synced: false }
      },
    })
    const listen = async () => {
      const { signal } = new AbortController()
      for await (const batch of client.stream({ space: 'm', signal })) t.equal(batch.revision, 1)
    }
    for (let i = 0; i < 3; i++) {
      await t.rejects(listen(), { message: 'this syncer is too new; upgrade the center' })
      await client.in('m').discover()
    }
    t.equal(link.state, 'unsupported')
    isNewer = true
    await listen()
    t.equal(link.state, 'up')
    t.same(
      lines.map(line => line.message),
      [
        'the center turns this syncer away: this syncer is too new; upgrade the center; trying again until it is accepted',
        'the center answers again',
      ],
    )
  },
)

t.test('a refused token is one clear line, however often it is tried, and one when it is accepted', async t => {
  const { call, messages } = linked()
  for (let i = 0; i < 10; i++) await call(REFUSED())
  t.same(messages(), [
    "the center refuses the syncer's credential: ask for a new one; trying again until it is accepted",
  ])
  await call()
  await call()
  t.same(messages().slice(1), ['the center answers again'])
  await call(REFUSED())
  t.equal(messages().length, 3, 'a second time is news')
  const other = linked()
  await other.call(new StatusError('Unauthorized', 'it expired yesterday'))
  t.match(other.messages(), [/: it expired yesterday; trying again/])
})

t.test('what was asked before the side answered again, and fails only then, is no second outage', async t => {
  const { link, call, messages } = linked()
  const late = Promise.withResolvers<never>()
  const client = link.watchOver({ discover: () => late.promise } as unknown as SpaceClient)
  await call(REFUSED())
  const asked = client.discover()
  await call()
  late.reject(REFUSED())
  await t.rejects(asked)
  t.equal(messages().length, 2)
  await call(REFUSED())
  t.equal(messages().length, 3)
})

t.test('a single broken connection is not worth a line, an outage is', async t => {
  const { call, messages } = linked()
  await call(BROKEN())
  await call()
  await call(BROKEN())
  await call()
  t.same(messages(), [])
  for (let i = 0; i < 5; i++) await call(BROKEN())
  t.equal(messages().length, 1)
  t.match(messages()[0], /cannot be reached.*ECONNREFUSED/)
})

t.test('a connection that many waited on is one that broke', async t => {
  const { call, messages } = linked()
  const cause = new Error('the connection was lost')
  const lost = () => new StatusError('ServiceUnavailable', `https://c: ${cause.message}`, undefined, { cause })
  for (let i = 0; i < 5; i++) await call(lost())
  t.same(messages(), [])
  await call(BROKEN())
  t.equal(messages().length, 1, 'and then no other one came about')
})

t.test('an answer that is an error is an answer', async t => {
  const { call, messages } = linked()
  for (let i = 0; i < 5; i++) await call(statusError.notFound({ group: '', resource: 'x' }, 'y'))
  for (let i = 0; i < 5; i++) await call(new StatusError('ServiceUnavailable', 'the backend of an APIService is away'))
  t.same(messages(), [])
})

t.test('what a link has told, nobody tells again; other causes are told once and again after a long peace', async t => {
  const { link, call } = linked()
  const { logger, lines } = recordingLogger()
  const clock = new FakeClock()
  const quiet = quietLogger({ logger, isReported: error => link.isReported(error), clock })
  const outage = BROKEN()
  await call(outage)
  quiet.warn({ err: outage }, 'the heartbeat did not arrive')
  t.equal(lines.length, 0)
  const cause = () =>
    quiet.warn({ err: statusError.forbidden({ group: '', resource: 'x' }, 'y', 'no'), failures: 3 }, 'reconcile failed')
  for (let i = 0; i < 10; i++) cause()
  t.equal(lines.length, 1)
  t.match(lines[0], { message: 'reconcile failed: x "y" is forbidden: no', fields: { reason: 'Forbidden' } })
  t.notOk('err' in lines[0]!.fields, 'no stack for what a server answered')
  await clock.advance(11 * 60_000)
  cause()
  t.equal(lines.length, 2)
  quiet.error({ err: new TypeError('ours') }, 'handler failed')
  t.ok('err' in lines[2]!.fields, 'our own faults keep their stack')
})

t.test('a cursor that the center does not know yet means a new start, in the words of any release', async t => {
  const { link } = linked()
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }]
  for (const error of [
    new StatusError('Timeout', 'Too large resource version: 9, current: 5', { causes }),
    new StatusError('Timeout', 'Timeout: Too large resource version: 9, current: 5'),
    new StatusError('BadRequest', 'Too large resource version: 9, current: 5'),
  ]) {
    const stream = async function* () {
      yield await Promise.reject(error)
    }
    const client = link.watchOverAll({ in: () => ({}) as SpaceClient, stream } as never)
    const read = async () => {
      for await (const _ of client.stream({} as never)) t.fail('nothing comes')
    }
    await t.rejects(read(), { message: 'the server is behind our cursor' })
  }
})
