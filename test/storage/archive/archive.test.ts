import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { ArchiveError, MAGIC } from '../../../src/storage/archive/archive.ts'
import { readArchive } from '../../../src/storage/archive/readArchive.ts'
import { restoreArchive } from '../../../src/storage/archive/restoreArchive.ts'
import { type ArchiveOptions, writeArchive } from '../../../src/storage/archive/writeArchive.ts'
import { keyText } from '../../../src/storage/keys.ts'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import type { Store } from '../../../src/storage/store.ts'
import { del, key, put, putShared, textOf } from '../support.ts'

const TAKEN_AT = '2026-11-30T04:00:00Z'
const NOW_MS = Date.parse(TAKEN_AT) + 86_400_000
const restless = { due: true, rest: () => new Promise<void>(resolve => setImmediate(resolve)) }
const FACTS: ArchiveOptions = { program: 'test', takenAt: TAKEN_AT, outside: {}, work: restless }

/** Objects of two spaces: with a text of their own, with a shared one, with a note. */
async function filled(): Promise<Store> {
  const store = await openMemoryStore()
  for (const space of ['s1', 's2'])
    await store.writeMany([
      ...Array.from({ length: 600 }, (_, i) => ({
        key: key(`d${i}`, { space }),
        mutation: put(`text ${i}`),
        expect: 0,
      })),
      { key: key('shared', { space }), mutation: putShared('the same'), expect: 0 },
      { key: key('ünïcödé', { space, namespace: '' }), mutation: put('é'), expect: 0 },
      {
        key: key('noted', { space }),
        mutation: {
          type: 'put',
          text: { head: '{"metadata":{"resourceVersion":"', tail: '"},"data":"n"}', note: 'a note' },
        },
        expect: 0,
      },
    ])
  return store
}

async function* pieces(bytes: Buffer, length = 1000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

async function archived(store: Store, options = FACTS): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const piece of writeArchive(store, options)) parts.push(piece)
  return Buffer.concat(parts)
}

async function contents(store: Store): Promise<Record<string, string | undefined>> {
  const { items } = await store.list({})
  return Object.fromEntries(items.map(stored => [keyText(stored.key), `${textOf(stored)} ${stored.note ?? ''}`]))
}

