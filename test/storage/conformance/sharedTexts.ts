/** Objects that say the same in many spaces: that their writer says so changes no answer. */

import { type Body, declaredOf } from '../../../src/storage/body.ts'
import { CopyText, copyIn } from '../../../src/storage/copyText.ts'
import { mentions, sizeOf, writeText } from '../../../src/storage/sharedStored.ts'
import type { Encoded, Key, Mutation, Store, Stored, StoreEvent } from '../../../src/storage/store.ts'
import * as fc from '../../support/fastCheck.ts'
import { declared } from '../declared.ts'
import { readWatch } from '../support.ts'
import type { Case } from './case.ts'

const SPACES = ['root', '0abcdefghijklmn1', '0abcdefghijklmn2', '0abcdefghijklmn3']
const TIMES = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z', '2027-11-30T23:59:59Z']
const UIDS = [0, 1, 2, 3, 4, 5].map(n => `0000000${n}-1111-4222-8333-44444444444${n}`)
const SOUGHT = [
  '',
  'app',
  '"app"',
  UIDS[1]!,
  `"${UIDS[1]}"`,
  `uid":"${UIDS[1]}`,
  '2026',
  SPACES[1]!,
  `"${SPACES[1]}"`,
  ':"1',
  '11',
  'none',
]

interface Content {
  uid: number
  made: number
  changed: number
  data: string
  status: 'none' | 'timed' | 'counted' | 'own uid'
  note: string | undefined
  saysSpace: boolean
}

const anyContent: fc.Arbitrary<Content> = fc.record({
  uid: fc.nat(UIDS.length - 1),
  made: fc.nat(2),
  changed: fc.nat(2),
  data: fc.constantFrom('x', 'ä "', '2026-01-01T00:00:00Z', SPACES[2]!, UIDS[4]!, '\u{1f600}'),
  status: fc.constantFrom('none', 'none', 'none', 'timed', 'counted', 'own uid'),
  note: fc.constantFrom(undefined, undefined, 'bare'),
  saysSpace: fc.boolean(),
})
const anyPlace = fc.record({ space: fc.constantFrom(...SPACES), name: fc.constantFrom('a', 'a-name-that-is-long') })

type Op =
  | { op: 'put'; places: { space: string; name: string }[]; content: Content; says: 'nothing' | 'that' | 'how' }
  | { op: 'delete'; place: { space: string; name: string }; bare: boolean; content: Content }
  | { op: 'compact'; at: number }
  | { op: 'reopen' }

const anyOp: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant('put' as const),
      places: fc.array(anyPlace, { minLength: 1, maxLength: 4 }),
      content: anyContent,
      says: fc.constantFrom('that', 'how', 'how', 'nothing'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('delete' as const),
      place: anyPlace,
      bare: fc.boolean(),
      content: anyContent,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant('compact' as const), at: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
  { weight: 1, arbitrary: fc.constant({ op: 'reopen' as const }) },
)

export const sharedTextCases: Case[] = [
  {
    name: 'texts with declared gaps answer as those without',
    async run(t, open) {
      await fc.assert(
        fc.asyncProperty(fc.array(anyOp, { maxLength: 20 }), async ops => {
          const [alike, plain] = [
            await open({ maxHistoryEventsInMemory: 6 }),
            await open({ maxHistoryEventsInMemory: 6 }),
          ]
          let stores = [alike.store, plain.store] as [Store, Store]
          // also those of which nothing is left in the store
          const bodies = new Set<Body>()
          for (const op of ops) {
            if (op.op === 'reopen') {
              const again = async ({ reopen }: typeof alike): Promise<Store | undefined> =>
                await reopen?.({ maxHistoryEventsInMemory: 6 })
              stores = [(await again(alike)) ?? stores[0], (await again(plain)) ?? stores[1]]
            } else {
              await step(stores[0], op, bodies)
              await step(stores[1], op)
            }
            equal(await newest(stores[0]), await newest(stores[1]))
            for (const stored of (await stores[0].list({})).items) {
              const body = copyIn(stored)?.body
              if (body) bodies.add(body)
            }
          }
          equal(await everything(stores[0]), await everything(stores[1]))
          for (const store of stores) await store.close()
        }),
        { numRuns: 8 },
      )
      t.pass('both stores tell the same')
    },
  },
  {
    name: 'a text of own values and a body reads as what they say, also when nothing else of it is left',
    async run(t, open) {
      const { store } = await open()
      const content: Content = { uid: 0, made: 0, changed: 1, data: 'x', status: 'none', note: 'bare', saysSpace: true }
      const keys = SPACES.slice(1).map(space => keyOf({ space, name: 'a' }))
      await step(store, { op: 'put', places: keys, content, says: 'that' }, new Set())
      const body = copyIn((await store.get(keys[0]!))!)?.body
      t.ok(body)
      for (const key of keys) await store.update(key, () => ({ type: 'delete' }))
      for (const [i, key] of keys.entries()) {
        const text = textOf(key, { ...content, uid: i, made: 1, changed: 2 })
        const alike = alikeText(key, text, new Set([body!]))
        const result = await store.write({ key, mutation: { type: 'put', text: alike! }, expect: 0 })
        t.match(result, { ok: true, stored: { note: 'bare' } })
        const stored = (await store.get(key))!
        t.equal(stored.bytes.toString(), `${text.head}${stored.revision}${text.tail}`)
      }
      await store.close()
    },
  },
]

