/**
 * Every way in which a store can be hurt is found when it opens, and named; nothing of it is served. And what only looks like
 * damage, because a crash or a power cut left it so, is none.
 */
import { cp, mkdtemp, open, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import t, { type Test } from 'tap'
import { keyText } from '../../../src/storage/keys.ts'
import type { Database } from '../../../src/storage/level/database.ts'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { objectRow, versionRow } from '../../../src/storage/level/rows.ts'
import { key, put, readWatch } from '../support.ts'

const root = await mkdtemp(join(tmpdir(), 'orrery-damage-'))
t.teardown(() => rm(root, { recursive: true }))

/** Texts that LevelDB cannot compress, so that they lie in its files as they are. */
const noise = (seed: number): string => {
  let state = seed + 1
  let text = ''
  while (text.length < 800) {
    state = (state * 48271) % 2147483647
    text += state.toString(36)
  }
  return text
}
const name = (i: number): string => `n${String(i).padStart(3, '0')}`
const rowOf = (i: number): string => objectRow(keyText(key(name(i))))

/** 300 objects in tables, 90 of them changed and 10 new ones in the log: 400 revisions. */
const whole = join(root, 'whole')
const older = join(root, 'older')
await (async () => {
  const path = join(whole, 'store')
  let store = await openLevelStore({ path })
  for (let i = 0; i < 300; i += 50)
    await store.writeMany(
      Array.from({ length: 50 }, (_, j) => ({ key: key(name(i + j)), mutation: put(noise(i + j)), expect: 0 })),
    )
  await store.close()
  await cp(whole, older, { recursive: true })
  // What is in the log when a store opens becomes a table.
  store = await openLevelStore({ path })
  for (let i = 0; i < 90; i++) await store.update(key(name(i)), () => put(noise(1000 + i)))
  for (let i = 300; i < 310; i++) await store.update(key(name(i)), () => put(noise(i)))
  await store.close()
})()

let copies = 0
async function hurt(how: (path: string, dir: string) => Promise<unknown>): Promise<string> {
  const dir = join(root, `copy${copies++}`)
  await cp(whole, dir, { recursive: true })
  await how(join(dir, 'store'), dir)
  return join(dir, 'store')
}

async function fileOf(path: string, extension: RegExp): Promise<string> {
  const found = (await readdir(path)).filter(file => extension.test(file))
  const sized = await Promise.all(found.map(async file => ({ file, bytes: (await readFile(join(path, file))).length })))
  return join(path, sized.sort((a, b) => b.bytes - a.bytes)[0]!.file)
}

/** Flips a bit at a part of the file (0 to 1), or behind a text in it. */
const flip = (extension: RegExp, at: number | string) => async (path: string) => {
  const file = await fileOf(path, extension)
  const bytes = await readFile(file)
  const place =
    typeof at === 'number' ? Math.floor(at < 0 ? bytes.length + at : at * bytes.length) : bytes.indexOf(at) + 20
  bytes[place]! ^= 4
  await writeFile(file, bytes)
}
/** A bit of the first entry of a table's index, whose place the last 48 bytes tell, as numbers of 7 bits a byte. */
const flipIndex = async (path: string) => {
  const file = await fileOf(path, TABLE)
  const bytes = await readFile(file)
  let at = bytes.length - 48
  const number = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
  }
  const [, , index] = [number(), number(), number()]
  bytes[index! + 2]! ^= 4
  await writeFile(file, bytes)
}
const cut = (extension: RegExp, to: (bytes: number) => number) => async (path: string) => {
  const file = await fileOf(path, extension)
  await truncate(file, to((await readFile(file)).length))
}
const remove = (extension: RegExp) => async (path: string) => await rm(await fileOf(path, extension))
const zero = (extension: RegExp) => async (path: string) => {
  const file = await fileOf(path, extension)
  await writeFile(file, Buffer.alloc((await readFile(file)).length))
}
const rows = (change: (db: Database) => Promise<unknown>) => async (path: string) => {
  const db: Database = new Level(path, { keyEncoding: 'utf8', valueEncoding: 'buffer' })
  await change(db)
  await db.close()
}

