/** Objects that every space has without storing them: a space may change its own, and no one may delete them. */
import t from 'tap'
import { ALICE, createSpace, startTestServer } from '../support/server.ts'

const begunMs = Date.now()
const first = await startTestServer(t)
const { api, faults } = first
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const one = api.in(await createSpace(api, 'one'))
const two = api.in(await createSpace(api, 'two'))
const names = (list: { items: { metadata: { name?: string } }[] }) => list.items.map(({ metadata }) => metadata.name)

t.test('it is as old as the server, and there from the start', async t => {
  const view = await one.ok(one.get(`${RBAC}/clusterroles/view`))
  const created = view.metadata.creationTimestamp!
  t.match(created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  t.ok(Date.parse(created) > begunMs - 1000, 'no older than the server')
  t.strictSame(names(await one.ok(one.get('/apis/scheduling.k8s.io/v1/priorityclasses'))), [
    'system-cluster-critical',
    'system-node-critical',
  ])
  t.ok(names(await one.ok(one.get('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas'))).includes('catch-all'))
})

t.test('a dry run changes nothing', async t => {
  const patch = { metadata: { labels: { tried: 'yes' } } }
  const tried = await one.ok(one.patch(`${RBAC}/clusterroles/view?dryRun=All`, 'merge', patch))
  t.equal(tried.metadata.labels?.tried, 'yes')
  const view = await one.ok(one.get(`${RBAC}/clusterroles/view`))
  t.equal(view.metadata.labels?.tried, undefined)
  t.equal(view.metadata.resourceVersion, '1')
})

t.test('what a space changes is its own, and is shown once', async t => {
  const before = await one.ok(one.get(`${RBAC}/clusterroles/view`))
  const watch = await one.watch(
    `${RBAC}/clusterroles?watch=1&resourceVersion=${(await one.ok(one.get(`${RBAC}/clusterroles`))).metadata.resourceVersion}`,
  )
  const patch = { metadata: { labels: { team: 'shops' } } }
  const view = await one.ok(one.patch(`${RBAC}/clusterroles/view`, 'merge', patch))
  t.equal(view.metadata.labels?.team, 'shops')
  t.equal(view.metadata.uid, before.metadata.uid, 'it is the same object')
  const events = await watch.until(({ object }) => object.metadata?.labels?.team === 'shops')
  t.strictSame(new Set(events.map(({ object }) => object.metadata.name)), new Set(['view']))
  watch.close()
  t.equal((await one.ok(one.get(`${RBAC}/clusterroles/view`))).metadata.labels?.team, 'shops')
  t.equal((await two.ok(two.get(`${RBAC}/clusterroles/view`))).metadata.labels?.team, undefined)
  const listed = names(await one.ok(one.get(`${RBAC}/clusterroles`)))
  t.equal(listed.filter(name => name === 'view').length, 1)
  t.equal(listed.length, new Set(listed).size)
  t.strictSame(names(await one.ok(one.get(`${RBAC}/clusterroles?labelSelector=team=shops`))), ['view'])
})

t.test('its first change in a space is a change to who watches, and may leave or enter what they select', async t => {
  const space = api.in(await createSpace(api, 'watched'))
  const roles = `${RBAC}/clusterroles`
  const { resourceVersion } = (await space.ok(space.get(roles))).metadata
  const bootstrap = 'kubernetes.io/bootstrapping'
  const patch = { metadata: { labels: { [bootstrap]: null, team: 'shops' } } }
  await space.ok(space.patch(`${roles}/view`, 'merge', patch))
  for (const [selector, type] of Object.entries({
    '': 'MODIFIED',
    [`${bootstrap}=rbac-defaults`]: 'DELETED',
    'team=shops': 'ADDED',
    '!nobody': 'MODIFIED',
  })) {
    const watch = await space.watch(
      `${roles}?watch=1&resourceVersion=${resourceVersion}&labelSelector=${encodeURIComponent(selector)}`,
    )
    t.match(await watch.take(1), [{ type, object: { metadata: { name: 'view' } } }], selector)
    watch.close()
  }
})

t.test('a list of the past shows it as it was then, once', async t => {
  const three = api.in(await createSpace(api, 'three'))
  const roles = `${RBAC}/clusterroles`
  const { resourceVersion: then } = (await three.ok(three.get(roles))).metadata
  const patch = { metadata: { labels: { team: 'shops' } } }
  const { resourceVersion: changed } = (await three.ok(three.patch(`${roles}/view`, 'merge', patch))).metadata
  await three.ok(three.post(roles, { metadata: { name: 'later' }, rules: [] }))
  const at = async (revision: string | undefined) => {
    const { items } = await three.ok(three.get(`${roles}?resourceVersionMatch=Exact&resourceVersion=${revision}`))
    return { all: names({ items }), view: items.filter(({ metadata }) => metadata.name === 'view') }
  }
  const before = await at(then)
  t.match(before.view, [{ metadata: { resourceVersion: '1', labels: { team: undefined } } }])
  t.equal(before.view.length, 1)
  t.notOk(before.all.includes('later'))
  const after = await at(changed)
  t.match(after.view, [{ metadata: { resourceVersion: changed, labels: { team: 'shops' } } }])
  t.equal(after.view.length, 1)
  t.equal(after.all.length, before.all.length)
})

t.test('an update of what was read works, and is refused when somebody was faster', async t => {
  const url = `${RBAC}/clusterroles/system:discovery`
  const read = await two.ok(two.get(url))
  const labelled = (value: string) => ({ ...read, metadata: { ...read.metadata, labels: { value } } })
  t.equal((await two.put(url, labelled('first'))).code, 200)
  t.match(await two.put(url, labelled('second')), { code: 409, body: { reason: 'Conflict' } })
  const both = ['a', 'b'].map(name => ({ metadata: { labels: { [name]: 'yes' } } }))
  const raced = `${RBAC}/clusterroles/system:basic-user`
  await Promise.all(both.map(patch => two.ok(two.patch(raced, 'merge', patch))))
  t.match((await two.ok(two.get(raced))).metadata.labels, { a: 'yes', b: 'yes' }, 'no change is lost')
})

t.test('what changes nothing leaves nothing behind', async t => {
  const url = `${RBAC}/clusterroles/admin`
  await two.ok(two.patch(url, 'merge', {}))
  t.equal((await two.patch(url, 'merge', { metadata: { labels: { 'no label!': '' } } })).code, 422)
  t.equal((await two.patch(url, 'merge', { metadata: { resourceVersion: '99' } })).code, 409)
  t.equal((await two.ok(two.get(url))).metadata.resourceVersion, '1', 'it is still the one that all share')
})

t.test('access goes by the role as the space has it', async t => {
  const alice = api.as(ALICE).in('root:one')
  t.teardown(() => alice.close())
  const binding = (name: string, role: string) => ({
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
  })
  await one.ok(one.post(`${RBAC}/clusterrolebindings`, binding('enter', 'system:kcp:workspace:access')))
  await one.ok(one.post(`${RBAC}/clusterrolebindings`, binding('issuer', 'system:service-account-issuer-discovery')))
  const url = '/openid/v1/jwks'
  t.equal((await alice.get('/version/')).code, 200)
  t.equal((await alice.get(url)).code, 200)
  const role = `${RBAC}/clusterroles/system:service-account-issuer-discovery`
  await one.ok(one.patch(role, 'merge', { rules: [] }))
  t.equal((await alice.get(url)).code, 403, 'what was taken from the role is gone')
  t.equal((await alice.get('/version/')).code, 200, 'the other roles are as they were')
})

t.test('nothing of it can be deleted, changed or not', async t => {
  for (const name of ['view', 'edit']) {
    const refused = await one.delete(`${RBAC}/clusterroles/${name}`)
    t.match(refused, { code: 403, body: { reason: 'Forbidden', message: /every space has it; it cannot be deleted/ } })
  }
  await one.ok(one.post(`${RBAC}/clusterroles`, { metadata: { name: 'mine' }, rules: [] }))
  await one.ok(one.delete(`${RBAC}/clusterroles`))
  const left = names(await one.ok(one.get(`${RBAC}/clusterroles`)))
  t.ok(left.includes('view') && left.includes('edit') && !left.includes('mine'), 'a collection loses what can go')
})

t.test('its names are taken, and what the server does is not for anybody to say', async t => {
  const again = await one.post(`${RBAC}/clusterroles`, { metadata: { name: 'edit' }, rules: [] })
  t.match(again, { code: 409, body: { reason: 'AlreadyExists' } })
  const flow = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/catch-all'
  const refused = await one.patch(flow, 'merge', { metadata: { labels: { a: 'b' } } })
  t.match(refused, { code: 403, body: { message: /it says what the server does, and cannot be changed/ } })
  t.equal((await one.patch(`${flow}?dryRun=All`, 'merge', { metadata: { labels: { a: 'b' } } })).code, 403)
  const service = await one.patch('/apis/apiregistration.k8s.io/v1/apiservices/v1.apps', 'merge', { metadata: {} })
  t.equal(service.code, 403)
})

t.test('a restart forgets nothing of it', async t => {
  const { api } = await first.restart()
  const view = await api.ok(api.get(`/clusters/root:one${RBAC}/clusterroles/view`))
  t.equal(view.metadata.labels?.team, 'shops')
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
