/** Facts about a store's folder without its database. */
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { bytesIn } from '../../../src/storage/level/storeFolder.ts'
import { temporaryDir } from '../../support/temporaryDir.ts'

t.test('a file that the database removes while files are counted counts nothing', async t => {
  const folder = temporaryDir(t)
  await writeFile(join(folder, '000003.log'), 'twelve bytes')
  // listed, and gone at its read
  await symlink(join(folder, 'gone'), join(folder, '000005.ldb'))
  t.equal(await bytesIn(folder), 12)
  t.equal(await bytesIn(join(folder, 'none')), 0)
})
