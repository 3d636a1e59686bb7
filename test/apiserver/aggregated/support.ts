/** A server behind a host cluster, in the test's process, and the front proxy of that host. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import type { Test } from 'tap'
import type { AggregatedOptions, ApiServerOptions } from '../../../src/apiserver/apiServerOptions.ts'
import type { PemPair } from '../../../src/apiserver/pki/issue.ts'
import type { SpaceClient, WatchOptions } from '../../../src/client/client.ts'
import { aborted } from '../../../src/client/clock.ts'
import { httpSpaceClient } from '../../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../../src/client/kubeconfig.ts'
import { Api } from '../../support/api.ts'
import { Authority, PROXY_NAME } from '../../support/frontProxy.ts'
import { startTestServer, type TestServer } from '../../support/server.ts'

export const SERVICE_HOST = 'orrery.orrery.svc'
const CONFIG = '/api/v1/namespaces/kube-system/configmaps'
const CONFIG_NAME = 'extension-apiserver-authentication'

export function authenticationData(caPem: string, allowed: readonly string[] = [PROXY_NAME]): Record<string, string> {
  return {
    'requestheader-client-ca-file': caPem,
    'requestheader-allowed-names': JSON.stringify(allowed),
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
  }
}

/** A host that describes its front proxy, and does nothing else. */
export function followedHost(data: Record<string, string>): SpaceClient {
  const metadata = { name: CONFIG_NAME, namespace: 'kube-system', resourceVersion: '1' }
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
  return {
    list: async () => ({ items: [config], resourceVersion: '1' }),
    async *watch(_resource: unknown, { signal }: WatchOptions) {
      yield []
      await aborted(signal)
    },
  } as unknown as SpaceClient
}

export interface Behind {
  /** A plain cluster. */
  host: Api
  /** By its ordinary address, as its administrator. */
  orrery: TestServer
  /** Warnings and messages of the log. */
  logged: Logged
  /** The address for the front proxy. */
  url: string
  authority: Authority
  /** A front proxy with a certificate, for a user. */
  as(user: string, groups?: readonly string[], pair?: PemPair): Promise<Forwarding>
  /** Says another description of the front proxy, and waits until it counts. */
  describe(data: Record<string, string>): Promise<void>
}

/** Sends as the front proxy would for a user. */
export class Forwarding {
  readonly api: Api
  readonly headers: Record<string, string>

  constructor(api: Api, headers: Record<string, string>) {
    this.api = api
    this.headers = headers
  }

  send(method: string, path: string, body?: unknown, more: Record<string, string> = {}) {
    return this.api.send(method, path, { ...(body !== undefined && { body }), headers: { ...this.headers, ...more } })
  }

  get(path: string, more: Record<string, string> = {}) {
    return this.send('GET', path, undefined, more)
  }
}

export class Logged {
  readonly texts: string[] = []
  readonly #waiting: { found: (text: string) => boolean; resolve: () => void }[] = []

  note(text: string): void {
    this.texts.push(text)
    for (const { found, resolve } of this.#waiting) if (found(text)) resolve()
  }

  /** Resolves with the next message that has it. */
  async next(part: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ found: text => text.includes(part), resolve })
    await promise
  }
}

export const KNOWN = 'the front proxy of the host is known'

export async function startBehind(
  t: Test,
  more: Partial<AggregatedOptions> = {},
  options: Partial<ApiServerOptions> = {},
  /** In the place of the host's own. */
  reviews?: Partial<SpaceClient>,
): Promise<Behind> {
  const host = await startTestServer(t, { spaces: false, more: { apiThreads: 0 } })
  const authority = await Authority.make()
  const object = (data: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: CONFIG_NAME, namespace: 'kube-system' },
    data,
  })
  await host.api.ok(host.api.post(CONFIG, object(authenticationData(authority.ca.certPem))))
  const client = httpSpaceClient((await loadKubeconfig(host.server.kubeconfigPath)).options)
  t.teardown(() => client.close())
  const logged = new Logged()
  const known = logged.next(KNOWN)
  const note = (_fields: unknown, text: string): void => logged.note(text)
  const orrery = await startTestServer(t, {
    more: {
      apiThreads: 0,
      ...options,
      furtherNames: [SERVICE_HOST],
      aggregated: {
        host: { ...methodsOf(client), ...reviews },
        port: 0,
        space: 'root:wmw1',
        userPrefix: 'host:',
        namespaced: false,
        ...more,
      },
      log: { info: note, warn: note, error: note } as never,
    },
  })
  await known
  const url = `https://127.0.0.1:${orrery.server.aggregatedPort}`
  return {
    host: host.api,
    orrery,
    logged,
    url,
    authority,
    async as(user, groups = [], pair) {
      const { certPem: cert, keyPem: key } = pair ?? (await authority.client())
      const api = new Api({ url, cert, key })
      t.teardown(() => api.close())
      const headers: Record<string, string> = { 'x-remote-user': user }
      if (groups.length > 0) headers['x-remote-group'] = groups as unknown as string
      return new Forwarding(api, headers)
    },
    async describe(data) {
      await host.api.ok(host.api.put(`${CONFIG}/${CONFIG_NAME}`, object(data)))
    },
  }
}

/** A way to a server on which what a client says second, its certificate, waits: its handshake stays under way. */
export async function handshakeLink(t: Test, serverUrl: string) {
  const held = Promise.withResolvers<void>()
  const waiting: (() => void)[] = []
  let isHolding = false
  let isReleased = false
  const link = createServer(near => {
    const far = connect({ host: '127.0.0.1', port: Number(new URL(serverUrl).port) })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => {})
      one.on('close', () => other.destroy())
      t.teardown(() => one.destroy())
    }
    near.on('data', piece => {
      if (!isHolding) far.write(piece)
      else {
        waiting.push(() => far.write(piece))
        held.resolve()
      }
    })
    far.on('data', piece => {
      isHolding = !isReleased
      near.write(piece)
    })
  })
  link.listen(0, '127.0.0.1')
  await once(link, 'listening')
  t.teardown(() => link.close())
  return {
    url: `https://127.0.0.1:${(link.address() as AddressInfo).port}`,
    held: held.promise,
    release(): void {
      isReleased = true
      isHolding = false
      for (const send of waiting.splice(0)) send()
    },
  }
}

function methodsOf(client: SpaceClient): SpaceClient {
  return {
    get: (...given) => client.get(...given),
    list: (...given) => client.list(...given),
    watch: (...given) => client.watch(...given),
    create: (...given) => client.create(...given),
    update: (...given) => client.update(...given),
    patch: (...given) => client.patch(...given),
    delete: (...given) => client.delete(...given),
    discover: () => client.discover(),
  }
}
