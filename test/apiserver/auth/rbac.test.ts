import t, { type Test } from 'tap'
import type { Soon } from '../../../src/apimachinery/soon.ts'
import { RbacAuthorizer, type RbacOptions } from '../../../src/apiserver/auth/rbac.ts'
import { ruleAllows, ruleCovers } from '../../../src/apiserver/auth/rbacRules.ts'
import type { UserInfo } from '../../../src/apiserver/auth/types.ts'
import { WorkTurns } from '../../../src/program/workTurns.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import type { Store } from '../../../src/storage/store.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'
import { binding, put, remove, role, settled } from './support.ts'

const user = (name: string, ...groups: string[]): UserInfo => ({ name, groups: [...groups, 'system:authenticated'] })
const account = (space: string): UserInfo => ({
  name: 'system:serviceaccount:ns:sa',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
  extra: { 'authentication.kubernetes.io/cluster-name': [space] },
})
const access = (who: string) => binding('access', 'ClusterRole:system:kcp:workspace:access', [who])
const pods = (verbs: string[]) => ({ apiGroups: [''], resources: ['pods'], verbs })

async function setup(t: Test, options: Partial<RbacOptions> = {}) {
  const store = await openMemoryStore()
  const authorizer = new RbacAuthorizer({ turns: endlessTurns(), store, ...options })
  t.teardown(() => store.close())
  const may = (who: UserInfo, verb: string, resource: string, where: { space?: string; namespace?: string } = {}) => {
    const [name = '', subresource = ''] = resource.split('/')
    const asked = { group: '', version: 'v1', resource: name, subresource, namespace: where.namespace ?? '', name: '' }
    return authorizer.authorize({ user: who, space: where.space ?? 's1', verb, resource: asked, path: '' })
  }
  return { store, authorizer, may }
}

/** Whether ann may enter, where that is known without waiting. */
const now = (authorizer: RbacAuthorizer, space: string): boolean | undefined => {
  const may = authorizer.mayAccessSpace(user('ann'), space)
  return may instanceof Promise ? undefined : may
}

t.test('system:masters may everything, across spaces too, without a look at the store', async t => {
  const authorizer = new RbacAuthorizer({
    turns: endlessTurns(),
    store: { list: t.fail, project: () => () => {} } as unknown as Store,
  })
  const root = user('admin', 'system:masters')
  t.same(await authorizer.authorize({ user: root, space: '*', verb: 'list', path: '/x' }), {
    allowed: true,
    reason: '',
  })
  t.equal(await authorizer.mayAccessSpace(root, 's1'), true)
})

t.test('nobody else looks across spaces', async t => {
  const { may, authorizer } = await setup(t)
  t.equal((await may(user('ann'), 'list', 'pods', { space: '*' })).allowed, false)
  t.equal(await authorizer.mayAccessSpace(account('s1'), '*'), false)
})

t.test('a space is closed until a user may access it', async t => {
  const { store, may, authorizer } = await setup(t)
  await put(store, 's1', role('reader', [pods(['list'])]), binding('b', 'ClusterRole:reader', ['User:ann']))
  t.same(await may(user('ann'), 'list', 'pods'), { allowed: false, reason: 'no verb=access permission on /' })
  t.equal(await authorizer.mayAccessSpace(user('ann'), 's1'), false)
  await put(store, 's1', access('User:ann'))
  t.equal(await authorizer.mayAccessSpace(user('ann'), 's1'), true)
  const reason = 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to User "ann"'
  t.same(await may(user('ann'), 'list', 'pods'), { allowed: true, reason })
  t.equal((await may(user('ann'), 'list', 'pods', { space: 's2' })).allowed, false, 'other spaces stay closed')
})

t.test('the administrator of a space needs nothing beside cluster-admin', async t => {
  const { store, may } = await setup(t)
  await put(store, 's1', binding('workspace-admin', 'ClusterRole:cluster-admin', ['User:ann']))
  t.ok((await may(user('ann'), 'delete', 'secrets', { namespace: 'x' })).allowed)
  t.notOk((await may(user('bob'), 'get', 'secrets', { namespace: 'x' })).allowed)
})

