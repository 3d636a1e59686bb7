/** Folders of archives: which stay. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { holdsKeys, keepNewest } from '../../../../src/cli/orrery/backup/archiveFolder.ts'
import { ARCHIVE_VERSION, MAGIC } from '../../../../src/storage/archive/archive.ts'
import { FORMAT } from '../../../../src/storage/level/rows.ts'
import { temporaryDir } from '../../../support/server.ts'

const at = (day: number): string => `orrery-2026010${day}T000000Z.orrery`

function archive(dir: string, day: number, more: object): void {
  const header = { rows: FORMAT, program: 'orrery', takenAt: '2026-01-01T00:00:00Z', objects: 0, outside: {}, ...more }
  writeFileSync(join(dir, at(day)), `${MAGIC}${ARCHIVE_VERSION}\n${JSON.stringify(header)}\n`)
}

t.test('the newest stay, and whatever is not named after a moment', async t => {
  const dir = temporaryDir(t)
  const parts = [1, 4].map(day => `${at(day)}.0123abcd.partial`)
  for (const name of [at(1), at(2), at(3), at(4), ...parts, 'mine.orrery', 'orrery-1.orrery'])
    writeFileSync(join(dir, name), '')
  t.strictSame(await keepNewest(dir, { keep: 2, last: at(4), revision: 9, hasKeys: false }), {
    gone: [at(1), parts[0], at(2)],
    foreign: [],
    withKeys: [],
  })
  t.strictSame(readdirSync(dir).sort(), ['mine.orrery', 'orrery-1.orrery', at(3), at(4), parts[1]].sort())
  const none = { gone: [], foreign: [], withKeys: [] }
  t.strictSame(
    await keepNewest(dir, { keep: 5, last: at(4), revision: 9, hasKeys: false }),
    none,
    'fewer than that all stay',
  )
})

t.test('the archive that was written last stays, also where the clock was set back', async t => {
  const dir = temporaryDir(t)
  for (const name of [at(1), at(8), at(9)]) writeFileSync(join(dir, name), '')
  t.strictSame(await keepNewest(dir, { keep: 1, last: at(1), revision: 9, hasKeys: false }), {
    gone: [at(8), at(9)],
    foreign: [],
    withKeys: [],
  })
  t.strictSame(readdirSync(dir), [at(1)])
})

t.test('archives of before the loss of all data stay when an empty server is archived', async t => {
  const dir = temporaryDir(t)
  for (const [day, revision] of [
    [1, 5000],
    [2, 6000],
    [3, 10],
    [4, 20],
    [5, 30],
  ] as const)
    archive(dir, day, { revision })
  t.strictSame(await keepNewest(dir, { keep: 2, last: at(5), revision: 30, hasKeys: false }), {
    gone: [at(3)],
    foreign: [at(1), at(2)],
    withKeys: [],
  })
  t.strictSame(readdirSync(dir).sort(), [at(1), at(2), at(4), at(5)])
})

t.test('archives with keys never go for one that has none, and go for one that has', async t => {
  const dir = temporaryDir(t)
  const sealed = { names: ['ca.key'], salt: 'AAAA', cost: 15 }
  for (const day of [1, 2, 5, 6]) archive(dir, day, { revision: day, ...(day < 4 && { sealed }) })
  const kept = { keep: 1, revision: 9 }
  t.strictSame(await keepNewest(dir, { ...kept, last: at(6), hasKeys: false }), {
    gone: [at(5)],
    foreign: [],
    withKeys: [at(1), at(2)],
  })
  t.notOk(holdsKeys({ sealed: { ...sealed, names: [] } }), 'a data dir without keys, sealed')
  archive(dir, 7, { revision: 7, sealed })
  t.strictSame(await keepNewest(dir, { ...kept, keep: 2, last: at(7), hasKeys: true }), {
    gone: [at(1), at(2)],
    foreign: [],
    withKeys: [],
  })
  t.strictSame(readdirSync(dir).sort(), [at(6), at(7)])
})
