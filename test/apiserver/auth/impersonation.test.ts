import t from 'tap'
import { impersonate } from '../../../src/apiserver/auth/impersonation.ts'
import type { Attributes, UserInfo } from '../../../src/apiserver/auth/types.ts'

const master: UserInfo = { name: 'root', groups: ['system:masters'] }
const ann: UserInfo = { name: 'ann', groups: ['dev'] }
type Resource = NonNullable<Attributes['resource']>

function context(allow: (resource: Resource) => boolean = () => true) {
  const asked: Resource[] = []
  return {
    asked,
    space: 's1',
    authorize: async ({ resource }: Attributes) => {
      asked.push(resource!)
      return { allowed: allow(resource!), reason: '' }
    },
  }
}

t.test('without the headers one is oneself', async t => {
  t.equal(await impersonate(ann, { accept: '*/*' }, context()), undefined)
})

t.test('names are UTF-8, as which clients write them', async t => {
  const sent = (text: string): string => Buffer.from(text).toString('latin1')
  const headers = {
    'impersonate-user': sent('jürgen'),
    'impersonate-group': [sent('équipe')],
    'impersonate-extra-site': [sent('Zürich')],
  }
  t.match(await impersonate(master, headers, context()), {
    name: 'jürgen',
    groups: ['équipe', 'system:authenticated'],
    extra: { site: ['Zürich'] },
  })
})

t.test('each part is asked for', async t => {
  const all = context()
  const headers = {
    'impersonate-user': 'eve',
    'impersonate-group': ['a, b', 'c'],
    'impersonate-uid': '7',
    'impersonate-extra-example.com%2FTeam': ['x'],
  }
  t.same(await impersonate(master, headers, all), {
    name: 'eve',
    uid: '7',
    groups: ['a, b', 'c', 'system:authenticated'],
    extra: { 'example.com/team': ['x'] },
  })
  t.same(
    all.asked.map(r => `${r.group}/${r.resource}/${r.subresource}/${r.name}`),
    [
      '/users//eve',
      '/groups//a, b',
      '/groups//c',
      'authentication.k8s.io/userextras/example.com/team/x',
      'authentication.k8s.io/uids//7',
    ],
  )
  await t.rejects(
    impersonate(
      ann,
      headers,
      context(r => r.name !== 'c'),
    ),
    {
      message:
        'groups "c" is forbidden: User "ann" cannot impersonate resource "groups" in API group "" at the cluster scope',
    },
  )
})

t.test('ServiceAccounts come with their groups', async t => {
  const all = context()
  const headers = { 'impersonate-user': 'system:serviceaccount:ns:sa' }
  t.same((await impersonate(master, headers, all))?.groups, [
    'system:serviceaccounts',
    'system:serviceaccounts:ns',
    'system:authenticated',
  ])
  t.match(all.asked, [{ resource: 'serviceaccounts', namespace: 'ns', name: 'sa' }])
})

t.test('anonymous is not made authenticated', async t => {
  const groups = async (headers: Record<string, string>) => (await impersonate(master, headers, context()))?.groups
  t.same(await groups({ 'impersonate-user': 'system:anonymous' }), ['system:unauthenticated'])
  t.same(await groups({ 'impersonate-user': 'x', 'impersonate-group': 'system:unauthenticated' }), [
    'system:unauthenticated',
  ])
})

t.test("a space's administrator stays inside the space", async t => {
  const headers = { 'impersonate-user': 'eve' }
  const scopes = 'authentication.kcp.io/scopes'
  t.same((await impersonate(ann, headers, context()))?.extra, { [scopes]: ['cluster:s1'] })
  for (const group of ['system:masters', 'system:kcp:admin', 'system:cluster:s2']) {
    await t.rejects(impersonate(ann, { ...headers, 'impersonate-group': group }, context()), {
      reason: 'Forbidden',
      message: /reaches beyond this space/,
    })
  }
  t.ok(await impersonate(master, { ...headers, 'impersonate-group': 'system:masters' }, context()))
  const widened = { ...headers, [`impersonate-extra-${scopes}`]: 'cluster:s1,cluster:s2' }
  t.same((await impersonate(ann, widened, context()))?.extra?.[scopes], ['cluster:s1,cluster:s2', 'cluster:s1'])
  const confined = { ...master, extra: { [scopes]: ['cluster:s2'] } }
  await t.rejects(impersonate(confined, { ...headers, 'impersonate-group': 'system:kcp:admin' }, context()))
})

t.test('groups without a user are a mistake', async t => {
  await t.rejects(impersonate(master, { 'impersonate-group': 'dev' }, context()), {
    reason: 'BadRequest',
    message: 'requested [groups "dev"] without impersonating a user',
  })
})
