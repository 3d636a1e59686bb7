/** Aggregated ClusterRoles show what they grant, and follow their parts. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { atOnce } from '../../../src/apimachinery/steps.ts'
import { WorkBudget } from '../../../src/apimachinery/workBudget.ts'
import { embeddedClient } from '../../../src/apiserver/embedded/embeddedClient.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import {
  clusterRoleAggregationController,
  gatheredRules,
} from '../../../src/controllers/cluster-role-aggregation/clusterRoleAggregationController.ts'
import { natureOf } from '../../../src/placement/spaces/nature.ts'
import { createSpace, startTestServer } from '../../support/server.ts'
import { realTime } from '../../support/time.ts'

const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
const rule = (resource: string, group = 'example.com'): object => ({
  apiGroups: [group],
  resources: [resource],
  verbs: ['get'],
})

function role(name: string, labels: Record<string, string>, rules: object[], more: object = {}): object {
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name, labels }, rules, ...more }
}

t.test('the rules of an aggregated role are those of the roles that it gathers, in its space', async t => {
  const { api, server, faults } = await startTestServer(t)
  const controller = clusterRoleAggregationController({
    ...realTime(),
    nature: natureOf(server.tree),
    client: embeddedClient({ services: server.services, store: server.store, tree: server.tree, component: 'test' }),
    logger: silentLogger,
  })
  controller.start()
  t.teardown(() => controller.stop())
  const [one, two] = [await createSpace(api, 'one'), await createSpace(api, 'two')]
  const at = api.in(one)
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] }
  const watch = await at.watch(
    `${ROLES}?watch=1&fieldSelector=metadata.name=whole&resourceVersion=${server.store.revision}`,
  )
  t.teardown(() => watch.close())
  const rulesAre = async (rules: object[]): Promise<void> => {
    await watch.until(({ object }) => JSON.stringify(object.rules ?? []) === JSON.stringify(rules))
  }
  await api.ok(at.post(ROLES, role('b', { part: 'yes' }, [rule('bs'), rule('shared')])))
  await api.ok(at.post(ROLES, role('whole', {}, [], { aggregationRule })))
  await rulesAre([rule('bs'), rule('shared')])
  await api.ok(at.post(ROLES, role('a', { part: 'yes' }, [rule('as'), rule('shared')])))
  await rulesAre([rule('as'), rule('shared'), rule('bs')])
  await api.ok(api.in(two).post(ROLES, role('c', { part: 'yes' }, [rule('cs')])))
  await api.ok(at.delete(`${ROLES}/b`))
  await rulesAre([rule('as'), rule('shared')])
  await controller.queue.idle()
  t.strictSame((await at.get(`${ROLES}/whole`)).body.rules, [rule('as'), rule('shared')])
  t.strictSame(faults, [])
})

t.test("a space's own additions to view, edit and admin are shown there", async t => {
  const { api } = await startTestServer(t)
  const [one, two] = [await createSpace(api, 'one'), await createSpace(api, 'two')]
  const label = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' }
  await api.ok(api.in(one).post(ROLES, role('widgets-view', label, [rule('widgets')])))
  const shows = async (space: string, name: string): Promise<boolean> =>
    JSON.stringify((await api.in(space).get(`${ROLES}/${name}`)).body.rules).includes('widgets')
  for (const name of ['view', 'edit', 'admin']) t.ok(await shows(one, name), name)
  t.notOk(await shows(one, 'system:discovery'))
  t.notOk(await shows(two, 'view'))
  const { items } = (await api.in(one).get(ROLES)).body
  t.match(JSON.stringify(items.find(item => item.metadata.name === 'view')?.rules), 'widgets')
})

t.test('what only describes roles of clusters is neither filled nor gathered', async t => {
  const { api, server, faults } = await startTestServer(t)
  const controller = clusterRoleAggregationController({
    ...realTime(),
    nature: natureOf(server.tree),
    client: embeddedClient({ services: server.services, store: server.store, tree: server.tree, component: 'test' }),
    logger: silentLogger,
  })
  controller.start()
  t.teardown(() => controller.stop())
  const space = api.in(await createSpace(api, 'described', 'workload'))
  const natured = { 'edge.kubestellar.io/natured': 'true' }
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] }
  await api.ok(space.post(ROLES, role('a', { part: 'yes' }, [rule('as')])))
  await api.ok(space.post(ROLES, role('b', { part: 'yes', ...natured }, [rule('bs')])))
  await api.ok(space.post(ROLES, role('described', {}, [], { aggregationRule })))
  await api.ok(space.post(ROLES, role('acting', natured, [], { aggregationRule })))
  const watch = await space.watch(`${ROLES}?watch=1&fieldSelector=metadata.name=acting`)
  await watch.until(({ object }) => JSON.stringify(object.rules) === JSON.stringify([rule('bs')]))
  watch.close()
  await controller.queue.idle()
  t.notOk((await space.get(`${ROLES}/described`)).body.rules)
  await api.ok(space.patch(`${ROLES}/described`, 'merge', { metadata: { labels: natured } }))
  const later = await space.watch(`${ROLES}?watch=1&fieldSelector=metadata.name=described`)
  await later.until(({ object }) => JSON.stringify(object.rules) === JSON.stringify([rule('bs')]))
  later.close()
  t.strictSame(faults, [])
})

t.test('gathering costs what is gathered, and what costs more is not done at all', async t => {
  const parts = Array.from({ length: 2_000 }, (_, i) => role(`p${i}`, { part: 'yes' }, [rule(`r${i}`), rule('shared')]))
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] }
  const whole = role('whole', {}, [], { aggregationRule })
  const gather = (units: number) => {
    const budget = new WorkBudget(units, () => new Error('too much'))
    return {
      rules: atOnce(gatheredRules(whole as KubeObject, parts as KubeObject[], budget)),
      spent: units - budget.left,
    }
  }
  const { rules, spent } = gather(1_000_000)
  t.equal(rules.length, 2_001)
  t.ok(spent < 50_000, `${spent}`)
  t.throws(() => gather(10_000), { message: 'too much' })
})

t.test('a change has the roles of its space read once, however many gather', async t => {
  const { api, server } = await startTestServer(t)
  const client = embeddedClient({
    services: server.services,
    store: server.store,
    tree: server.tree,
    component: 'test',
  })
  let lists = 0
  let listed = (): void => {}
  const counting = <T extends object>(of: T): T =>
    new Proxy(of, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key)
        if (typeof value !== 'function') return value
        return (...args: unknown[]): unknown => {
          const answer: unknown = Reflect.apply(value, target, args)
          if (key === 'in') return counting(answer as object)
          if (key === 'list') {
            lists++
            listed()
          }
          return answer
        }
      },
    })
  const controller = clusterRoleAggregationController({
    ...realTime(),
    nature: natureOf(server.tree),
    client: counting(client),
    logger: silentLogger,
  })
  const at = api.in(await createSpace(api, 'many'))
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] }
  for (let i = 0; i < 20; i++) await api.ok(at.post(ROLES, role(`whole${i}`, {}, [], { aggregationRule })))
  const first = new Promise<void>(resolve => {
    listed = resolve
  })
  controller.start()
  t.teardown(() => controller.stop())
  await first
  await controller.queue.idle()
  lists = 0
  const next = new Promise<void>(resolve => {
    listed = resolve
  })
  await api.ok(at.post(ROLES, role('other', {}, [rule('others')])))
  await next
  await controller.queue.idle()
  t.equal(lists, 1)
})