function temporaryDir(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'orrery-archive-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

function faultOf(bytes: Buffer): Promise<ArchiveError['code'] | 'none'> {
  return readArchive(pieces(bytes)).then(
    () => 'none',
    (error: unknown) => {
      if (error instanceof ArchiveError) return error.code
      throw error
    },
  )
}

t.test('an archive shows one revision, whatever is written, replaced and deleted meanwhile', async t => {
  const store = await filled()
  t.teardown(() => store.close())
  const [before, { revision }] = [await contents(store), store]
  const writing = writeArchive(store, FACTS)
  const parts: Buffer[] = []
  let round = 0
  for await (const piece of writing) {
    parts.push(piece)
    const at = await store.get(key('d599', { space: 's2' }))
    await store.writeMany([
      { key: key(`new ${round}`, { space: 's2' }), mutation: put('new'), expect: 0 },
      { key: key('d599', { space: 's2' }), mutation: at ? del() : put('again'), expect: at?.revision ?? 0 },
      {
        key: key('shared', { space: 's2' }),
        mutation: putShared(`${round}`),
        expect: (await store.get(key('shared', { space: 's2' })))!.revision,
      },
    ])
    round++
  }
  t.ok(round > 1, 'there were writes between its pieces')
  const dir = temporaryDir(t)
  const path = join(dir, 'store')
  const restored = await restoreArchive(pieces(Buffer.concat(parts)), { path, nowMs: NOW_MS })
  t.equal(restored.header.revision, revision)
  t.equal(restored.objects, Object.keys(before).length)
  const again = await openLevelStore({ path })
  t.teardown(() => again.close())
  t.strictSame(await contents(again), before)
})

t.test('a restored store goes on beyond all that was given out since, and keeps nothing before', async t => {
  const store = await filled()
  t.teardown(() => store.close())
  const path = join(temporaryDir(t), 'store')
  const { revision } = await restoreArchive(pieces(await archived(store)), { path, nowMs: NOW_MS })
  t.ok(revision > store.revision + 86_400 * 50_000, 'more than 50 000 writes in each second of the day since')
  const again = await openLevelStore({ path })
  t.teardown(() => again.close())
  t.equal(again.revision, revision)
  await t.rejects(again.list({}, { at: store.revision }), { code: 'Compacted' })
  const watch = again.watch({}, { after: store.revision + 1, signal: new AbortController().signal })
  await t.rejects(
    async () => {
      for await (const _ of watch) return
    },
    { code: 'Compacted' },
  )
  const { revision: next } = await again.write({ key: key('next'), mutation: put('x'), expect: 0 }).then(result => {
    if (!result.ok) throw new Error('refused')
    return result.stored
  })
  t.equal(next, revision + 1)
})

t.test('a clock that went back raises revisions all the same', async t => {
  const store = await filled()
  t.teardown(() => store.close())
  const path = join(temporaryDir(t), 'store')
  const restored = await restoreArchive(pieces(await archived(store)), { path, nowMs: Date.parse(TAKEN_AT) - 5000 })
  t.ok(restored.revision >= store.revision + 1_000_000)
})

t.test('an archive that was cut anywhere is not whole', async t => {
  const store = await filled()
  t.teardown(() => store.close())
  const whole = await archived(store)
  t.equal(await faultOf(whole), 'none')
  const cuts = [1, MAGIC.length, 30, whole.indexOf('\n') + 10, whole.length - 1, whole.length - 5]
  for (let at = 400; at < whole.length; at += Math.ceil(whole.length / 40)) cuts.push(at)
  for (const at of cuts) t.equal(await faultOf(whole.subarray(0, at)), 'Cut', `cut at ${at} of ${whole.length}`)
  t.equal(await faultOf(Buffer.alloc(0)), 'NoArchive')
})

t.test('an archive of which any byte was altered is not whole', async t => {
  const store = await filled()
  t.teardown(() => store.close())
  const whole = await archived(store)
  const step = Math.ceil(whole.length / 150)
  for (let at = 0; at < whole.length; at += step) {
    const altered = Buffer.from(whole)
    altered[at]! ^= 1
    t.not(await faultOf(altered), 'none', `byte ${at} of ${whole.length}`)
  }
  t.equal(await faultOf(Buffer.concat([whole, Buffer.from('x')])), 'Altered', 'more behind its end')
  t.equal(await faultOf(Buffer.concat([whole, whole])), 'Altered', 'twice')
})

t.test('records that were left out, doubled or put elsewhere show, although each is intact', async t => {
  const store = await filled()
  t.teardown(() => store.close())
  const whole = await archived(store)
  const start = whole.indexOf('\n', whole.indexOf('\n') + 1) + 1
  const records: Buffer[] = []
  const plain = zstdDecompressSync(whole.subarray(start))
  for (let at = 0; at < plain.length; ) {
    const end = at + 5 + plain.readUInt32BE(at + 1)
    records.push(plain.subarray(at, end))
    at = end
  }
  const made = (some: readonly Buffer[]): Buffer =>
    Buffer.concat([
      whole.subarray(0, start),
      zstdCompressSync(Buffer.concat(some), { params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
    ])
  t.equal(await faultOf(made(records)), 'none')
  t.equal(await faultOf(made(records.toSpliced(3, 1))), 'Altered', 'left out')
  t.equal(await faultOf(made(records.toSpliced(3, 0, records[3]!))), 'Altered', 'doubled')
  t.equal(await faultOf(made(records.toSpliced(3, 2, records[4]!, records[3]!))), 'Altered', 'in another order')
  t.equal(await faultOf(made(records.slice(0, -1))), 'Cut', 'without its end')
})

t.test('another file, an archive of a newer release and one of newer rows are refused by name', async t => {
  const store = await filled()
  t.teardown(() => store.close())
  const whole = await archived(store)
  const [magic, header] = whole.toString('utf8', 0, 2000).split('\n') as [string, string]
  const rest = whole.subarray(Buffer.byteLength(`${magic}\n${header}\n`))
  const said = (first: string, second: string): Promise<unknown> =>
    readArchive(pieces(Buffer.concat([Buffer.from(`${first}\n${second}\n`), rest])))
  await t.rejects(readArchive(pieces(Buffer.from('apiVersion: v1\n'))), {
    code: 'NoArchive',
    message: /no archive of Orrery/,
  })
  await t.rejects(said('ORRERY ARCHIVE 2', '{"all":"else"}'), {
    code: 'Newer',
    message: /version 2.*use the newer Orrery/,
  })
  await t.rejects(said(magic, JSON.stringify({ ...JSON.parse(header), rows: 9 })), {
    code: 'Newer',
    message: /rows have format 9/,
  })
  await t.rejects(said(magic, '{}'), { code: 'Altered', message: /incomplete/ })
})

t.test('sealed files travel as they are, and a reader that ends early ends the read of the store', async t => {
  const store = await filled()
  t.teardown(() => store.close())
  const sealed = { facts: { names: ['ca.key'], salt: 'c2FsdA==', cost: 14 }, bytes: Buffer.from('sealed bytes') }
  const whole = await archived(store, { ...FACTS, sealed })
  let found: Buffer | undefined
  const { header } = await readArchive(pieces(whole), {
    sealed: bytes => {
      found = bytes
    },
  })
  t.strictSame(found, sealed.bytes)
  t.strictSame(header.sealed, sealed.facts)
  let rests = 0
  const work = { due: true, rest: async () => void rests++ }
  for await (const _ of writeArchive(store, { ...FACTS, work })) break
  const before = rests
  await restless.rest()
  t.equal(rests, before, 'nothing is read any more')
})

t.test('the end of a store ends its archive with an error', async t => {
  const store = await filled()
  const writing = writeArchive(store, FACTS)
  await writing.next()
  await store.close()
  const read = async (): Promise<void> => {
    for await (const _ of writing);
  }
  await t.rejects(read(), { code: 'Closed' })
})
