/** Two files name the newest acknowledged revision: the loss of the newest writes is noticed while one of them is left. */
import { cp, mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { Acknowledged, acknowledgedPath, readAcknowledged } from '../../../src/storage/level/acknowledged.ts'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { assessLoss } from '../../../src/storage/level/salvage.ts'
import { key, put } from '../support.ts'
import { fileOf, LOG } from './damages.ts'

const root = await mkdtemp(join(tmpdir(), 'orrery-witness-'))
t.teardown(() => rm(root, { recursive: true }))

const filesOf = (dir: string) => ({ path: join(dir, 'store'), witness: join(dir, 'keys', 'store.acknowledged') })

/** 40 acknowledged writes. */
const whole = join(root, 'whole')
const store = await openLevelStore(filesOf(whole))
for (let i = 0; i < 40; i++) await store.update(key(`n${i}`), () => put('x'))
await store.close()

let copies = 0
async function copy(): Promise<ReturnType<typeof filesOf>> {
  const dir = join(root, `copy${copies++}`)
  await cp(whole, dir, { recursive: true })
  return filesOf(dir)
}

t.test('the log is cut, and one of the files is gone', async t => {
  for (const lost of ['first', 'witness', 'neither'] as const) {
    const files = await copy()
    await truncate(await fileOf(files.path, LOG), 0)
    if (lost !== 'neither') await rm(lost === 'first' ? acknowledgedPath(files.path) : files.witness)
    const message = /acknowledged writes? (are|is) missing: revision 40 was acknowledged/
    await t.rejects(openLevelStore(files), { code: 'Damaged', message }, lost)
    t.match((await assessLoss(files))?.findings.join(), message)
  }
})

t.test('the database is gone, and one of the files', async t => {
  for (const lost of ['first', 'witness'] as const) {
    const files = await copy()
    await rm(files.path, { recursive: true })
    await rm(lost === 'first' ? acknowledgedPath(files.path) : files.witness)
    await t.rejects(openLevelStore(files), { code: 'Damaged', message: /is gone; revision 40 had been acknowledged/ })
  }
})

t.test('a lost or older file is made anew', async t => {
  for (const hurt of [(file: string) => rm(file), (file: string) => writeFile(file, `${'7'.padStart(16, '0')}\n`)])
    for (const which of ['first', 'witness'] as const) {
      const files = await copy()
      await hurt(which === 'first' ? acknowledgedPath(files.path) : files.witness)
      const store = await openLevelStore(files)
      t.equal(store.revision, 40)
      await store.close()
      t.equal(await readAcknowledged({ path: files.path }), 40)
      t.equal(await readAcknowledged({ path: join(root, 'none'), witness: files.witness }), 40)
    }
})

t.test('a witness that cannot be written is reported, and stops nothing', async t => {
  const dir = join(root, 'unwritable')
  await mkdir(dir)
  await writeFile(join(dir, 'keys'), 'a file where a folder would be')
  const errors: unknown[] = []
  const acknowledged = await Acknowledged.open(filesOf(dir), 7, error => errors.push(error))
  acknowledged.note(8)
  await acknowledged.close()
  t.equal(errors.length, 1)
  t.equal(await readAcknowledged({ path: join(dir, 'store') }), 8)
})

t.test('a store restored whole is no damage, however old', async t => {
  const files = await copy()
  const store = await openLevelStore(files)
  await store.update(key('more'), () => put('x'))
  await store.close()
  await rm(join(files.path, '..'), { recursive: true })
  await cp(whole, join(files.path, '..'), { recursive: true })
  const restored = await openLevelStore(files)
  t.equal(restored.revision, 40)
  await restored.close()
})
