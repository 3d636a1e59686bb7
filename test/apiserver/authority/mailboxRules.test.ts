/** Spaces below a mailbox: nobody gets in. */
import t from 'tap'
import { MailboxRules } from '../../../src/apiserver/authority/mailboxRules.ts'

const MAILBOX = 'root:espw:0123456789abcdef-mb-11111111-1111-4111-8111-111111111111'
const paths: Record<string, string> = { box: MAILBOX, below: `${MAILBOX}:child`, far: `${MAILBOX}:child:child` }

t.test('a space below a mailbox is closed to users, accounts and syncers', async t => {
  const rules = new MailboxRules({ tree: { pathOf: space => paths[space] }, demands: { of: async () => [] } })
  const resource = { group: '', version: 'v1', resource: 'configmaps', subresource: '', namespace: 'app', name: '' }
  const asks = (name: string, space: string) =>
    rules.decide({ user: { name, groups: ['system:authenticated'] }, space, verb: 'get', resource, path: '' })
  for (const name of [
    'alice',
    'system:serviceaccount:default:app',
    'system:serviceaccount:default:kubestellar-syncer',
  ]) {
    for (const space of ['below', 'far'])
      t.match(
        await asks(name, space),
        { allowed: false, reason: 'spaces below a mailbox are closed' },
        `${name} ${space}`,
      )
  }
  t.equal(await asks('alice', 'box'), undefined, 'in the mailbox itself its roles decide')
})
