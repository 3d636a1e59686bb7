/** Projections: in step inside each commit, before any listener has it, and whole after any error of theirs. */
import type { Key, Range, Store, Stored, StoreEvent } from '../../../src/storage/store.ts'
import { create, del, key, put, rangesAround, textOf, updated } from '../support.ts'
import type { Case } from './case.ts'

/** Content of a range in its projection; `refuses` gives the texts for which it throws. */
class Names {
  readonly held = new Map<string, string | undefined>()
  readonly heard: string[] = []
  resets = 0
  refuses = (_text: string | undefined): boolean => false
  readonly end: () => void

  constructor(store: Store, range: Range) {
    this.end = store.project(range, {
      reset: (items, revision) => {
        this.resets++
        this.held.clear()
        for (const item of items) this.#hold(item)
        this.heard.push(`reset ${revision}`)
      },
      apply: event => this.#apply(event),
    })
  }

  #apply({ type, key, revision, stored }: StoreEvent): void {
    if (type === 'put') this.#hold(stored)
    else this.held.delete(idOf(key))
    this.heard.push(`${type} ${key.name} ${revision}`)
  }

  #hold(stored: Stored): void {
    const text = textOf(stored)
    if (this.refuses(text)) throw new Error(`no ${text}`)
    this.held.set(idOf(stored.key), text)
  }
}

function idOf({ space, group, resource, namespace, name }: Key): string {
  return [space, group, resource, namespace, name].join('/')
}

async function present(store: Store, range: Range): Promise<(string | undefined)[][]> {
  const { items } = await store.list(range)
  return items.map(item => [idOf(item.key), textOf(item)])
}

const PLACES: Key[] = [
  key('a'),
  key('b'),
  key('a', { namespace: 'other' }),
  key('a', { space: 's2' }),
  key('a', { resource: 'secrets' }),
  key('a', { group: 'other' }),
  key('a', { group: '', resource: 'nodes', namespace: '' }),
]

export const projectionCases: Case[] = [
  {
    name: 'a projection of any range begins with what there is and hears each event once, in order',
    async run(t, open) {
      const opened = await open()
      let { store } = opened
      await create(store, ...PLACES)
      const ranges = rangesAround(key('a'))
      let projected = ranges.map(range => new Names(store, range))
      await store.writeMany(PLACES.map((k, i) => ({ key: k, mutation: put(`second ${i}`), expect: i + 1 })))
      const changes = await Promise.all([
        updated(store, key('a'), () => put('third')),
        updated(store, key('a'), () => del()),
        updated(store, key('a'), () => put('back')),
        updated(store, key('b'), () => ({ type: 'delete' })),
        updated(store, key('new'), () => put('new')),
      ])
      for (const [i, range] of ranges.entries()) {
        t.same([...projected[i]!.held].sort(), (await present(store, range)).sort(), JSON.stringify(range))
        t.equal(projected[i]!.resets, 1)
      }
      const [third, gone, back] = changes.map(stored => stored!.revision)
      t.same(projected.at(-1)!.heard, ['reset 7', 'put a 8', `put a ${third}`, `delete a ${gone}`, `put a ${back}`])
      if (opened.reopen === undefined) return
      store = await opened.reopen()
      projected = ranges.map(range => new Names(store, range))
      for (const [i, range] of ranges.entries())
        t.same([...projected[i]!.held], await present(store, range), `${JSON.stringify(range)} when opened again`)
    },
  },
  {
    name: 'a projection is in step before a reader, a watcher or the writer hears of a write',
    async run(t, open) {
      const { store } = await open()
      const names = new Names(store, { group: 'apps', resource: 'deployments' })
      const end = new AbortController()
      const watch = store.watch({}, { after: 0, signal: end.signal })[Symbol.asyncIterator]()
      const knows = (name: string): boolean => names.held.has(idOf(key(name)))
      const watched = (async () => {
        for (let seen = 0; seen < 20; ) {
          for (const event of (await watch.next()).value as StoreEvent[]) {
            t.ok(knows(event.key.name), `the watcher of ${event.key.name}`)
            seen++
          }
        }
      })()
      for (let i = 0; i < 20; i++) {
        const write = { key: key(`n${i}`), mutation: put('x'), expect: 0 }
        const written = (
          i % 3 === 0
            ? store.write(write)
            : i % 3 === 1
              ? store.writeMany([write])
              : store.update(write.key, () => write.mutation)
        ).then(() => t.ok(knows(`n${i}`), `the writer of n${i}`))
        let isEarly = false
        while ((await store.get(write.key)) === undefined) {
          isEarly ||= knows(`n${i}`)
          await new Promise(setImmediate)
        }
        t.notOk(isEarly, 'nor does it know too early')
        t.ok(knows(`n${i}`), `the reader of n${i}`)
        await written
      }
      await watched
      end.abort()
    },
  },
  {
    name: 'a projection that throws is built anew; no one else notices',
    async run(t, open) {
      const { store } = await open()
      const range = { group: 'apps', resource: 'deployments' }
      const [odd, even] = [new Names(store, range), new Names(store, range)]
      let thrown = 0
      odd.refuses = text => text?.endsWith(':b') === true && thrown++ === 0
      const batch = ['a', 'b', 'c'].map(name => ({ key: key(name), mutation: put(name), expect: 0 }))
      t.same(
        (await store.writeMany(batch)).map(({ ok }) => ok),
        [true, true, true],
      )
      t.same([...odd.held], await present(store, range), 'the rest of its commit is in the new beginning')
      t.same(odd.heard, ['reset 0', 'put a 1', 'reset 3'])
      t.same(even.heard, ['reset 0', 'put a 1', 'put b 2', 'put c 3'])
      odd.refuses = text => text?.endsWith(':bad') === true
      await store.update(key('b'), () => put('bad'))
      await store.update(key('c'), () => put('c2'))
      t.equal(odd.resets, 4, 'it is tried with each event, as long as it cannot be built')
      await store.update(key('b'), () => put('good'))
      await store.update(key('d'), () => put('d'))
      for (const names of [odd, even]) t.same([...names.held].sort(), (await present(store, range)).sort())
      t.equal(odd.resets, 5)
      t.match(await store.write({ key: key('e'), mutation: put('e'), expect: 0 }), { ok: true })
    },
  },
  {
    name: 'a projection that cannot begin is none; one that begins inside of a commit hears nothing twice; one that ends hears no more',
    async run(t, open) {
      const { store } = await open()
      await create(store, key('a'))
      const range = { space: 's1', group: 'apps', resource: 'deployments' }
      const fails = (): never => {
        throw new Error('never')
      }
      t.throws(() => store.project(range, { reset: fails, apply: fails }), { message: 'never' })
      let late: Names | undefined
      const end = store.project(range, {
        reset() {},
        apply: event => {
          if (event.key.name === 'b') late = new Names(store, range)
        },
      })
      await create(store, key('b'), key('c'))
      await create(store, key('d'))
      t.same(late!.heard, ['reset 3', 'put d 4'])
      end()
      end()
      late!.end()
      await store.update(key('b'), () => put('b2'))
      t.same(late!.heard, ['reset 3', 'put d 4'])
      t.throws(() => store.project({ name: 'a' }, { reset() {}, apply() {} }), TypeError)
      await store.close()
      t.throws(() => store.project(range, { reset() {}, apply() {} }), { code: 'Closed' })
    },
  },
]
