/** The audit log as a file: nothing is lost when it is put aside, and old ones go. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { RotatingLog } from '../../../src/apiserver/audit/rotatingLog.ts'

const log = { error: () => {} }
const KEEP = { maxSizeMb: 1, maxBackups: 0, maxAgeDays: 0, log }
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

t.test('lines are appended over restarts, in a file for the owner only', async t => {
  const path = join(t.testdir(), 'audit.log')
  for (const line of ['one', 'two']) {
    const file = new RotatingLog({ clock: Date.now, ...KEEP, path })
    file.write(line)
    await file.close()
  }
  t.equal(readFileSync(path, 'utf8'), 'one\ntwo\n')
  t.equal(statSync(path).mode & 0o777, 0o600)
})

t.test('a full file is put aside; the newest few are kept, and nothing else is touched', async t => {
  const dir = t.testdir({ 'audit-notes.log': 'mine' })
  let now = Date.parse('2026-01-31T10:20:30.400Z')
  const file = new RotatingLog({ ...KEEP, path: join(dir, 'audit.log'), maxBackups: 2, clock: () => now })
  for (const name of ['a', 'b', 'c', 'd']) {
    file.write(name.repeat(700_000))
    await turn()
    now += 1000
  }
  await file.close()
  const names = readdirSync(dir).sort()
  t.strictSame(names, [
    'audit-2026-01-31T10-20-32.400.log',
    'audit-2026-01-31T10-20-33.400.log',
    'audit-notes.log',
    'audit.log',
  ])
  t.equal(names.map(name => readFileSync(join(dir, name), 'utf8')[0]).join(''), 'bcmd')
})

t.test('what is older than its days goes', async t => {
  const dir = t.testdir()
  const old = join(dir, 'audit-2026-01-01T00-00-00.000.log')
  const young = join(dir, 'audit-2026-01-09T00-00-00.000.log')
  for (const path of [old, young]) writeFileSync(path, '')
  const clock = (): number => Date.parse('2026-01-10T00:00:00Z')
  await new RotatingLog({ ...KEEP, path: join(dir, 'audit.log'), maxAgeDays: 5, clock }).close()
  t.notOk(existsSync(old))
  t.ok(existsSync(young))
})