t.test('ServiceAccounts enter their own space and are strangers elsewhere', async t => {
  const { store, may, authorizer } = await setup(t)
  for (const space of ['s1', 's2']) {
    await put(store, space, binding('b', 'ClusterRole:cluster-admin', ['ServiceAccount:ns/sa'], 'ns'))
  }
  t.equal(await authorizer.mayAccessSpace(account('s1'), 's1'), true)
  const own = await may(account('s1'), 'get', 'pods', { namespace: 'ns' })
  t.equal(own.reason, 'RBAC: allowed by RoleBinding "b/ns" of ClusterRole "cluster-admin" to ServiceAccount "sa/ns"')
  const foreign = await may(account('s1'), 'get', 'pods', { space: 's2', namespace: 'ns' })
  t.same(foreign, { allowed: false, reason: 'no verb=access permission on /' })
  await put(store, 's2', binding('guests', 'ClusterRole:cluster-admin', ['Group:system:cluster:s1']))
  t.ok((await may(account('s1'), 'get', 'pods', { space: 's2', namespace: 'ns' })).allowed, 'unless invited')
})

t.test('a user who was impersonated in one space has no power in another', async t => {
  const { may } = await setup(t)
  const confined = { ...user('x', 'system:masters'), extra: { 'authentication.kcp.io/scopes': ['cluster:s1'] } }
  t.equal((await may(confined, 'get', 'pods')).allowed, true)
  t.equal((await may(confined, 'get', 'pods', { space: 's2' })).allowed, false)
  t.equal((await may(confined, 'list', 'pods', { space: '*' })).allowed, false)
})

t.test('namespaces, names, subresources and wildcards', async t => {
  const { store, authorizer } = await setup(t, { requireSpaceAccess: false })
  await put(
    store,
    's1',
    role(
      'r',
      [
        { ...pods(['get', 'update']), resourceNames: ['one'] },
        { ...pods(['get']), resources: ['*/scale'] },
      ],
      {
        namespace: 'a',
      },
    ),
    binding('b', 'Role:r', ['Group:dev'], 'a'),
    role('paths', [{ nonResourceURLs: ['/debug/*', '/x'], verbs: ['get'] }]),
    binding('paths', 'ClusterRole:paths', ['Group:dev']),
  )
  const resource = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'a', name: 'one' }
  const ask = async (verb: string, change: Partial<typeof resource>) => {
    const asked = { user: user('u', 'dev'), space: 's1', verb, resource: { ...resource, ...change }, path: '' }
    return (await authorizer.authorize(asked)).allowed
  }
  t.equal(await ask('get', {}), true)
  t.equal(await ask('delete', {}), false)
  t.equal(await ask('get', { name: 'two' }), false)
  t.equal(await ask('get', { name: '' }), false)
  t.equal(await ask('get', { namespace: 'b' }), false)
  t.equal(await ask('get', { namespace: '' }), false)
  t.equal(await ask('get', { group: 'apps' }), false)
  t.equal(await ask('get', { subresource: 'log' }), false)
  t.equal(await ask('get', { resource: 'deployments', subresource: 'scale', name: 'x' }), true)
  const path = async (path: string, verb = 'get') =>
    (await authorizer.authorize({ user: user('u', 'dev'), space: 's1', verb, path })).allowed
  t.same(await Promise.all(['/debug/pprof', '/x', '/x/y', '/apis/apps/v1'].map(p => path(p))), [
    true,
    true,
    false,
    true,
  ])
  t.equal(await path('/x', 'post'), false)
})

