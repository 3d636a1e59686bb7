/** Faults that only a replica can have: older than an answer, amid a write, or behind for ever. */
import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { openJournaledStore } from '../../../src/storage/journaledStore.ts'
import { MemoryJournal } from '../../../src/storage/memory/memoryJournal.ts'
import { Asker } from '../../../src/storage/replica/asks.ts'
import { Contents, load } from '../../../src/storage/replica/contents.ts'
import { LogReader } from '../../../src/storage/replica/logReader.ts'
import { BELL, BELLS } from '../../../src/storage/replica/logSegments.ts'
import { openReplica } from '../../../src/storage/replica/replicaStore.ts'
import { SharedLog, type SharedLogOptions } from '../../../src/storage/replica/sharedLog.ts'
import type { Store, Stored } from '../../../src/storage/store.ts'
import * as fc from '../../support/fastCheck.ts'
import { create, del, key, put, readWatch, textOf } from '../support.ts'
import type { ThreadTask } from './replicaThread.ts'

const logger = { error: (_: object, message: string) => process.emitWarning(message) }

async function writerOf(
  t: Test,
  options: SharedLogOptions = {},
  journal = new MemoryJournal(),
): Promise<{ log: SharedLog; writer: Store; follow(onLost?: (why: Error) => void): Promise<Store> }> {
  const log = new SharedLog(options)
  const writer = await openJournaledStore(journal, { log })
  t.teardown(() => writer.close())
  const follow = async (onLost?: (why: Error) => void): Promise<Store> => {
    const replica = await openReplica(log.follow().link, { logger, ...(onLost && { onLost }) })
    t.teardown(() => replica.close())
    return replica
  }
  return { log, writer, follow }
}

function startThread(t: Test, log: SharedLog, does: ThreadTask['does']): { worker: Worker; turns: SharedArrayBuffer } {
  const { link, ports } = log.follow()
  const turns = new SharedArrayBuffer(24)
  const worker = new Worker(join(import.meta.dirname, 'replicaThread.ts'), {
    workerData: { link, does, turns } satisfies ThreadTask,
    transferList: ports,
  })
  t.teardown(() => worker.terminate())
  return { worker, turns }
}

const seenStored = (stored: Stored): unknown => [stored.key, stored.revision, textOf(stored)]

async function everything(store: Store): Promise<unknown> {
  return (await store.list({})).items.map(seenStored)
}

t.test('what was revoked is known in other threads before its writer is answered, thousands of times', async t => {
  const { log, writer } = await writerOf(t, { segmentBytes: 4096 })
  const { worker, turns } = startThread(t, log, 'answers')
  await once(worker, 'message')
  const words = new Int32Array(turns, 0, 2)
  const answers = new Float64Array(turns, 8, 2)
  let stale = 0
  const ROUNDS = 10_000
  for (let turn = 1; turn <= ROUNDS; turn++) {
    // granted, changed, revoked, and again
    const mutation = turn % 3 === 0 ? del() : put(`grant ${turn}`)
    const result = await writer.update(key('access'), () => mutation)
    const wanted = turn % 3 === 0 ? 0 : result.ok ? result.stored!.revision : -1
    Atomics.store(words, 0, turn)
    Atomics.notify(words, 0)
    while (Atomics.load(words, 1) !== turn) Atomics.wait(words, 1, turn - 1)
    if (answers[0] !== wanted || answers[1] !== wanted) stale++
  }
  t.equal(stale, 0)
  t.equal(writer.revision, ROUNDS)
  t.ok(log.heldBytes <= 8 * 4096, `${log.heldBytes} bytes of log are held`)
  Atomics.store(words, 0, -1)
  Atomics.notify(words, 0)
  await once(worker, 'exit')
})

t.test('a thread that sleeps hears of what it watches; one that has nothing else to do ends', async t => {
  const { log, writer } = await writerOf(t)
  const { worker } = startThread(t, log, 'watches')
  const idle = startThread(t, log, 'nothing').worker
  const ended = once(idle, 'exit')
  await once(worker, 'message')
  for (let revision = 1; revision <= 20; revision++) {
    const told = once(worker, 'message')
    await create(writer, key(`n${revision}`))
    t.same(await told, [[revision]])
  }
  await ended
  worker.postMessage('end')
  await once(worker, 'exit')
})

