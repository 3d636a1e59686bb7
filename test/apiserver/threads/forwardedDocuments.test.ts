/**
 * Documents that a thread requests from the main thread. Each is requested once for a set of kinds, by all who want it at once, and anew
 * after a failure.
 */
import t from 'tap'
import type { KindDocuments } from '../../../src/apiserver/discovery/kindDocuments.ts'
import { answerOf, type DocumentAsk, ForwardedDocuments } from '../../../src/apiserver/threads/forwardedDocuments.ts'
import { TypeRegistry } from '../../../src/apiserver/types/typeRegistry.ts'

const APIS = { path: '/apis', form: { format: 'json' } } as const
const types = new TypeRegistry([])
const asks: DocumentAsk[] = []
const asked = new ForwardedDocuments({ types, ask: ask => asks.push(ask) })
const made: KindDocuments = {
  get(space, { path }) {
    if (path === '/broken') throw new Error('the disk is full')
    // as parsed texts and small answers are: a view of what is not its own
    return path === '/apis' ? { hash: 'A1', body: () => Buffer.from(`..${space}..`).subarray(2, -2) } : undefined
  },
}
const answer = async (): Promise<void> => asked.answered(await answerOf(asks.shift()!, made))

t.test('it is asked for once, and again for other kinds', async t => {
  const all = [asked.get('a', APIS), asked.get('a', APIS)]
  await answer()
  t.equal(asks.length, 0)
  const [one, other] = await Promise.all(all)
  t.equal(one, other)
  t.equal(String(await one!.body()), 'a')
  t.match(asked.get('a', APIS), { hash: 'A1' }, 'at once')
  t.equal(asks.length, 0)
  types.define('a', 'widgets.example.com', [{ group: 'example.com', version: 'v1', resource: 'widgets' } as never])
  const newer = asked.get('a', APIS)
  await answer()
  t.match(await newer, { hash: 'A1' })
})

t.test('what is not there is not remembered, nor what failed', async t => {
  for (let i = 0; i < 2; i++) {
    const none = asked.get('a', { ...APIS, path: '/apis/none' })
    await answer()
    t.equal(await none, undefined)
    const failed = asked.get('a', { ...APIS, path: '/broken' })
    await answer()
    await t.rejects(failed as Promise<unknown>, { message: 'the disk is full' })
  }
})