const keyOf = ({ space, name }: { space: string; name: string }): Key => ({
  space,
  group: '',
  resource: 'configmaps',
  namespace: 'n',
  name,
})

function textOf({ space, name }: Key, content: Content): Encoded {
  const { uid, made, changed, data, status, note, saysSpace } = content
  const metadata = {
    name,
    namespace: 'n',
    labels: { app: 'x' },
    ...(saysSpace && { annotations: { 'kcp.io/cluster': space } }),
    uid: UIDS[uid],
    creationTimestamp: TIMES[made],
    managedFields: [{ manager: 'm', time: TIMES[changed] }],
  }
  const states = {
    none: {},
    timed: { status: { at: TIMES[made] } },
    counted: { status: { count: uid } },
    'own uid': { status: { seen: UIDS[uid] } },
  }
  const rest = JSON.stringify({ data: { data }, ...states[status] })
  const head = `{"apiVersion":"v1","kind":"ConfigMap","metadata":${JSON.stringify(metadata).slice(0, -1)},"resourceVersion":"`
  const text = { head, tail: `"},${rest.slice(1)}`, ...(note !== undefined && { note }) }
  return declared(text, { uid: UIDS[uid]!, space, times: [TIMES[made]!, TIMES[changed]!] })
}

/** The text as own values in one of the bodies, if that is its. */
function alikeText(key: Key, text: Encoded, bodies: ReadonlySet<Body>): Encoded | undefined {
  const own = declaredOf(key, text)
  for (const body of bodies) {
    if (!own?.outline.equals(body.outline)) continue
    const alike = new CopyText(body, own.own, key.space)
    equal([alike.head, alike.tail, alike.note], [text.head, text.tail, text.note])
    equal(alike.size, Buffer.byteLength(text.head) + Buffer.byteLength(text.tail))
    const sought = SOUGHT.filter(word => !/^\d*$/.test(word))
    equal(
      sought.filter(word => alike.mentions(word)),
      sought.filter(word => text.head.includes(word) || text.tail.includes(word)),
    )
    return alike
  }
  return undefined
}

/** `bodies`: gaps may be declared. */
async function step(store: Store, op: Exclude<Op, { op: 'reopen' }>, bodies?: ReadonlySet<Body>): Promise<void> {
  if (op.op === 'compact') {
    await store.compact(store.compactedRevision + Math.round(op.at * (store.revision - store.compactedRevision)))
    return
  }
  if (op.op === 'put') {
    const mutationOf = (key: Key): Mutation => {
      const { gaps, ...bare } = textOf(key, op.content)
      if (!bodies || op.says === 'nothing') return { type: 'put', text: bare }
      const text = { ...bare, gaps }
      const alike = op.says === 'how' ? alikeText(key, text, bodies) : undefined
      return { type: 'put', text: alike ?? text }
    }
    await Promise.all(op.places.map(keyOf).map(key => store.update(key, () => mutationOf(key))))
    return
  }
  const key = keyOf(op.place)
  const mutation: Mutation = op.bare ? { type: 'delete' } : { type: 'delete', text: textOf(key, op.content) }
  await store.update(key, () => mutation)
}

const told = (stored: Stored | undefined): unknown =>
  stored && {
    key: stored.key,
    revision: stored.revision,
    text: stored.bytes.toString(),
    headBytes: stored.headBytes,
    note: stored.note ?? '',
    size: sizeOf(stored),
    mentions: SOUGHT.filter(text => mentions(stored, text)),
  }

async function newest(store: Store): Promise<unknown> {
  const { items } = await store.list({})
  for (const stored of items) {
    equal(sizeOf(stored), stored.bytes.length)
    const copied = Buffer.alloc(stored.bytes.length + 2)
    writeText(stored, copied, 1)
    equal(copied.toString(), `\0${stored.bytes}\0`)
    equal(
      SOUGHT.filter(text => mentions(stored, text)),
      SOUGHT.filter(text => stored.bytes.includes(text)),
    )
    const digits = stored.bytes.toString('latin1', stored.headBytes, stored.headBytes + String(stored.revision).length)
    equal(digits, String(stored.revision))
  }
  return items.map(told)
}

/** All that can be read: each kept revision, and each event with what it replaced. */
async function everything(store: Store): Promise<unknown> {
  const lists: unknown[] = []
  for (let at = store.compactedRevision; at <= store.revision; at++)
    lists.push((await store.list({}, { at })).items.map(told))
  const events = await readWatch(store, {}, store.compactedRevision, store.revision)
  const one = ({ type, key, revision, stored, previous }: StoreEvent): unknown => [
    type,
    key,
    revision,
    told(stored),
    told(previous),
  ]
  return { lists, events: events.map(one) }
}

function equal(found: unknown, wanted: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (a !== b) throw new Error(`found ${a}, wanted ${b}`)
}
