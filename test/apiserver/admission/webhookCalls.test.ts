import t from 'tap'
import { WebhookCalls } from '../../../src/apiserver/admission/webhookCalls.ts'

const BOUNDS = {
  tenant: { calls: 3, bytes: 100 },
  server: { calls: 5, bytes: 150 },
  kept: { calls: 1, bytes: 10 },
}
const forever = new AbortController().signal
const tick = () => new Promise<void>(resolve => setImmediate(resolve))

function world() {
  const calls = new WebhookCalls(space => space.split(':')[0]!, BOUNDS)
  const begun: string[] = []
  const begin = async (space: string, bytes = 0) => {
    const call = await calls.begin(space, forever)
    begun.push(space)
    call.hold(bytes)
    return call
  }
  return { calls, begun, begin }
}

t.test(
  'a tenant has so many calls under way, those of the spaces below it included, and others do not wait for them',
  async t => {
    const { begun, begin, calls } = world()
    const [first] = await Promise.all([begin('a'), begin('a:b'), begin('a')])
    const fourth = begin('a:c')
    await begin('d')
    await tick()
    t.same(begun, ['a', 'a:b', 'a', 'd'])
    first.end()
    first.end()
    await fourth
    t.equal(calls.held.calls, 4)
  },
)

t.test('where the server has all it may have, a tenant with next to nothing still asks', async t => {
  const { begun, begin } = world()
  const [a] = await Promise.all([begin('a'), begin('a'), begin('a'), begin('b'), begin('b')])
  await begin('c')
  const waiting = [begin('c'), begin('b')]
  await tick()
  t.same(begun.slice(5), ['c'])
  a.end()
  await tick()
  t.same(begun.slice(5), ['c'], 'six are one more than there may be')
  void waiting
})

t.test('whoever holds much begins nothing more until less is held', async t => {
  const { begun, begin, calls } = world()
  const large = await begin('a', 100)
  t.notOk(large.isTooMuch)
  const next = begin('a', 1)
  await tick()
  t.same(begun, ['a'])
  large.hold(1)
  t.ok(large.isTooMuch)
  large.end()
  t.notOk((await next).isTooMuch)
  t.equal(calls.held.bytes, 1)
})

t.test('until one knows what it holds no other begins', async t => {
  const { begun, begin, calls } = world()
  const first = await calls.begin('a', forever)
  const second = begin('a')
  await tick()
  t.same(begun, [])
  first.hold(0)
  await second
  const failed = await calls.begin('a', forever)
  failed.end()
  await begin('a')
  t.same(begun, ['a', 'a'])
})

t.test('whoever waits too long leaves the line', async t => {
  const { begun, begin, calls } = world()
  const [first] = await Promise.all([begin('a'), begin('a'), begin('a')])
  const patience = new AbortController()
  const impatient = calls.begin('a', patience.signal)
  const next = begin('a')
  patience.abort(new Error('too late'))
  await t.rejects(impatient, { message: 'too late' })
  await t.rejects(calls.begin('a', patience.signal), { message: 'too late' })
  first.end()
  await next
  t.same(begun, ['a', 'a', 'a', 'a'])
})
