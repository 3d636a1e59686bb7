/** A write of cluster content into an object that stays in its space gives a warning. */
import t from 'tap'
import { createSpace, startTestServer } from '../../support/server.ts'

const { api } = await startTestServer(t, { serviceAccounts: true })
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'
const ACCOUNT = `${ACCOUNTS}/default`
const SECRETS = '/api/v1/namespaces/default/secrets'
const pulls = (...names: string[]) => ({ imagePullSecrets: names.map(name => ({ name })) })
const token = (name: string) => ({ metadata: { name }, type: 'bootstrap.kubernetes.io/token' })

for (const type of ['workload', 'workload-rbac'])
  t.test(`in a space of type ${type}`, async t => {
    const space = api.in(await createSpace(api, type, type))
    await api.ok(space.post(ACCOUNTS, { metadata: { name: 'default' } }))
    const warningOf = async (body: object): Promise<unknown> =>
      (await space.patch(ACCOUNT, 'merge', body)).headers.warning
    t.match(await warningOf(pulls('hub')), /has its own ServiceAccount \\"default\\", so this one stays in the space/)
    t.equal(await warningOf({ metadata: { labels: { a: 'b' } } }), undefined, 'not again')
    t.match(await warningOf(pulls('hub', 'other')), /stays in the space/)
    t.equal(await warningOf(pulls()), undefined)
    t.match(await warningOf({ automountServiceAccountToken: false }), /stays in the space/)
    t.match((await space.post(SECRETS, token('t'))).headers.warning, /is for the space itself and stays there/)
  })

t.test('a space of another type, from its first placement on', async t => {
  const space = api.in(await createSpace(api, 'plain', 'universal'))
  await api.ok(space.post(ACCOUNTS, { metadata: { name: 'default' } }))
  t.equal((await space.patch(ACCOUNT, 'merge', pulls('hub'))).headers.warning, undefined)
  const path = '/apis/edge.kubestellar.io/v2alpha1/edgeplacements'
  const spec = { locationSelectors: [], downsync: [{ resources: ['serviceaccounts'], objectNames: ['default'] }] }
  t.match(
    (await space.post(path, { metadata: { name: 'p' }, spec })).headers.warning,
    /spec\.downsync\[0\]\.objectNames: each cluster/,
  )
  t.match((await space.patch(ACCOUNT, 'merge', pulls('other'))).headers.warning, /stays in the space/)
})
