/** Health of a server that starts, whose disk fails, and that drains, check by check. */
import t from 'tap'
import { healthPaths } from '../../../src/apiserver/health/health.ts'
import { healthChecks } from '../../../src/apiserver/health/healthChecks.ts'
import { StorageError, type Store } from '../../../src/storage/store.ts'
import { serving } from '../http/answering.ts'

const started = new Set<string>()
const draining = new AbortController()
let isBroken = false
const store: Pick<Store, 'update'> = {
  update: async () => {
    if (isBroken) throw new StorageError('Failed', 'the disk is gone')
    return undefined as never
  },
}
const health = healthChecks({ store, hasStarted: part => started.has(part), draining: draining.signal })
const ask = await serving(t, healthPaths(health))
const code = async (url: string): Promise<number> => (await ask(url)).statusCode

t.test('a hook fails until its part of the server has started, and with it the whole', async t => {
  const roles = '/livez/poststarthook/rbac/bootstrap-roles'
  t.equal(await code(roles), 500)
  t.match((await ask('/livez')).text, '[-]poststarthook/rbac/bootstrap-roles failed: reason withheld')
  for (const part of ['admission', 'address', 'definitions', 'initial spaces', 'flow control']) started.add(part)
  t.equal(await code(roles), 200)
  t.equal(await code('/livez/poststarthook/generic-apiserver-start-informers'), 500, 'another part')
  t.equal(await code('/readyz/informer-sync'), 500)
  started.add('requests')
  for (const path of ['/livez', '/readyz', '/healthz', '/readyz/informer-sync']) t.equal(await code(path), 200, path)
})

t.test('a store that takes no writes fails by the name of etcd, which can be left out', async t => {
  isBroken = true
  for (const path of ['/livez', '/livez/etcd', '/readyz/etcd-readiness', '/healthz/etcd', '/readyz?exclude=etcd'])
    t.equal(await code(path), 500, path)
  t.equal(await code('/livez?exclude=etcd'), 200)
  t.equal(await code('/readyz?exclude=etcd&exclude=etcd-readiness'), 200)
  isBroken = false
})

t.test('a server that drains is alive, and not ready', async t => {
  draining.abort()
  t.equal(await code('/readyz'), 500)
  t.equal(await code('/readyz/shutdown'), 500)
  t.equal(await code('/readyz/informer-sync'), 200)
  t.equal(await code('/livez'), 200)
})
