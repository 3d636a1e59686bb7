// Content that leaves a cluster on the center's question: the fields that the center sets, Secrets as hashes, and not too much.
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { type LiveAnswer, MAX_LIVE_BYTES } from '../../../src/placement/desks/liveObjects.ts'
import { atPlacesOf, type Compared, LiveAnswers, shownObject } from '../../../src/syncer/tells/liveAnswers.ts'

t.test('of a live object, what is at the places that the center sets', async t => {
  const wanted = {
    spec: { replicas: 1, containers: [{ name: 'c', image: 'a' }], args: ['x', 'y'], ports: [{ port: 1 }], gone: true },
  }
  const live = {
    spec: {
      replicas: 5,
      containers: [
        { name: 'sidecar', image: 's' },
        { name: 'c', image: 'b', pullPolicy: 'Always' },
      ],
      args: ['x'],
      ports: [{ port: 2, nodePort: 30_000 }],
      by: 'others',
    },
    status: {},
  }
  t.strictSame(atPlacesOf(wanted, live), {
    spec: { replicas: 5, containers: [{ name: 'c', image: 'b' }], args: ['x'], ports: [{ port: 2 }] },
  })
  t.strictSame(atPlacesOf({ a: { b: 1 } }, { a: 'text' }), { a: 'text' })
  t.strictSame(atPlacesOf({ a: [] }, { a: [{ name: 'x' }] }), { a: [{ name: 'x' }] })
})

t.test('values of Secrets leave as hashes that compare with one key', async t => {
  const secret = (p: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', annotations: { a: 'b', 'kubectl.kubernetes.io/last-applied-configuration': p } },
    data: { p },
  })
  t.notMatch(JSON.stringify(shownObject(secret('hushhush'), 'k')), /hushhush/)
  t.same(shownObject(secret('x'), 'k'), shownObject(secret('x'), 'k'))
  t.notSame(shownObject(secret('x'), 'k'), shownObject(secret('x'), 'other'))
  t.notSame(shownObject(secret('x'), 'k').data, shownObject(secret('y'), 'k').data)
  t.match(shownObject({ ...secret('x'), kind: 'ConfigMap' }, 'k'), {
    data: { p: 'x' },
    metadata: { annotations: { a: 'b' } },
  })
})

t.test('one question after the other is answered; what is not understood is not', async t => {
  const answers: LiveAnswer[] = []
  const done = Promise.withResolvers<void>()
  const map = (v: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { v } })
  const byName: Record<string, () => Compared> = {
    same: () => ({ state: 'same', wanted: map('1'), live: map('1') }),
    other: () => ({ state: 'differs', wanted: map('1'), live: { ...map('2'), more: 1 } }),
    large: () => ({ state: 'differs', wanted: map('1'), live: map('x'.repeat(MAX_LIVE_BYTES)) }),
    none: () => ({ state: 'missing' }),
    broken: () => {
      throw new Error('no route')
    },
  }
  const live = new LiveAnswers({
    mailbox: {
      update: async (resource, object, options) => {
        t.match([resource.resource, options?.subresource], ['syncerconfigs', 'outcome'])
        answers.push((object.spec as { answer: LiveAnswer }).answer)
        if (answers.length === 5) done.resolve()
        if (answers.length === 1) throw new Error('the center is away')
        return object
      },
    },
    compare: async ({ name }) => byName[name]!(),
    logger: silentLogger,
  })
  const question = (name: string) => ({
    id: name,
    hashKey: 'k',
    group: '',
    resource: 'configmaps',
    namespace: 'n',
    name,
  })
  live.receive({ id: 7 })
  live.receive('what')
  for (const name of Object.keys(byName)) live.receive(question(name))
  await done.promise
  t.same(
    answers.map(({ id, state, message, wanted, live: now }) => [id, state, message, wanted?.data, now?.data]),
    [
      ['same', 'same', '', undefined, undefined],
      ['other', 'differs', '', { v: '1' }, { v: '2' }],
      ['large', 'differs', '', undefined, undefined],
      ['none', 'missing', '', undefined, undefined],
      ['broken', 'failed', 'no route', undefined, undefined],
    ],
  )
  t.notOk('more' in answers[1]!.live!)
})
