import t from 'tap'
import { InternedNames } from '../../../../src/controllers/placement/mailboxes/internedNames.ts'

const kindOf = (version: string) => ({ group: 'apps', version, resource: 'deployments' })

t.test('facts of copies in a thousand mailboxes name their kinds by one object each', async t => {
  const names = new InternedNames()
  const first = kindOf('v1')
  t.equal(names.kind(first), first)
  t.equal(names.kind(kindOf('v1')), first)
  t.same(names.kind(kindOf('v1beta1')), kindOf('v1beta1'))
  t.same(names.kind({ ...first, group: '' }), { ...first, group: '' })
})

t.test('names of any number of objects come back as they are', async t => {
  const names = new InternedNames()
  for (let i = 0; i < 50_000; i++) if (names.key(`k${i}`) !== `k${i}`) t.fail(`k${i}`)
  t.equal(names.key('k0'), 'k0')
})
