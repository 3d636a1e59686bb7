// Health is about one content: a verdict about former content does not count for the present one.
import t from 'tap'
import { Mailbox } from '../../../../src/controllers/placement/mailboxes/mailbox.ts'
import { contentHash } from '../../../../src/placement/outcome/contentHash.ts'
import { HEALTHY, healthOf } from '../../../../src/placement/outcome/health.ts'
import { objectKey } from '../../../../src/placement/words/names.ts'

const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' }
const [WEB, DB] = [objectKey(DEPLOYMENTS, 'shop', 'web'), objectKey(DEPLOYMENTS, 'shop', 'db')]

const deployment = (image: string, status: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', generation: 2 },
  spec: { replicas: 1, template: { image } },
  status,
})
const UNAVAILABLE = { observedGeneration: 2, conditions: [{ type: 'Available', status: 'False', message: 'crash' }] }

function setUp() {
  const mailbox = new Mailbox('florin', 'space')
  for (const key of [WEB, DB]) {
    mailbox.copies.set(key, {
      resource: DEPLOYMENTS,
      uid: key,
      resourceVersion: '1',
      terminating: false,
      owner: 'w',
      settled: true,
    })
  }
  const note = (key: string, object: ReturnType<typeof deployment>) =>
    mailbox.health.note(key, healthOf(DEPLOYMENTS, object), () => contentHash(object))
  return { mailbox, note }
}

t.test('the hash is that of all but metadata and status, in any order of members', async t => {
  const { spec, ...rest } = deployment('a', UNAVAILABLE)
  t.equal(contentHash(deployment('a')), contentHash({ ...rest, spec: { template: spec.template, replicas: 1 } }))
  t.equal(contentHash({ ...deployment('a'), metadata: { name: 'other' } }), contentHash(deployment('a')))
  t.not(contentHash(deployment('a')), contentHash(deployment('b')))
})

t.test('a verdict counts for the content that it is about, in one object and not in the other', async t => {
  const { mailbox, note } = setUp()
  const [a, b] = [contentHash(deployment('a')), contentHash(deployment('b'))]
  note(WEB, deployment('a', UNAVAILABLE))
  t.not(mailbox.healthIn(WEB, a)?.health, 'Healthy')
  t.equal(mailbox.healthIn(WEB, b), undefined)
  t.equal(mailbox.healthIn(DB, b), HEALTHY)
  t.notOk(note(WEB, deployment('b', UNAVAILABLE)), 'the same verdict about other content is no change of health')
  t.equal(mailbox.healthIn(WEB, a), undefined)
  t.not(mailbox.healthIn(WEB, b)?.health, 'Healthy')
})

t.test('content that its cluster has not processed has no health yet, nor has a copy that is gone', async t => {
  const { mailbox } = setUp()
  const a = contentHash(deployment('a'))
  mailbox.changes.changed(WEB, 7)
  t.equal(mailbox.healthIn(WEB, a), undefined)
  t.equal(mailbox.healthIn(DB, a), HEALTHY)
  mailbox.changes.processed(7)
  t.equal(mailbox.healthIn(WEB, a), HEALTHY)
  mailbox.changes.name(WEB)
  t.equal(mailbox.healthIn(WEB, a), undefined, 'the claims on it have changed')
  mailbox.copies.delete(DB)
  t.equal(mailbox.healthIn(DB, a), undefined)
})
