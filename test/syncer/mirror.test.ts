/** What a syncer remembers over a restart, and that a damaged memory is never believed. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { StreamEvent } from '../../src/client/client.ts'
import { MailboxMirror } from '../../src/syncer/mirror.ts'

const MAILBOX = 'x-mb-1'
const STATE = { mailbox: MAILBOX, space: 'm', cursor: 7 }
const resource = { group: '', version: 'v1', resource: 'secrets' }
const key = { group: '', resource: 'secrets', namespace: 'a', name: 's' }
const event = {
  type: 'ADDED',
  resource,
  object: {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'a', managedFields: [{ manager: 'x' }] },
    data: { k: 'c2VjcmV0' },
  },
} as unknown as StreamEvent

t.test('what was saved is there again, readable by nobody else', async t => {
  const dir = t.testdir()
  const mirror = new MailboxMirror()
  mirror.apply(key, event)
  await mirror.save(dir, STATE)
  t.equal(statSync(join(dir, 'mailbox.json')).mode & 0o777, 0o600)
  const other = new MailboxMirror()
  t.same(await other.load(dir, MAILBOX), STATE)
  t.same(other.get(key)?.object.data, { k: 'c2VjcmV0' })
  t.notOk(other.get(key)?.object.metadata.managedFields, 'notes about writers are not kept')
})

t.test('no file is no state', async t => {
  t.equal(await new MailboxMirror().load(t.testdir(), MAILBOX), undefined)
})

t.test(
  'what was saved of another mailbox is none of ours, nor is that of a release that did not say which',
  async t => {
    const dir = t.testdir()
    const mirror = new MailboxMirror()
    mirror.apply(key, event)
    for (const mailbox of ['x-mb-2', undefined]) {
      await mirror.save(dir, { ...STATE, mailbox })
      const other = new MailboxMirror()
      t.equal(await other.load(dir, MAILBOX), undefined)
      t.equal(other.size, 0)
    }
  },
)

t.test('a damaged file is refused as a whole, without quoting it', async t => {
  const dir = t.testdir()
  const path = join(dir, 'mailbox.json')
  const mirror = new MailboxMirror()
  mirror.apply(key, event)
  await mirror.save(dir, STATE)
  const good = readFileSync(path, 'utf8')
  for (const bad of [
    good.slice(0, -20),
    '',
    '{}',
    '[]',
    good.replace('"format":1', '"format":2'),
    good.replace('"cursor":7', '"cursor":"7"'),
    good.replace('"metadata"', '"meta"'),
  ]) {
    writeFileSync(path, bad)
    const other = new MailboxMirror()
    await t.rejects(other.load(dir, MAILBOX), /^(?!.*c2VjcmV0)/)
    t.equal(other.size, 0)
  }
})
