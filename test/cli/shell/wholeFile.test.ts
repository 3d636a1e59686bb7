/** Files that appear whole: with hard links and without, and nothing is replaced. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { giveName, writeWhole } from '../../../src/cli/shell/wholeFile.ts'
import { temporaryDir } from '../../support/server.ts'

t.test('a file that is not filled leaves nothing, and one that is belongs to its owner alone', async t => {
  const dir = temporaryDir(t)
  const path = join(dir, 'f')
  const fault = new Error('broke off')
  await t.rejects(
    writeWhole(path, async write => {
      await write(Buffer.from('half'))
      throw fault
    }),
    fault,
  )
  t.strictSame(readdirSync(dir), [])
  t.equal(await writeWhole(path, async write => await write(Buffer.from('whole')).then(() => 1)), 1)
  t.equal(statSync(path).mode & 0o777, 0o600)
  await t.rejects(
    writeWhole(path, async write => await write(Buffer.from('other'))),
    /is there already/,
  )
  t.equal(readFileSync(path, 'utf8'), 'whole')
  t.strictSame(readdirSync(dir), ['f'])
})

t.test('a file gets its name and replaces nothing, with hard links and without', async t => {
  const refusing = (code: string) => async (): Promise<void> => {
    throw Object.assign(new Error(code), { code })
  }
  for (const linked of [undefined, refusing('EPERM'), refusing('ENOTSUP')]) {
    const dir = temporaryDir(t)
    const [partial, path] = [join(dir, 'p.partial'), join(dir, 'p')]
    writeFileSync(partial, 'whole')
    await giveName(partial, path, linked)
    t.equal(readFileSync(path, 'utf8'), 'whole')
    const other = join(dir, 'other.partial')
    writeFileSync(other, 'other')
    await t.rejects(giveName(other, path, linked), { code: 'EEXIST' })
    t.equal(readFileSync(path, 'utf8'), 'whole')
  }
  await t.rejects(giveName('a', 'b', refusing('ENOSPC')), { code: 'ENOSPC' })
})
