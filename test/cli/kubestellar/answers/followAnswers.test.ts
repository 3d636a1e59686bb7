import t from 'tap'
import { StatusError } from '../../../../src/apimachinery/errors.ts'
import { followAnswers } from '../../../../src/cli/kubestellar/answers/followAnswers.ts'
import type { SpaceClient, WatchEvent } from '../../../../src/client/client.ts'

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
    signal: stop.signal,
  })
  t.same(printed, [['a'], ['b']])
  t.same(watched, ['configmaps'], 'what may not be read is not watched')
})

t.test('what cannot be answered ends it', async t => {
  const { space } = fakeSpace()
  const answer = () => Promise.reject(new Error('there is no such object'))
  await t.rejects(
    followAnswers({ space, watched: [{ resource: RESOURCE }], answer, print: () => {} }),
    /no such object/,
  )
})
