/** @kubernetes/client-node in a space: typed and generic clients, a watch, every kind of write. */
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  Watch,
} from '@kubernetes/client-node'
import t from 'tap'
import { STORY, startSpace } from './session.ts'

t.test('a session of the JavaScript client', async t => {
  const { kubeconfig } = await startSpace(t, 'js')
  const config = new KubeConfig()
  config.loadFromFile(kubeconfig)
  const core = config.makeApiClient(CoreV1Api)
  const apps = config.makeApiClient(AppsV1Api)
  const any = KubernetesObjectApi.makeApiClient(config)
  const told: string[] = []
  const one = { name: 'one', namespace: 'default' }
  const body: V1ConfigMap = { metadata: { name: 'one' }, data: { n: '1' } }
  told.push(`created ${(await core.createNamespacedConfigMap({ ...one, body })).metadata?.name}`)
  told.push(`read ${(await core.readNamespacedConfigMap(one)).data?.n}`)
  let stale: V1ConfigMap = {}

  const steps: Record<string, (now: V1ConfigMap) => Promise<void>> = {
    async 1() {
      const patch = { data: { n: '2', how: 'patched' } }
      const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)
      await core.patchNamespacedConfigMap({ ...one, body: patch }, merge)
    },
    async 2(now) {
      stale = { ...now, data: { n: '3', how: 'replaced' } }
      await core.replaceNamespacedConfigMap({ ...one, body: stale })
    },
    async 3() {
      told.push(`conflict ${await failure(core.replaceNamespacedConfigMap({ ...one, body: stale }))}`)
      const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: one, data: { n: '4', how: 'applied' } }
      await any.patch(applied, undefined, undefined, 'story', true, PatchStrategy.ServerSideApply)
    },
    async 4() {
      const labels = { app: 'web' }
      const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx:1' }] } }
      const spec = { replicas: 2, selector: { matchLabels: labels }, template }
      const web = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { ...one, name: 'web' }, spec }
      await any.patch(web, undefined, undefined, 'story', true, PatchStrategy.ServerSideApply)
      const made = (await apps.readNamespacedDeployment({ ...one, name: 'web' })).spec
      told.push(`deployment ${made?.template.spec?.containers[0]?.image} x${made?.replicas}`)
      const { items } = await core.listNamespacedConfigMap({ ...one, labelSelector: '!none' })
      told.push(`list ${items.map(item => item.metadata?.name).join(' ')}`)
      await core.deleteNamespacedConfigMap(one)
    },
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const path = '/api/v1/namespaces/default/configmaps'
  const watch = await new Watch(config).watch(
    path,
    { fieldSelector: 'metadata.name=one' },
    (type, now: V1ConfigMap) => {
      const { n = '', how = '' } = now.data ?? {}
      told.push(`${type} ${n}${type === 'MODIFIED' ? ` ${how}` : ''}`)
      if (type === 'DELETED') resolve()
      else steps[n]!(now).catch(reject)
    },
    reject,
  )
  await promise
  watch.abort()
  told.push(`missing ${await failure(core.readNamespacedConfigMap(one))}`)
  t.strictSame(told, STORY)
})

async function failure(asked: Promise<unknown>): Promise<string> {
  try {
    await asked
    return 'none'
  } catch (error) {
    if (!(error instanceof ApiException)) throw error
    return `${error.code} ${(JSON.parse(String(error.body)) as { reason: string }).reason}`
  }
}