const LOG = /\.log$/
const TABLE = /\.ldb$/
const MANIFEST = /^MANIFEST/
const CURRENT = /^CURRENT$/

const damages: [what: string, how: (path: string, dir: string) => Promise<unknown>, named: RegExp][] = [
  [
    'a bit of the log, in its first record',
    flip(LOG, 0.01),
    /log entries are missing: revision 301–3\d\d;.*skipped records: \d+\.log: dropping/,
  ],
  [
    'a bit of the log, in its middle',
    flip(LOG, 0.5),
    /log entr.*missing: revision 3\d\d–3\d\d;.*skipped records: \d+\.log: dropping/,
  ],
  ['a bit of the log, in its last record', flip(LOG, -100), /1 acknowledged write is missing: revision 400 .* 399/],
  ['the log, cut by 7 bytes', cut(LOG, n => n - 7), /1 acknowledged write is missing: revision 400 was .* here is 399/],
  ['the log, cut in half', cut(LOG, n => n >> 1), /\d+ acknowledged writes are missing: revision 400/],
  ['the log, emptied', cut(LOG, () => 0), /100 acknowledged writes are missing: .* here is 300/],
  ['the log, deleted', remove(LOG), /100 acknowledged writes are missing: .* here is 300/],
  ['the log, zeroed', zero(LOG), /100 acknowledged writes are missing: .* here is 300/],
  [
    'a bit of an object in a table',
    flip(TABLE, noise(150).slice(400, 420)),
    /1 row does not match.*deployments.apps default\/n150 of space s1/,
  ],
  ['a bit of a key in a table', flip(TABLE, 'apps\0deployments'), /row does not match.*defeult/],
  ['a bit of the index of a table', flipIndex, /LevelDB cannot read|log entr.* missing/],
  ['a bit of the end of a table', flip(TABLE, -3), /LevelDB cannot read it: .*bad magic number/],
  ['a table, cut in half', cut(TABLE, n => n >> 1), /LevelDB cannot read it/],
  ['a table, zeroed', zero(TABLE), /LevelDB cannot read it/],
  ['a table, deleted', remove(TABLE), /LevelDB cannot open it: .*missing files/],
  ['a bit of the manifest', flip(MANIFEST, 0.5), /LevelDB cannot open it: Corruption/],
  ['the manifest, emptied', cut(MANIFEST, () => 0), /LevelDB cannot open it: Corruption/],
  ['the manifest, deleted', remove(MANIFEST), /LevelDB cannot open it: .*MANIFEST/],
  ['CURRENT, emptied', cut(CURRENT, () => 0), /LevelDB cannot open it: .*CURRENT/],
  ['CURRENT, deleted', remove(CURRENT), /its file CURRENT is missing/],
  ['an object, deleted', rows(db => db.del(rowOf(77))), /1 object is missing: 309 of 310/],
  [
    'the database, gone',
    path => rm(path, { recursive: true }),
    /the database is gone; revision 400 had been acknowledged/,
  ],
]

const more: typeof damages = [
  ['an object, put back to its older version', rows(async db => {
      const id = keyText(key(name(3)))
      await db.put(objectRow(id), (await db.get(versionRow(4)))!)
    }), /1 row does not match.*n003/],
  ['an old version, deleted', rows(db => db.del(versionRow(5))), /1 old version is missing from the history/],
  ['a row of somebody else', rows(db => db.put('x/1', Buffer.from('?'))), /1 row does not match.*"x\/1"/],
  ['the record of the newest batch, deleted', rows(db => db.del('m/state')), /record of the newest batch is missing/],
  ['the record of the format, deleted', rows(db => db.del('m/format')), /record of its format is missing/],
  ['an object under the name of another', rows(async db => await db.put(rowOf(400), (await db.get(rowOf(7)))!)), /1 row does not match.*n400/],
  ['two objects exchanged for older ones', rows(async db => {
      await db.put(rowOf(100), (await db.get(rowOf(101)))!)
    }), /1 row does not match.*n100/],
  ['an older copy of the database below the newer mark', async (path, dir) => {
      await rm(path, { recursive: true })
      await cp(join(older, 'store'), join(dir, 'store'), { recursive: true })
    }, /100 acknowledged writes are missing: .* here is 300/],
  ['CURRENT names a manifest that is not there', path => writeFile(join(path, 'CURRENT'), 'MANIFEST-000099\n'), /LevelDB cannot open it: .*MANIFEST-000099/],
] // biome-ignore format: one line for what is hurt, one for how it is named

