import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { Acknowledged, acknowledgedPath, readAcknowledged } from '../../../src/storage/level/acknowledged.ts'

const root = await mkdtemp(join(tmpdir(), 'orrery-acknowledged-'))
t.teardown(() => rm(root, { recursive: true }))
const fail = (error: unknown): never => {
  throw error
}

t.test('the file names the newest revision that was noted, at the latest when it is closed', async t => {
  const path = join(root, 'a')
  t.equal(await readAcknowledged({ path }), undefined)
  const acknowledged = await Acknowledged.open({ path }, 7, fail)
  t.equal(await readAcknowledged({ path }), 7)
  for (let revision = 8; revision < 500; revision++) acknowledged.note(revision)
  await acknowledged.close()
  t.equal(await readAcknowledged({ path }), 499)
  t.equal((await readFile(acknowledgedPath(path), 'utf8')).length, 17)
  await (await Acknowledged.open({ path }, 12, fail)).close()
  t.equal(await readAcknowledged({ path }), 12, 'a restored store is below what was there')
})

t.test('what is no revision counts as no file', async t => {
  const path = join(root, 'b')
  for (const text of ['', '\0'.repeat(17), '12', 'x'.repeat(17)]) {
    await writeFile(acknowledgedPath(path), text)
    t.equal(await readAcknowledged({ path }), undefined)
  }
})
