/** The status of quotas follows what goes and shrinks; copies on their way to a cluster keep the status that comes from there. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { embeddedClient } from '../../../src/apiserver/embedded/embeddedClient.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { resourceQuotaController } from '../../../src/controllers/resource-quota/resourceQuotaController.ts'
import { CONFIGMAPS, configMap, startTestServer } from '../../support/server.ts'

const { api, server, faults } = await startTestServer(t)
const QUOTAS = '/api/v1/namespaces/default/resourcequotas'
const PODS = '/api/v1/namespaces/default/pods'
const controller = resourceQuotaController({
  client: embeddedClient({ ...server, component: 'resourcequota-controller' }),
  skipsCopies: true,
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
async function reaches(name: string, found: (status: Status) => boolean): Promise<void> {
  const now = await api.ok(api.get(`${QUOTAS}/${name}`))
  const statusOf = (object: KubeObject): Status => (object.status ?? {}) as Status
  if (found(statusOf(now))) return
  const { resourceVersion } = now.metadata
  const watch = await api.watch(
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

t.test('a copy on its way to a cluster is neither measured nor enforced', async t => {
  await api.ok(api.post(QUOTAS, quota('copy', { configmaps: '0' }, { 'edge.kubestellar.io/projected': 'yes' })))
  t.equal((await api.post(CONFIGMAPS, configMap('e'))).code, 201)
  await reaches('q', ({ used }) => used?.configmaps === '4')
  await controller.queue.idle()
  t.strictSame((await api.ok(api.get(`${QUOTAS}/copy`))).status ?? {}, {})
})

t.test('nothing of this is a fault of the server', async t => {
  t.strictSame(faults, [])
})
