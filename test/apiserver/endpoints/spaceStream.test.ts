/** Bookmarks of a stream whose objects a webhook still converts: a cursor behind unsent events would lose them. */
import t from 'tap'
import { planStream, runSpaceStream } from '../../../src/apiserver/endpoints/spaceStream.ts'
import type { FrameSink } from '../../../src/apiserver/exchange/answers/streamWriter.ts'
import type { StreamForms } from '../../../src/apiserver/registry/streamForms.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import type { Stored } from '../../../src/storage/store.ts'
import { create, key } from '../../storage/support.ts'

interface Line {
  type: string
  revision: number
}

const permission = { space: 's1', identity: { user: { name: 'u', groups: [] } }, judge: () => {} }
const hold = () => ({ refusal: undefined, release: () => {} })

/** Frames of a stream, and a wait for them. */
class Sent implements FrameSink {
  readonly lines: Line[] = []
  readonly busy = false
  #more = Promise.withResolvers<void>()

  async write(frames: readonly Buffer[]): Promise<boolean> {
    this.lines.push(...frames.map(frame => JSON.parse(frame.toString()) as Line))
    this.#more.resolve()
    this.#more = Promise.withResolvers()
    return true
  }

  async until(has: (lines: readonly Line[]) => boolean): Promise<void> {
    while (!has(this.lines)) await this.#more.promise
  }

  end(): void {}
}

t.test('no bookmark overtakes what is still converted', async t => {
  const store = await openMemoryStore()
  const end = new AbortController()
  t.teardown(() => end.abort())
  const stream = (converted: Promise<void> | undefined) => {
    const sent = new Sent()
    const forms: Pick<StreamForms, 'prepare' | 'form'> = {
      prepare: () => converted,
      form: as => ({ version: 'v1', as }),
    }
    const deps = {
      store,
      epochs: { current: 'e2', hold: () => true },
      forms: forms as StreamForms,
      draining: end.signal,
      scope: () => end.signal,
      openAccess: { hold },
      random: () => 0,
      bookmarkIntervalMs: 1,
    }
    const plan = planStream('s1', new URLSearchParams({ resourceVersion: '0' }), deps)
    return {
      sent,
      run: runSpaceStream(deps, plan, sent, { gone: end.signal, user: permission.identity.user, permission }),
    }
  }
  const { promise: converted, resolve: convert } = Promise.withResolvers<void>()
  const held = stream(converted)
  const free = stream(undefined)
  await held.sent.until(lines => lines.length > 1)
  t.match(held.sent.lines[0], { type: 'BOOKMARK', revision: 0, epoch: 'e2' }, 'in which life of the store it goes on')
  await create(store, key('a'))
  await create(store, key('b'))
  await free.sent.until(lines => lines.filter(({ type, revision }) => type === 'BOOKMARK' && revision === 2).length > 5)
  t.ok(
    held.sent.lines.every(({ revision }) => revision === 0),
    'it says nothing while the webhook takes its time',
  )
  convert()
  await held.sent.until(lines => lines.some(({ type, revision }) => type === 'BOOKMARK' && revision === 2))
  const told = held.sent.lines.filter(({ revision }) => revision > 0)
  t.strictSame(
    told.slice(0, 2).map(({ type, revision }) => [type, revision]),
    [
      ['ADDED', 1],
      ['ADDED', 2],
    ],
    'what it told, it told first',
  )
  end.abort()
  await Promise.all([held.run, free.run])
  await store.close()
})

t.test('who resumes is told at once that it has caught up, in a quiet space too', async t => {
  const store = await openMemoryStore()
  const end = new AbortController()
  t.teardown(() => end.abort())
  await create(store, key('a'))
  await create(store, { ...key('elsewhere'), space: 's2' })
  const deps = {
    store,
    epochs: { current: 'e', hold: () => true },
    forms: { prepare: () => undefined, form: (as: Stored) => ({ version: 'v1', as }) } as never,
    draining: end.signal,
    scope: () => end.signal,
    openAccess: { hold },
    random: () => 0,
    bookmarkIntervalMs: 1e9,
  }
  for (const [resourceVersion, expected] of [
    ['1', ['BOOKMARK 1', 'BOOKMARK 2']],
    ['0', ['BOOKMARK 0', 'ADDED 1', 'BOOKMARK 2']],
  ] as const) {
    const sent = new Sent()
    const plan = planStream('s1', new URLSearchParams({ resourceVersion }), deps)
    const gone = new AbortController()
    const run = runSpaceStream(deps, plan, sent, { gone: gone.signal, user: permission.identity.user, permission })
    await sent.until(lines => lines.length >= expected.length)
    t.same(
      sent.lines.map(({ type, revision }) => `${type} ${revision}`),
      expected,
    )
    gone.abort()
    await run
  }
  const asked = (session: string) => planStream('s1', new URLSearchParams({ session }), deps).session
  t.same([asked('a-1'), asked('')], ['a-1', undefined])
  for (const session of ['a/b', 'x'.repeat(65)])
    t.throws(() => asked(session), { reason: 'BadRequest', message: /session/ })
  end.abort()
  await store.close()
})
