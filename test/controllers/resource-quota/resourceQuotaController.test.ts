/** The status of quotas follows what goes and shrinks; copies on their way to a cluster keep the status that comes from there. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { embeddedClient } from '../../../src/apiserver/embedded/embeddedClient.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import {
  ResourceQuotaReconciler,
  resourceQuotaController,
} from '../../../src/controllers/resource-quota/resourceQuotaController.ts'
import { natureOf } from '../../../src/placement/spaces/nature.ts'
import type { Api } from '../../support/api.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'
import { CONFIGMAPS, configMap, createSpace, startTestServer } from '../../support/server.ts'
import { realTime } from '../../support/time.ts'

const { api, server, faults } = await startTestServer(t)
const QUOTAS = '/api/v1/namespaces/default/resourcequotas'
const PODS = '/api/v1/namespaces/default/pods'
const controller = resourceQuotaController({
  ...realTime(),
  client: embeddedClient({ ...server, component: 'resourcequota-controller' }),
  nature: natureOf(server.tree),
  logger: silentLogger,
})
controller.start()
t.teardown(() => controller.stop())

const quota = (name: string, hard: Record<string, string>, labels: Record<string, string> = {}): object => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name, labels },
  spec: { hard },
})

interface Status {
  hard?: Record<string, string>
  used?: Record<string, string>
}

/** Follows a quota from its present state until its status is as expected; the test's time limit is the other end. */
async function reaches(name: string, found: (status: Status) => boolean, space: Api = api): Promise<void> {
  const now = await api.ok(space.get(`${QUOTAS}/${name}`))
  const statusOf = (object: KubeObject): Status => (object.status ?? {}) as Status
  if (found(statusOf(now))) return
  const { resourceVersion } = now.metadata
  const watch = await space.watch(
    `${QUOTAS}?watch=1&fieldSelector=metadata.name=${name}&resourceVersion=${resourceVersion}`,
  )
  await watch.until(({ object }) => found(statusOf(object)))
  watch.close()
}

t.test('a new quota is measured, with what is there already', async t => {
  await api.ok(api.post(CONFIGMAPS, configMap('a')))
  await api.ok(api.post(CONFIGMAPS, configMap('b')))
  await api.ok(api.post(QUOTAS, quota('q', { configmaps: '3', 'count/deployments.apps': '1' })))
  await reaches('q', ({ used }) => used?.configmaps === '2' && used['count/deployments.apps'] === '0')
  t.pass()
})

t.test('what is deleted can be used again', async t => {
  await api.ok(api.post(CONFIGMAPS, configMap('c')))
  t.equal((await api.post(CONFIGMAPS, configMap('d'))).code, 403)
  await api.ok(api.delete(`${CONFIGMAPS}/a`))
  await reaches('q', ({ used }) => used?.configmaps === '2')
  t.equal((await api.post(CONFIGMAPS, configMap('d'))).code, 201)
})

t.test('new limits show in the status', async t => {
  await api.ok(api.patch(`${QUOTAS}/q`, 'merge', { spec: { hard: { configmaps: '9' } } }))
  await reaches('q', ({ hard }) => hard?.configmaps === '9')
  t.pass()
})

t.test('a Pod that has ended no longer counts', async t => {
  await api.ok(api.post(QUOTAS, quota('pods', { pods: '1' })))
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  await api.ok(api.post(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec }))
  await reaches('pods', ({ used }) => used?.pods === '1')
  await api.ok(api.patch(`${PODS}/p/status`, 'merge', { status: { phase: 'Succeeded' } }))
  await reaches('pods', ({ used }) => used?.pods === '0')
  t.pass()
})

t.test('a copy on its way to a cluster is not measured', async t => {
  const mailbox = 'abc123-mb-01234567-89ab-cdef-0123-456789abcdef'
  const space = api.in(await createSpace(api.in('root:espw'), mailbox))
  await api.ok(space.post(QUOTAS, quota('copy', { configmaps: '0' }, { 'edge.kubestellar.io/projected': 'yes' })))
  await api.ok(space.post(QUOTAS, quota('other', { configmaps: '0' })))
  await reaches('other', ({ used }) => used !== undefined, space)
  await controller.queue.idle()
  t.strictSame((await api.ok(space.get(`${QUOTAS}/copy`))).status ?? {}, {})
})

t.test('where quotas are descriptions only one that is labelled is measured, from then on', async t => {
  const space = api.in(await createSpace(api, 'described', 'workload'))
  const hard = { configmaps: '0' }
  const labels = { 'edge.kubestellar.io/natured': 'true' }
  const stale = { status: { hard, used: { configmaps: '7' } } }
  const { headers } = await space.post(QUOTAS, quota('described', hard))
  t.match(headers.warning, /this ResourceQuota does not act in this space/)
  // as a cluster would report it
  await api.ok(space.patch(`${QUOTAS}/described/status`, 'merge', stale))
  await api.ok(space.post(CONFIGMAPS, configMap('free')))
  await api.ok(space.post(QUOTAS, quota('acting', { configmaps: '1' }, labels)))
  t.match(await space.post(CONFIGMAPS, configMap('two')), { code: 403, body: { message: /exceeded quota: acting/ } })
  await controller.queue.idle()
  t.match(await space.get(`${QUOTAS}/described`), { body: stale })
  await api.ok(space.patch(`${QUOTAS}/described`, 'merge', { metadata: { labels } }))
  await reaches('described', ({ used }) => used?.configmaps === '1', space)
})

t.test('quotas of a namespace are measured together: its objects are listed once', async t => {
  const base = '/api/v1/namespaces/crowded'
  const metadata = { name: 'crowded' }
  await api.ok(api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata }))
  for (let i = 0; i < 40; i++)
    await api.ok(api.post(`${base}/resourcequotas`, quota(`q${i}`, { configmaps: '9', 'count/configmaps': '9' })))
  await api.ok(api.post(`${base}/configmaps`, configMap('a')))
  await controller.queue.idle()
  await api.ok(api.delete(`${base}/configmaps/a`))
  const lists: string[] = []
  const whole = embeddedClient({ ...server, component: 'resourcequota-controller' })
  const counting = {
    ...whole,
    in: (space: string) => {
      const client = whole.in(space)
      return new Proxy(client, {
        get: (target, name) => {
          if (name === 'list') {
            return (resource: { group: string; version: string; resource: string }, options: object) => {
              lists.push(resource.resource)
              return target.list(resource, options)
            }
          }
          const member: unknown = Reflect.get(target, name)
          return typeof member === 'function' ? member.bind(target) : member
        },
      })
    },
  }
  const reconciler = new ResourceQuotaReconciler({
    turns: endlessTurns(),
    client: counting,
    nature: natureOf(server.tree),
  })
  await controller.queue.idle()
  await reconciler.reconcile({ space: 'root', namespace: 'crowded' })
  t.strictSame(lists, ['resourcequotas', 'configmaps'])
  const { body } = await api.get(`${base}/resourcequotas`)
  const items = body.items as (KubeObject & { status: Status })[]
  t.ok(items.every(({ status }) => status.used?.configmaps === '0' && status.used['count/configmaps'] === '0'))
})

t.test('nothing of this is a fault of the server', async t => {
  t.strictSame(faults, [])
})