t.test('a change of a role or a binding counts at once', async t => {
  const { store, may } = await setup(t, { requireSpaceAccess: false })
  const ann = user('ann')
  t.notOk((await may(ann, 'list', 'pods')).allowed)
  const grant = binding('b', 'ClusterRole:reader', ['User:ann'])
  await put(store, 's1', grant)
  const missing = 'clusterrole.rbac.authorization.k8s.io "reader" not found'
  t.same(await may(ann, 'list', 'pods'), { allowed: false, reason: `RBAC: ${missing}` })
  await put(store, 's1', role('reader', [pods(['list'])]))
  t.ok((await may(ann, 'list', 'pods')).allowed)
  await put(store, 's1', role('reader', [pods(['get'])]))
  t.notOk((await may(ann, 'list', 'pods')).allowed)
  t.ok((await may(ann, 'get', 'pods')).allowed)
  await remove(store, 's1', grant)
  t.notOk((await may(ann, 'get', 'pods')).allowed)
})

t.test('what was allowed before is allowed again, for that and for nothing else', async t => {
  const { store, authorizer } = await setup(t, { requireSpaceAccess: false })
  const ann = user('ann')
  const asked = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'a', name: 'one' }
  const ask = async (change: Partial<typeof asked> = {}, verb = 'get', who = ann) => {
    const { allowed, reason } = await authorizer.authorize({
      user: who,
      space: 's1',
      verb,
      resource: { ...asked, ...change },
      path: '',
    })
    return allowed && /"([^"]*)"/.exec(reason)?.[1]
  }
  await put(
    store,
    's1',
    role('named', [{ ...pods(['get', 'list']), resourceNames: ['one'] }], { namespace: 'a' }),
    binding('named', 'Role:named', ['User:ann'], 'a'),
  )
  for (let round = 0; round < 3; round++) {
    t.equal(await ask(), 'named/a')
    t.equal(await ask({ name: 'two' }), false)
  }
  const wide = binding('wide', 'ClusterRole:wide', ['User:ann'], 'a')
  await put(store, 's1', role('wide', [pods(['get'])]), wide)
  for (let round = 0; round < 3; round++) {
    t.equal(await ask(), 'named/a', 'by the first that allows it, as before')
    t.equal(await ask({ name: 'two' }), 'wide/a')
    for (const change of [
      { namespace: 'b' },
      { namespace: '' },
      { group: 'x' },
      { resource: 'secrets' },
      { subresource: 'log' },
    ])
      t.equal(await ask({ name: 'two', ...change }), false, JSON.stringify(change))
    t.equal(await ask({ name: 'two' }, 'list'), false)
    t.equal(await ask({}, 'list'), 'named/a')
    t.equal(await ask({}, 'get', user('ben')), false)
  }
  // more possible questions than the memory holds
  await put(
    store,
    's1',
    role('all', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]),
    binding('all', 'ClusterRole:all', ['User:ben']),
  )
  const ben = user('ben')
  for (let n = 0; n < 100; n++) t.equal(await ask({ resource: `r${n % 70}` }, 'get', ben), 'all')
  await remove(store, 's1', wide)
  t.equal(await ask({ name: 'two' }), false)
  t.equal(await ask(), 'named/a')
})

