/** A server with the controllers that every cluster has, seen over HTTPS: what Kubernetes' conformance suite expects to meet. */
import type { Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { embeddedClient } from '../../../src/apiserver/embedded/embeddedClient.ts'
import type { Client } from '../../../src/client/client.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { startBuiltinControllers } from '../../../src/controllers/builtinControllers.ts'
import type { Api } from '../../support/api.ts'
import { startTestServer, type TestServer } from '../../support/server.ts'
import { realTime } from '../../support/time.ts'

export interface Cluster extends TestServer {
  /** Makes a Namespace whose ServiceAccount is there, so that Pods can come. Returns its path, `/api/v1/namespaces/<name>`. */
  namespace(name: string, labels?: Record<string, string>): Promise<string>
}

export async function startCluster(t: Test): Promise<Cluster> {
  const started = await startTestServer(t, { serviceAccounts: true })
  const { server, api } = started
  const clientFor = (component: string): Client => embeddedClient({ ...server, component })
  const controllers = startBuiltinControllers({
    ...realTime(),
    clientFor,
    caPem: server.caPem,
    sign: order => server.certificates.sign(order),
    logger: silentLogger,
  })
  t.teardown(() => controllers.stop())
  return {
    ...started,
    async namespace(name, labels = {}) {
      await api.ok(api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }))
      const path = `/api/v1/namespaces/${name}`
      await reaches(api, `${path}/serviceaccounts/default`)
      return path
    },
  }
}

/** Follows one object until it is as wanted (default: there); the time limit of the test is the other end. */
export async function reaches(
  api: Api,
  path: string,
  wanted: (object: KubeObject) => boolean = () => true,
): Promise<KubeObject> {
  const watch = await watchOne(api, path)
  const events = await watch.until(({ type, object }) => type !== 'DELETED' && wanted(object))
  watch.close()
  return events.at(-1)!.object
}

/** Resolves once there is no such object. */
export async function goes(api: Api, path: string): Promise<void> {
  const { code, body } = await api.get(path)
  if (code === 404) return
  const watch = await watchOne(api, path, body.metadata.resourceVersion)
  await watch.until(({ type }) => type === 'DELETED')
  watch.close()
}

function watchOne(api: Api, path: string, resourceVersion?: string) {
  const end = path.lastIndexOf('/')
  const from = resourceVersion === undefined ? '' : `&resourceVersion=${resourceVersion}`
  return api.watch(`${path.slice(0, end)}?watch=1&fieldSelector=metadata.name=${path.slice(end + 1)}${from}`)
}

/** A Pod of one container; `spec` adds to it. */
export function pod(name: string, spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { containers: [{ name: 'main', image: 'registry.example/pause:1' }], ...spec },
  }
}

/** Template of workloads' Pods. */
export function podTemplate(labels: Record<string, string>): object {
  return { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'registry.example/pause:1' }] } }
}
