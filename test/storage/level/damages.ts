/**
 * A store to hurt, and the ways to hurt it: each with how the refusal names it.
 */
import { rmSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import { keyText } from '../../../src/storage/keys.ts'
import type { Database } from '../../../src/storage/level/database.ts'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { objectRow, versionRow } from '../../../src/storage/level/rows.ts'
import type { Mutation } from '../../../src/storage/store.ts'
import { key, put, putShared } from '../support.ts'

/** Folder of all damaged files; removed when their process ends. */
export const root = await mkdtemp(join(tmpdir(), 'orrery-damage-'))
process.once('exit', () => rmSync(root, { recursive: true, force: true }))

/** Texts that LevelDB cannot compress, so that they lie in its files as they are. */
export const noise = (seed: number): string => {
  let state = seed + 1
  let text = ''
  while (text.length < 800) {
    state = (state * 48271) % 2147483647
    text += state.toString(36)
  }
  return text
}
export const name = (i: number): string => `n${String(i).padStart(3, '0')}`
export const rowOf = (i: number): string => objectRow(keyText(key(name(i))))

/** One in three has an outline in its row. */
const putOf = (i: number, offset = 0): Mutation => (i % 3 === 0 ? putShared : put)(noise(offset + i))

/** 300 objects in tables, 90 of them changed and 10 new ones in the log: 400 revisions. */
export const whole = join(root, 'whole')
export const older = join(root, 'older')
await (async () => {
  const path = join(whole, 'store')
  let store = await openLevelStore({ path })
  for (let i = 0; i < 300; i += 50)
    await store.writeMany(
      Array.from({ length: 50 }, (_, j) => ({ key: key(name(i + j)), mutation: putOf(i + j), expect: 0 })),
    )
  await store.close()
  await cp(whole, older, { recursive: true })
  // The log of an opening store becomes a table.
  store = await openLevelStore({ path })
  for (let i = 0; i < 90; i++) await store.update(key(name(i)), () => putOf(i, 1000))
  for (let i = 300; i < 310; i++) await store.update(key(name(i)), () => putOf(i))
  await store.close()
})()

let copies = 0
export async function hurt(how: (path: string, dir: string) => Promise<unknown>): Promise<string> {
  const dir = join(root, `copy${copies++}`)
  await cp(whole, dir, { recursive: true })
  await how(join(dir, 'store'), dir)
  return join(dir, 'store')
}

export async function fileOf(path: string, extension: RegExp): Promise<string> {
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
export const rows = (change: (db: Database) => Promise<unknown>) => async (path: string) => {
  const db = new Level<string, Buffer>(path, { keyEncoding: 'utf8', valueEncoding: 'buffer' }) as Database
  await change(db)
  await db.close()
}

export const LOG = /\.log$/
const TABLE = /\.ldb$/
const MANIFEST = /^MANIFEST/
const CURRENT = /^CURRENT$/

export const damages: [what: string, how: (path: string, dir: string) => Promise<unknown>, named: RegExp][] = [
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

export const more: typeof damages = [
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