t.test('a right counts, and is gone, for whoever asks inside of the very commit', async t => {
  const { store, may } = await setup(t, { requireSpaceAccess: false })
  const asked: Soon<{ allowed: boolean }>[] = []
  const ask = (): void => void asked.push(may(user('ann'), 'list', 'pods'))
  store.project({ group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' }, { reset: ask, apply: ask })
  const grant = binding('b', 'ClusterRole:view', ['User:ann'])
  await put(store, 's1', grant)
  await remove(store, 's1', grant)
  t.same(
    (await Promise.all(asked)).map(({ allowed }) => allowed),
    [false, true, false],
  )
})

t.test('a change while an index is being built is not lost', async t => {
  const { store } = await setup(t)
  let release: () => void = () => {}
  const gate = new Promise<void>(resolve => {
    release = resolve
  })
  const slow: Pick<Store, 'list' | 'project'> = {
    project: (range, projection) => store.project(range, projection),
    list: async (range, options) => {
      const page = await store.list(range, options)
      await gate
      return page
    },
  }
  const authorizer = new RbacAuthorizer({ turns: endlessTurns(), store: slow, requireSpaceAccess: false })
  const resource = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: '', name: '' }
  const ask = () => authorizer.authorize({ user: user('ann'), space: 's1', verb: 'list', resource, path: '' })
  const before = ask()
  await settled()
  await put(store, 's1', binding('b', 'ClusterRole:view', ['User:ann']))
  await settled()
  release()
  await before
  t.equal((await ask()).allowed, true)
})

t.test('changes while an index is being built have one more built behind it, for all who ask', async t => {
  const { store } = await setup(t)
  const { promise: gate, resolve: release } = Promise.withResolvers<void>()
  let lists = 0
  const slow: Pick<Store, 'list' | 'project'> = {
    project: (range, projection) => store.project(range, projection),
    list: async (range, options) => {
      lists++
      await gate
      return await store.list(range, options)
    },
  }
  const authorizer = new RbacAuthorizer({ turns: endlessTurns(), store: slow, requireSpaceAccess: false })
  const resource = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: '', name: '' }
  const ask = (name: string) =>
    authorizer.authorize({ user: user(name), space: 's1', verb: 'list', resource, path: '' })
  const first = ask('ann')
  await settled()
  const asked: Soon<{ allowed: boolean }>[] = []
  for (const name of ['ann', 'bob', 'eve']) {
    await put(store, 's1', binding(`of-${name}`, 'ClusterRole:view', [`User:${name}`]))
    for (let i = 0; i < 10; i++) asked.push(ask(name))
    await settled()
  }
  t.equal(lists, 1, 'nothing else is read while the first is built')
  release()
  await first
  t.ok((await Promise.all(asked)).every(({ allowed }) => allowed))
  t.equal(lists, 8, 'four kinds, twice')
  await put(store, 's1', binding('late', 'ClusterRole:view', ['User:kim']))
  t.ok((await ask('kim')).allowed, 'and a later change has its own')
})

t.test('view, edit and admin gather the roles that say so, in their own space', async t => {
  const { store, may, authorizer } = await setup(t, { requireSpaceAccess: false })
  const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' }
  await put(store, 's1', role('crontabs', [{ ...pods(['get']), resources: ['crontabs'] }], { labels }))
  for (const space of ['s1', 's2']) await put(store, space, binding('b', 'ClusterRole:admin', ['User:ann'], 'ns'))
  t.ok((await may(user('ann'), 'get', 'crontabs', { namespace: 'ns' })).allowed, 'admin holds edit holds view')
  t.notOk((await may(user('ann'), 'get', 'crontabs', { namespace: 'ns', space: 's2' })).allowed)
  t.notOk((await may(user('ann'), 'get', 'crontabs')).allowed)
  const view = await authorizer.roleRules({ kind: 'ClusterRole', name: 'view' }, 's1', '')
  t.ok(view.some(rule => rule.resources?.includes('crontabs')))
  t.notOk(
    view.some(rule => rule.resources?.includes('secrets')),
    'view does not read secrets',
  )
})

t.test('everybody may enter root, see its workspaces and discover its API', async t => {
  const { authorizer } = await setup(t)
  t.equal(await authorizer.mayAccessSpace(user('ann'), 'root'), true)
  const resource = {
    group: 'tenancy.kcp.io',
    version: 'v1alpha1',
    resource: 'workspaces',
    subresource: '',
    namespace: '',
  }
  const ask = async (verb: string) =>
    (
      await authorizer.authorize({
        user: user('ann'),
        space: 'root',
        verb,
        resource: { ...resource, name: 'x' },
        path: '',
      })
    ).allowed
  t.equal(await ask('get'), true)
  t.equal(await ask('delete'), false)
  const discovery = await authorizer.authorize({ user: user('ann'), space: 'root', verb: 'get', path: '/openapi/v3' })
  t.match(discovery, { allowed: true, reason: /"system:discovery" to Group "system:authenticated"/ })
})