t.test('who is watched is woken by a commit, and nobody else; it keeps up all the same', async t => {
  const { log, writer } = await writerOf(t)
  const { link } = log.follow()
  const state = new Int32Array(link.log.state)
  const revisions: number[] = []
  const replica = await openReplica(link, { logger })
  t.teardown(() => replica.close())
  replica.project(
    {},
    {
      reset: () => {},
      apply: ({ revision }) => revisions.push(revision),
    },
  )
  const bell = (): number => Atomics.load(state, BELL)
  for (let i = 0; i < 3; i++) await create(writer, key(`quiet ${i}`))
  t.equal(bell(), BELLS.quiet)
  while (revisions.length < 3) await new Promise(setImmediate)
  t.strictSame(revisions, [1, 2, 3], 'after a while')

  const end = new AbortController()
  const events = replica.watch({}, { after: 3, signal: end.signal })[Symbol.asyncIterator]()
  const first = events.next()
  while (bell() !== BELLS.waiting) await new Promise(setImmediate)
  await create(writer, key('heard'))
  t.match((await first).value, [{ revision: 4 }])
  end.abort()
  t.ok((await events.next()).done)
  // the next one finds no listener
  while (bell() !== BELLS.quiet) await create(writer, key(`late ${writer.revision}`))
  t.equal(replica.revision, writer.revision)
})

t.test('who follows in a thread that is killed follows no more', async t => {
  const { log, writer } = await writerOf(t, { segmentBytes: 4096, maxSegments: 1000 })
  const { worker } = startThread(t, log, 'answers')
  await once(worker, 'message')
  t.equal(log.followers, 1)
  await worker.terminate()
  while (log.followers > 0) await new Promise(setImmediate)
  await create(writer, key('a'))
  t.equal(log.heldBytes, 0)
})

