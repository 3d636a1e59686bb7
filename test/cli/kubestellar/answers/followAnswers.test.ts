import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { StatusError } from '../../../../src/apimachinery/errors.ts'
import { followAnswers } from '../../../../src/cli/kubestellar/answers/followAnswers.ts'
import type { SpaceClient, WatchEvent } from '../../../../src/client/client.ts'
import { systemClock } from '../../../../src/client/clock.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'

const RESOURCE = { group: '', version: 'v1', resource: 'configmaps' }
const CLOSED = { ...RESOURCE, resource: 'secrets' }

/** A space whose only watch tells what the test says. */
function fakeSpace() {
  let next = Promise.withResolvers<void>()
  const watched: string[] = []
  const space: Pick<SpaceClient, 'list' | 'watch'> = {
    list: async ({ resource }) => {
      if (resource === CLOSED.resource) throw new StatusError('Forbidden', 'no')
      return { items: [], resourceVersion: '1' }
    },
    watch: async function* ({ resource }, { signal }): AsyncIterable<readonly WatchEvent[]> {
      watched.push(resource)
      const ended = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
      while (!signal.aborted) {
        await Promise.race([next.promise, ended])
        next = Promise.withResolvers()
        const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', resourceVersion: '2' } }
        if (!signal.aborted) yield [{ type: 'MODIFIED', object }]
      }
    },
  }
  return { space: space as SpaceClient, watched, change: () => next.resolve() }
}

t.test('it is answered anew when something changes, and printed when the answer is another', async t => {
  const { space, watched, change } = fakeSpace()
  const stop = new AbortController()
  const answers = [['a'], ['a'], ['b']]
  let asked = 0
  const printed: string[][] = []
  await followAnswers({
    space,
    watched: [{ resource: RESOURCE }, { resource: CLOSED }],
    answer: async () => {
      const told = answers[Math.min(asked++, answers.length - 1)]!
      if (asked < answers.length) change()
      return told
    },
    print: told => {
      printed.push(told)
      if (told[0] === 'b') stop.abort()
    },
    warn: text => t.fail(text),
    signal: stop.signal,
    clock: systemClock,
    random: () => 0.5,
  })
  t.same(printed, [['a'], ['b']])
  t.same(watched, ['configmaps'], 'what may not be read is not watched')
})

t.test('what cannot be answered ends it', async t => {
  const { space } = fakeSpace()
  const answer = () => Promise.reject(new Error('there is no such object'))
  await t.rejects(
    followAnswers({
      space,
      watched: [{ resource: RESOURCE }],
      answer,
      print: () => {},
      warn: () => {},
      clock: systemClock,
      random: () => 0.5,
    }),
    /no such object/,
  )
})

t.test('a server that is out of reach is told and waited for; what it refuses then ends it', async t => {
  const { space, change } = fakeSpace()
  const refused = new StatusError('ServiceUnavailable', 'connect ECONNREFUSED')
  const turns: (string | Error)[] = ['a', refused, new StatusError('ServiceUnavailable', 'it is starting'), 'a', 'b']
  const said: string[] = []
  const clock = new FakeClock()
  const answer = async () => {
    const turn = turns.shift() ?? new StatusError('Forbidden', 'you may not')
    if (turn instanceof Error) throw turn
    change()
    return turn
  }
  const following = followAnswers({
    space,
    watched: [{ resource: RESOURCE }],
    answer,
    print: told => void said.push(told),
    warn: text => void said.push(text),
    clock,
    random: () => 0.5,
  })
  const ended = t.rejects(following, { message: 'you may not' })
  while (turns.length > 0) {
    await setImmediate()
    await clock.advance(1000)
  }
  await ended
  t.same(said, [
    'a',
    'Warning: what is printed may be old: connect ECONNREFUSED; the command asks again',
    'The server answers again.',
    'b',
  ])
})