t.test('the right of everybody to read workspaces is nobody’s own, whichever question comes first', async t => {
  const { store, authorizer } = await setup(t)
  const workspaces = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' }
  const resource = { ...workspaces, subresource: '', namespace: '', name: 'w' }
  const may = async (who: UserInfo, isOwn: boolean) => {
    const asked = {
      user: who,
      space: 'root',
      verb: 'get',
      resource,
      path: '',
      ...(isOwn && { ownOnly: true as const }),
    }
    return (await authorizer.authorize(asked)).allowed
  }
  const ann = user('ann')
  for (const isOwn of [false, true, false, true]) t.equal(await may(ann, isOwn), !isOwn)
  const reads = role('reads', [{ apiGroups: [workspaces.group], resources: [workspaces.resource], verbs: ['get'] }])
  await put(store, 'root', reads, binding('reads', 'ClusterRole:reads', ['User:ann']))
  for (const isOwn of [true, false, true]) t.equal(await may(ann, isOwn), true)
})

t.test('rules of a user, for kubectl auth can-i --list', async t => {
  const { store, authorizer } = await setup(t, { requireSpaceAccess: false })
  await put(
    store,
    's1',
    role('r', [pods(['list'])], { namespace: 'ns' }),
    binding('b', 'Role:r', ['User:ann'], 'ns'),
    binding('c', 'Role:nope', ['User:ann', 'Group:system:authenticated'], 'ns'),
  )
  const granted = await authorizer.rulesFor(user('ann'), 's1', 'ns')
  t.same(granted.rules.at(-1), pods(['list']))
  t.same(granted.errors, ['role.rbac.authorization.k8s.io "nope" not found'])
  t.notOk((await authorizer.rulesFor(user('ann'), 's1', 'other')).rules.some(rule => rule.verbs.includes('list')))
})

t.test('a store that fails is reported, then asked again', async t => {
  const { store } = await setup(t)
  let fail = true
  const authorizer = new RbacAuthorizer({
    turns: endlessTurns(),
    store: {
      project: (range, projection) => store.project(range, projection),
      list: async (range, options) => {
        if (fail) throw new Error('disk')
        return store.list(range, options)
      },
    },
  })
  await t.rejects(async () => authorizer.mayAccessSpace(user('ann'), 'root'), { message: 'disk' })
  fail = false
  t.equal(await authorizer.mayAccessSpace(user('ann'), 'root'), true)
})

t.test('a role that many bindings name counts once', async t => {
  const { store, authorizer } = await setup(t)
  const rules = Array.from({ length: 100 }, (_, i) => pods([`v${i}`]))
  await put(store, 's1', access('User:ann'), role('reader', rules))
  const bindings = Array.from({ length: 200 }, (_, i) => binding(`b${i}`, 'ClusterRole:reader', ['User:ann'], 'ns'))
  const lacking = Array.from({ length: 200 }, (_, i) => binding(`l${i}`, 'ClusterRole:lacking', ['User:ann'], 'ns'))
  await put(store, 's1', ...bindings, ...lacking)
  const granted = await authorizer.rulesFor(user('ann'), 's1', 'ns')
  t.equal(granted.rules.filter(({ resources }) => resources?.includes('pods')).length, 100)
  t.same(granted.errors, ['clusterrole.rbac.authorization.k8s.io "lacking" not found'])
})

t.test('who asks about thousands of spaces again and again has no index made twice', async t => {
  const store = await openMemoryStore()
  t.teardown(() => store.close())
  let lists = 0
  const counted = {
    project: store.project.bind(store),
    list: (...of: Parameters<Store['list']>) => {
      lists++
      return store.list(...of)
    },
  }
  const authorizer = new RbacAuthorizer({ turns: endlessTurns(), store: counted as never })
  const spaces = Array.from({ length: 10_500 }, (_, i) => `s${i}`)
  await put(store, 's7', access('User:ann'))
  t.equal(now(authorizer, 's7'), undefined, 'not known yet')
  for (const space of spaces) await authorizer.mayAccessSpace(user('ann'), space)
  const built = lists
  const open = spaces.filter(space => now(authorizer, space) ?? t.fail(space))
  t.same(open, ['s7'])
  t.equal(lists, built)
  await put(store, 's9', access('User:ann'))
  t.equal(now(authorizer, 's9'), undefined, 'a change is heard of')
  t.equal(await authorizer.mayAccessSpace(user('ann'), 's9'), true)
  t.equal(now(authorizer, 's9'), true)
})

