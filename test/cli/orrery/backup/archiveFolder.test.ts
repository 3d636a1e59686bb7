/** Folders of archives: which stay. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { keepNewest } from '../../../../src/cli/orrery/backup/archiveFolder.ts'
import { temporaryDir } from '../../../support/server.ts'

const at = (day: number): string => `orrery-2026010${day}T000000Z.orrery`

t.test('the newest stay, and whatever is not named after a moment', async t => {
  const dir = temporaryDir(t)
  const parts = [1, 4].map(day => `${at(day)}.0123abcd.partial`)
  for (const name of [at(1), at(2), at(3), at(4), ...parts, 'mine.orrery', 'orrery-1.orrery'])
    writeFileSync(join(dir, name), '')
  t.strictSame(await keepNewest(dir, { keep: 2, last: at(4) }), [at(1), parts[0], at(2)])
  t.strictSame(readdirSync(dir).sort(), ['mine.orrery', 'orrery-1.orrery', at(3), at(4), parts[1]].sort())
  t.strictSame(await keepNewest(dir, { keep: 5, last: at(4) }), [], 'fewer than that all stay')
})

t.test('the archive that was written last stays, also where the clock was set back', async t => {
  const dir = temporaryDir(t)
  for (const name of [at(1), at(8), at(9)]) writeFileSync(join(dir, name), '')
  t.strictSame(await keepNewest(dir, { keep: 1, last: at(1) }), [at(8), at(9)])
  t.strictSame(readdirSync(dir), [at(1)])
})
