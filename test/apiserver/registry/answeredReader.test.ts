/** Answered objects are read as stored ones: pages, selectors, watches that go on where a list ended. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { ResourceType } from '../../../src/apimachinery/resourceType.ts'
import { AnsweredReader, FORGOTTEN_AFTER_MS } from '../../../src/apiserver/registry/answeredReader.ts'
import { selectionFor } from '../../../src/apiserver/registry/selection.ts'
import type { Answerer, AnswerFollower, AnswerRow } from '../../../src/placement/desks/answered.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'

const TYPE: ResourceType = {
  group: 'x.example.com',
  version: 'v1',
  resource: 'words',
  singular: 'word',
  kind: 'Word',
  listKind: 'WordList',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: ['get', 'list', 'watch'],
  storageVersion: 'v1',
  subresources: [],
  schema: undefined,
  columns: [],
  selectableFields: ['.status.state'],
  form: 'own',
  answered: true,
}

/** Knows some words, and tells who follows. */
class Words implements Answerer {
  readonly #words = new Map<string, string>()
  readonly followers = new Set<AnswerFollower>()

  set(name: string, state: string | undefined): void {
    if (state === undefined) this.#words.delete(name)
    else this.#words.set(name, state)
    for (const follower of this.followers) follower.touched({ namespace: 'n', name })
  }

  async *rows({ after }: Parameters<Answerer['rows']>[0]): AsyncGenerator<AnswerRow> {
    for (const name of [...this.#words.keys()].sort()) if (!after || name > after.name) yield this.#row(name)
  }

  async row(_space: string, { name }: { name: string }): Promise<AnswerRow | undefined> {
    return this.#words.has(name) ? this.#row(name) : undefined
  }

  follow(_space: string, follower: AnswerFollower): () => void {
    this.followers.add(follower)
    return () => this.followers.delete(follower)
  }

  #row(name: string): AnswerRow {
    const state = this.#words.get(name)
    const object: KubeObject = {
      apiVersion: 'x.example.com/v1',
      kind: 'Word',
      metadata: { namespace: 'n', name },
      status: { state },
    }
    return { namespace: 'n', name, head: object, whole: async () => object }
  }
}

function setUp() {
  const clock = new FakeClock()
  const reader = new AnsweredReader({ clock, turns: endlessTurns() })
  const words = new Words()
  reader.answerWith(words)
  return { clock, reader, words }
}

const selecting = (fieldSelector: string) => selectionFor(TYPE, undefined, { fieldSelector })
const shown = (bytes: Buffer): KubeObject => JSON.parse(bytes.toString())

const refusal = (code: number, retryAfterSeconds?: number) =>
  ({ name: 'StatusError', code, ...(retryAfterSeconds && { details: { retryAfterSeconds } }) }) as unknown as Error

/** Events up to a count. */
async function told(reader: AnsweredReader, after: number, count: number, fieldSelector?: string): Promise<string[]> {
  const stop = new AbortController()
  const events: string[] = []
  const selection = fieldSelector === undefined ? {} : { selection: selecting(fieldSelector) }
  for await (const batch of reader.watch(TYPE, { space: 's', after, signal: stop.signal, ...selection })) {
    for (const { type, stored } of batch) events.push(`${type} ${shown(stored.bytes).metadata.name}`)
    if (events.length >= count) break
  }
  return events
}

t.test('nobody who answers is no empty list', async t => {
  const { reader } = setUp()
  reader.answerWith(undefined)
  await t.rejects(reader.list(TYPE, { space: 's' }), refusal(503, 2))
  await t.rejects(reader.get('s', TYPE, 'n', 'a'), refusal(503))
})

t.test('all spaces at once are refused with a word', async t => {
  const { reader } = setUp()
  await t.rejects(reader.list(TYPE, { space: '*' }), /one space at a time/)
})

t.test('pages follow one another, and selectors choose', async t => {
  const { reader, words } = setUp()
  for (const name of ['a', 'b', 'c']) words.set(name, name === 'b' ? 'loud' : 'low')
  const first = await reader.list(TYPE, { space: 's', limit: 2 })
  t.same(
    first.items.map(({ key }) => key.name),
    ['a', 'b'],
  )
  const second = await reader.list(TYPE, { space: 's', limit: 2, continue: first.continue })
  t.same(
    second.items.map(({ key }) => key.name),
    ['c'],
  )
  t.equal(second.continue, undefined)
  t.equal(second.revision, first.revision, 'a watch from there is told what changed since the first page')
  const loud = await reader.list(TYPE, { space: 's', selection: selecting('status.state=loud') })
  t.same(
    loud.items.map(({ bytes }) => shown(bytes).metadata),
    [{ namespace: 'n', name: 'b', resourceVersion: String(first.revision) }],
  )
})

t.test('a watch goes on where a list ended, and is told of what came, changed and went', async t => {
  const { reader, words } = setUp()
  words.set('a', 'low')
  words.set('b', 'low')
  const { revision } = await reader.list(TYPE, { space: 's' })
  words.set('b', undefined)
  words.set('a', 'loud')
  t.same(await told(reader, revision, 2), ['DELETED b', 'MODIFIED a'])
  const now = reader.revision
  t.ok(now > revision)
  const events = told(reader, now, 2)
  await new Promise(setImmediate)
  words.set('a', 'loud') // the same again is no news
  words.set('c', 'low')
  words.set('c', 'loud')
  words.set('a', undefined)
  t.same(await events, ['ADDED c', 'DELETED a'], 'what changed twice before anybody looked changed once')
})

t.test('what leaves a selection is gone for who watches it', async t => {
  const { reader, words } = setUp()
  words.set('a', 'loud')
  words.set('b', 'low')
  const { revision } = await reader.list(TYPE, { space: 's' })
  const events = told(reader, revision, 2, 'status.state=loud')
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  words.set('b', 'lower')
  words.set('a', 'low')
  words.set('b', 'loud')
  t.same(await events, ['DELETED a', 'ADDED b'])
})

t.test('from before what is known, and after more than can be told, a watch begins anew', async t => {
  const { reader, words, clock } = setUp()
  const { revision } = await reader.list(TYPE, { space: 's' })
  t.equal(words.followers.size, 1)
  await t.rejects(told(reader, revision - 1, 1), refusal(410))
  const events = told(reader, revision, 1)
  await new Promise(setImmediate)
  for (const follower of words.followers) follower.lost()
  await t.rejects(events, refusal(410))
  await t.rejects(told(reader, revision, 1), refusal(410))
  await clock.advance(FORGOTTEN_AFTER_MS)
  t.equal(words.followers.size, 0, 'nobody asked for long')
})

t.test('who answers ends, and with that what was noted', async t => {
  const { reader, words } = setUp()
  const { revision } = await reader.list(TYPE, { space: 's' })
  const events = told(reader, revision, 1)
  await new Promise(setImmediate)
  reader.answerWith(undefined)
  await t.rejects(events, refusal(410))
  t.equal(words.followers.size, 0)
})

t.test('revisions rise over restarts', async t => {
  const clock = new FakeClock()
  const turns = endlessTurns()
  const one = new AnsweredReader({ clock, turns })
  const words = new Words()
  one.answerWith(words)
  await one.list(TYPE, { space: 's' })
  for (let i = 0; i < 10; i++) words.set('a', `${i}`)
  await clock.advance(20)
  t.ok(new AnsweredReader({ clock, turns }).revision > one.revision)
})
