/** Folders of archives: which stay. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { keepNewest } from '../../../../src/cli/orrery/backup/archiveFolder.ts'
import { ARCHIVE_VERSION, MAGIC } from '../../../../src/storage/archive/archive.ts'
import { FORMAT } from '../../../../src/storage/level/rows.ts'
import { temporaryDir } from '../../../support/server.ts'

const at = (day: number): string => `orrery-2026010${day}T000000Z.orrery`

t.test('the newest stay, and whatever is not named after a moment', async t => {
  const dir = temporaryDir(t)
  const parts = [1, 4].map(day => `${at(day)}.0123abcd.partial`)
  for (const name of [at(1), at(2), at(3), at(4), ...parts, 'mine.orrery', 'orrery-1.orrery'])
    writeFileSync(join(dir, name), '')
  t.strictSame(await keepNewest(dir, { keep: 2, last: at(4), revision: 9 }), {
    gone: [at(1), parts[0], at(2)],
    foreign: [],
  })
  t.strictSame(readdirSync(dir).sort(), ['mine.orrery', 'orrery-1.orrery', at(3), at(4), parts[1]].sort())
  const none = { gone: [], foreign: [] }
  t.strictSame(await keepNewest(dir, { keep: 5, last: at(4), revision: 9 }), none, 'fewer than that all stay')
})

t.test('the archive that was written last stays, also where the clock was set back', async t => {
  const dir = temporaryDir(t)
  for (const name of [at(1), at(8), at(9)]) writeFileSync(join(dir, name), '')
  t.strictSame(await keepNewest(dir, { keep: 1, last: at(1), revision: 9 }), { gone: [at(8), at(9)], foreign: [] })
  t.strictSame(readdirSync(dir), [at(1)])
})

t.test('archives of before the loss of all data stay when an empty server is archived', async t => {
  const dir = temporaryDir(t)
  const archive = (day: number, revision: number): void => {
    const header = {
      rows: FORMAT,
      program: 'orrery',
      takenAt: '2026-01-01T00:00:00Z',
      revision,
      objects: 0,
      outside: {},
    }
    writeFileSync(join(dir, at(day)), `${MAGIC}${ARCHIVE_VERSION}\n${JSON.stringify(header)}\n`)
  }
  for (const [day, revision] of [
    [1, 5000],
    [2, 6000],
    [3, 10],
    [4, 20],
    [5, 30],
  ] as const)
    archive(day, revision)
  t.strictSame(await keepNewest(dir, { keep: 2, last: at(5), revision: 30 }), {
    gone: [at(3)],
    foreign: [at(1), at(2)],
  })
  t.strictSame(readdirSync(dir).sort(), [at(1), at(2), at(4), at(5)])
})