t.test('what is loaded is of one instant, whatever is written while it is on its way', async t => {
  const nameOf = (i: number): string => `n${String(i).padStart(4, '0')}`
  const anyChange = fc.record({ at: fc.nat(2600), deletes: fc.boolean() })
  const anyChanges = fc.array(anyChange, { minLength: 1, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(fc.array(anyChanges, { minLength: 6, maxLength: 6 }), async rounds => {
      const { log, writer } = await writerOf(t, { segmentBytes: 4096, maxSegments: 10_000 })
      await create(writer, ...Array.from({ length: 2500 }, (_, i) => key(nameOf(i))))
      const { link } = log.follow()
      const [contents, reader, asker] = [new Contents(), new LogReader(link.log), new Asker(link.asks)]
      const change = async (): Promise<void> => {
        for (const { at, deletes } of rounds.shift() ?? [])
          await writer.update(key(nameOf(at)), () => (deletes ? del() : put(`changed ${at}`)))
      }
      const { revision } = await load(contents, reader, {
        async ask(name, ask) {
          await change()
          const answer = await asker.ask(name, ask)
          await change()
          return answer
        },
      })
      const found: Stored[] = []
      contents.index.visit({}, undefined, stored => found.push(stored) > 0)
      const { items } = await writer.list({}, { at: revision })
      if (JSON.stringify(found.map(seenStored)) !== JSON.stringify(items.map(seenStored)))
        throw new Error(`not what there was at ${revision}`)
      await writer.close()
      asker.end(new Error('done'))
      reader.close()
    }),
    { numRuns: 5 },
  )
  t.pass('each was of one instant')
})

t.test('revisions beyond 32 bits, texts longer than a segment', async t => {
  const far = 2 ** 40
  class Far extends MemoryJournal {
    override async load() {
      return { revision: far, compactedRevision: far }
    }
  }
  const { writer, follow } = await writerOf(t, { segmentBytes: 4096, maxSegments: 4096 }, new Far())
  const replica = await follow()
  const long = 'grüße '.repeat(20_000)
  await writer.update(key('a'), () => put(long))
  await writer.update(key('b'), () => put('short'))
  t.equal(textOf((await replica.get(key('a'))) as Stored), `${far + 1}:${long}`)
  t.equal(replica.revision, far + 2)
  t.same(
    (await readWatch(replica, {}, far, far + 2)).map(({ revision }) => revision),
    [far + 1, far + 2],
  )
  t.same(await everything(await follow()), await everything(writer), 'also for one that is loaded now')
})

t.test('who is too far behind is cut off, told so, and answers nothing; others and the writer go on', async t => {
  const { log, writer, follow } = await writerOf(t, { segmentBytes: 4096, maxSegments: 8 })
  let cut = 0
  log.follow(() => cut++)
  const lost: Error[] = []
  const replica = await follow(why => lost.push(why))
  const watched = readWatch(replica, {}, 0, 1000)
  const ended = t.rejects(watched, { code: 'Closed' })
  const data = 'x'.repeat(2000)
  for (let i = 0; i < 3; i++) await writer.update(key(`before ${i}`), () => put(data))
  t.equal(cut, 0)
  t.match(await replica.get(key('before 2')), { revision: 3 })
  // one commit, longer than the log may be: nobody can have read of it
  await writer.writeMany(
    Array.from({ length: 1000 }, (_, i) => ({ key: key(`n${i}`), mutation: put(data), expect: 0 })),
  )
  t.equal(cut, 1)
  t.throws(() => replica.get(key('before 2')), { code: 'Closed', message: 'this replica of the store cannot go on' })
  await t.rejects(replica.list({}), { code: 'Closed' })
  await t.rejects(replica.write({ key: key('new'), mutation: put(''), expect: 0 }), { code: 'Closed' })
  await ended
  t.equal(lost.length, 1)
  t.equal(log.followers, 0)
  t.equal(log.heldBytes, 0)
  t.same(await everything(await follow()), await everything(writer), 'it is made anew')
})

t.test('the log needs no more memory than followers are behind', async t => {
  const { log, writer, follow } = await writerOf(t, { segmentBytes: 16 * 1024, maxSegments: 1000 })
  t.equal(log.heldBytes, 0, 'without followers there is none')
  const replica = await follow()
  const data = 'x'.repeat(1000)
  for (let i = 0; i < 2000; i++) {
    await writer.update(key('a'), () => put(data))
    if (i % 10 === 0) t.equal(replica.revision, writer.revision)
  }
  t.ok(log.heldBytes <= 8 * 16 * 1024, `${log.heldBytes} bytes`)
  await replica.close()
  while (log.followers > 0) await new Promise(setImmediate)
  t.equal(log.heldBytes, 0)
})

t.test('texts are where the writer has them; what it moves together is let go by those who follow, too', async t => {
  const { log, writer } = await writerOf(t, { segmentBytes: 4096, maxSegments: 1000 })
  const nameOf = (i: number): string => `n${String(i).padStart(3, '0')}`
  await create(writer, ...Array.from({ length: 200 }, (_, i) => key(nameOf(i))))
  await writer.update(key('long'), () => put('l'.repeat(100_000)))
  const { link } = log.follow()
  const [contents, reader, asker] = [new Contents(), new LogReader(link.log), new Asker(link.asks)]
  await load(contents, reader, asker)
  const text = 'x'.repeat(7000)
  let packed = 0
  let written = 0
  for (; packed === 0; written++) {
    await writer.update(key(nameOf((written * 7) % 200)), () => put(text))
    reader.read({
      version: (_, version) => contents.index.put(contents.kept(version, contents.index.get(version.key))),
      moved: version => contents.move(version),
      packed: () => {
        packed++
      },
      compacted: () => {},
      closed: () => {},
    })
  }
  t.ok(written * text.length > 16 * 1024 * 1024, `${written} written`)
  const found: Stored[] = []
  contents.index.visit({}, undefined, stored => found.push(stored) > 0)
  const { items } = await writer.list({})
  t.same(found.map(seenStored), items.map(seenStored))
  t.ok(contents.index.referred < 40, `${contents.index.referred} slabs are referred to`)
  for (const { bytes } of items) bytes[0] = 0
  t.ok(
    found.every(({ bytes }) => bytes[0] === 0),
    'it is the same memory',
  )
  asker.end(new Error('done'))
  reader.close()
})

t.test('what is asked in one turn of the loop crosses in one message, and is answered in one', async t => {
  const log = new SharedLog()
  const writer = await openJournaledStore(new MemoryJournal(), { log })
  t.teardown(() => writer.close())
  const { link } = log.follow()
  const messages = { asked: 0, answered: 0 }
  const { asks } = link
  const post = asks.postMessage.bind(asks)
  asks.postMessage = (message: unknown) => {
    messages.asked++
    post(message)
  }
  const replica = await openReplica(link, { logger })
  t.teardown(() => replica.close())
  asks.on('message', () => messages.answered++)
  messages.asked = 0
  const names = Array.from({ length: 20 }, (_, i) => `n${i}`)
  const write = async (name: string): Promise<Stored | undefined> => {
    const result = await replica.write({ key: key(name), mutation: put(name), expect: 0 })
    return result.ok ? result.stored : result.current
  }
  const made = await Promise.all(names.map(write))
  t.strictSame(messages, { asked: 1, answered: 1 })
  for (const stored of made) t.strictSame(seenStored(stored!), seenStored((await writer.get(stored!.key))!))
})

t.test('a replica ends with its writer, behind what it was told last', async t => {
  const { writer, follow } = await writerOf(t)
  const replica = await follow()
  const { signal } = new AbortController()
  const watch = replica.watch({}, { after: 0, signal })[Symbol.asyncIterator]()
  const first = watch.next()
  const last = writer.update(key('a'), () => put('last'))
  await writer.close()
  await last
  t.match((await first).value, [{ revision: 1 }])
  await t.rejects(watch.next(), { code: 'Closed' })
  t.throws(() => replica.get(key('a')), { code: 'Closed' })
  await t.rejects(follow(), { code: 'Closed' })
})