t.test('indexes of spaces with much of their own are kept as far as their bytes allow', async t => {
  const store = await openMemoryStore()
  t.teardown(() => store.close())
  const authorizer = new RbacAuthorizer({ turns: endlessTurns(), store, maxIndexBytes: 70_000 })
  const rules = Array.from({ length: 100 }, () => pods(['list']))
  for (const space of ['s1', 's2', 's3']) await put(store, space, role('big', rules), access('User:ann'))
  for (const space of ['s1', 's2', 's3']) t.equal(await authorizer.mayAccessSpace(user('ann'), space), true)
  t.equal(now(authorizer, 's3'), true)
  t.equal(now(authorizer, 's1'), undefined)
  t.equal(await authorizer.mayAccessSpace(user('ann'), 's1'), true)
})

t.test('an index is made in slices, of so many bytes as may count', async t => {
  const told: string[] = []
  let rests = 0
  const later = (turn: () => void): void => {
    rests++
    setImmediate(turn)
  }
  const turns = new WorkTurns({ sliceMs: 0, clock: () => 0, later })
  const options = { requireSpaceAccess: false, turns, onLeftOut: (space: string) => told.push(space) }
  const { store, may, authorizer } = await setup(t, options)
  const resources = Array.from({ length: 100_000 }, (_, i) => `resource${i}`)
  const big = Array.from({ length: 11 }, (_, i) => role(`big${i}`, [{ ...pods(['get']), resources }]))
  const last = role('z', [pods(['list'])])
  await put(
    store,
    's1',
    binding('b', 'ClusterRole:big0', ['User:ann']),
    binding('z', 'ClusterRole:z', ['User:ann']),
    last,
  )
  t.ok((await may(user('ann'), 'list', 'pods')).allowed)
  await put(store, 's1', ...big)
  rests = 0
  t.ok((await may(user('ann'), 'get', 'resource7')).allowed)
  t.ok(rests >= 9, `others had ${rests} turns meanwhile`)
  t.match(await may(user('ann'), 'list', 'pods'), { allowed: false, reason: /more than 16 MiB: those behind/ })
  t.match((await authorizer.rulesFor(user('ann'), 's1', '')).errors, [/more than 16 MiB: those behind grant nothing/])
  await put(store, 's1', binding('other', 'ClusterRole:big0', ['User:bob']))
  t.notOk((await may(user('ann'), 'list', 'pods')).allowed)
  t.same(told, ['s1'], 'the log has it once')
  await remove(store, 's1', big[3]!)
  t.ok((await may(user('ann'), 'list', 'pods')).allowed, 'and counts again once there is room')
  t.equal((await may(user('ann'), 'delete', 'pods')).reason, '')
})

t.test('URLs of a rule: stars at the end stand for anything, those before it for themselves', async t => {
  const get = (path: string) => ({ user: user('u'), space: 's1', verb: 'get', path })
  const rule = (url: string) => ({ verbs: ['get'], nonResourceURLs: [url] })
  t.ok(ruleAllows(rule('/a/*'), get('/a/b')))
  t.ok(ruleAllows(rule('/a/***'), get('/a/b')))
  t.ok(ruleAllows(rule('**'), get('/a')))
  t.notOk(ruleAllows(rule('/*/b*'), get('/a/b')))
  // who looked at all stars again from each of them would take hours
  const stars = `/a${'*'.repeat(2_000_000)}x*`
  t.notOk(ruleAllows(rule(stars), get('/a/b')))
  t.notOk(ruleCovers(rule(stars), rule('/a/b')))
})