async function contentOf(dir: string): Promise<string> {
  const files = (await readdir(dir, { recursive: true, withFileTypes: true })).filter(f => f.isFile())
  const texts = files
    .filter(file => !file.name.startsWith('LOCK'))
    .map(async f => `${f.name} ${(await readFile(join(f.parentPath, f.name))).toString('base64')}`)
  return (await Promise.all(texts)).sort().join('\n')
}

t.equal(damages.length, 22)
for (const [what, how, named] of [...damages, ...more])
  t.test(`hurt: ${what}`, async t => {
    const path = await hurt(how)
    const before = await contentOf(join(path, '..'))
    const message = new RegExp(
      `${path} is damaged: .*(${named.source}).*Nothing was changed.*backup.*--accept-loss`,
      's',
    )
    for (const attempt of ['first', 'second'])
      await t.rejects(openLevelStore({ path }), { code: 'Damaged', message }, `the ${attempt} start says so`)
    t.equal(await contentOf(join(path, '..')), before, 'and nothing was changed')
  })

t.test('keys without a store are a loss; without keys it is a beginning', async t => {
  const path = join(root, 'keysOnly', 'store')
  await t.rejects(openLevelStore({ path, established: true }), { code: 'Damaged', message: /is gone, and the keys/ })
  await (await openLevelStore({ path })).close()
})

async function opens(t: Test, path: string, revision: number): Promise<void> {
  const store = await openLevelStore({ path, established: true })
  t.equal(store.revision, revision)
  t.equal((await readWatch(store, {}, 0, revision)).length, revision)
  await store.close()
}

t.test('what is not damage: torn ends, a mark that is behind or lost, a creation that was cut short', async t => {
  await opens(t, await hurt(async () => {}), 400)
  await opens(t, await hurt((_, dir) => rm(join(dir, 'store.acknowledged'))), 400)
  await opens(t, await hurt((_, dir) => writeFile(join(dir, 'store.acknowledged'), '')), 400)
  await opens(t, await hurt((_, dir) => writeFile(join(dir, 'store.acknowledged'), Buffer.alloc(17))), 400)
  const mark = (revision: number) => `${String(revision).padStart(16, '0')}\n`
  await opens(t, await hurt((_, dir) => writeFile(join(dir, 'store.acknowledged'), mark(17))), 400)
  // A write that was not acknowledged: its record is torn, or not there, or pages of it were never written.
  const unacknowledged = (tear: (log: string) => Promise<unknown>) => async (path: string, dir: string) => {
    await writeFile(join(dir, 'store.acknowledged'), mark(399))
    await tear(await fileOf(path, LOG))
  }
  const bytesOf = async (file: string) => (await readFile(file)).length
  for (const tear of [
    async (log: string) => await truncate(log, (await bytesOf(log)) - 7),
    async (log: string) => {
      const file = await open(log, 'r+')
      await file.write(Buffer.alloc(60), 0, 60, (await bytesOf(log)) - 60)
      await file.close()
    },
  ])
    await opens(t, await hurt(unacknowledged(tear)), 399)
  const cutShort = join(root, 'cutShort', 'store')
  const db = new Level(cutShort)
  await db.open()
  await db.close()
  const store = await openLevelStore({ path: cutShort })
  t.equal(store.revision, 0)
  await store.close()
})

t.test('a copy of the whole data folder, put back, is no damage, however old', async t => {
  const dir = join(root, 'restored')
  await cp(whole, dir, { recursive: true })
  await rename(dir, `${dir}-away`)
  await cp(older, dir, { recursive: true })
  await opens(t, join(dir, 'store'), 300)
})

t.test('what a crash left of an earlier look is cleared away', async t => {
  const path = await hurt(async path => await cp(path, `${path}.check-abcdef`, { recursive: true }))
  await opens(t, path, 400)
  t.same((await readdir(join(path, '..'))).sort(), ['store', 'store.acknowledged'])
})
