/** An API server inside the test's process, on a free port, with a data dir of its own that goes away with the test. */
import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import { parse } from 'yaml'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { type ApiServer, startApiServer } from '../../src/apiserver/apiServer.ts'
import type { ApiServerOptions } from '../../src/apiserver/apiServerOptions.ts'
import { elsewhere } from '../../src/cli/orrery/server/placementOptions.ts'
import { type Access, Api } from './api.ts'
import { temporaryDir } from './temporaryDir.ts'

export { temporaryDir }

/** Users of the static token file: a member of nothing, another one, and the space's own stranger. */
export const ALICE = 'token-of-alice'
export const BOB = 'token-of-bob'
const TOKENS = `${ALICE},alice,u-1\n${BOB},bob,u-2\n`

/** All tests can be run with them; bounds that a test gives are those of a server without. */
const API_THREADS = Number(process.env.API_THREADS ?? 0)
/** Where the server's process is its client's, too, loops are busy for long: nobody is to be let go for that, or thought to hang. */
const PULSE_MS = 60_000

/** For tests whose webhooks run beside the server, where none may be unless the operator says so. */
export const WEBHOOKS_HERE: TestServerOptions = { more: { webhookAllowedHosts: ['localhost'] } }

/** For tests that reach into the server's parts. */
export const ON_MAIN_THREAD: TestServerOptions = { more: { apiThreads: 0 } }

export interface TestServer {
  readonly api: Api
  readonly server: ApiServer
  readonly dataDir: string
  /** Logged errors of the server; a test that expects none checks it. */
  readonly faults: string[]
  /** Stops the server and starts another one on the same data dir, with the options `more` in addition. */
  restart(more?: Partial<ApiServerOptions>): Promise<TestServer>
}

export interface TestServerOptions {
  /** Folder of a server that does not run; default: a fresh one. */
  dataDir?: string
  /** Whether Pods need a ServiceAccount that exists. */
  serviceAccounts?: boolean
  /** False serves one plain cluster at `/`. */
  spaces?: boolean
  historyAgeMs?: number
  /** Any other options of a server. */
  more?: Partial<ApiServerOptions>
}

export async function startTestServer(t: Test, options: TestServerOptions = {}): Promise<TestServer> {
  return start(t, options.dataDir ?? temporaryDir(t), options)
}

async function start(t: Test, dataDir: string, options: TestServerOptions): Promise<TestServer> {
  const faults: string[] = []
  const note = (fields: unknown, text?: string): void => {
    const error = (fields as { err?: unknown; error?: unknown }).err ?? (fields as { error?: unknown }).error
    faults.push(`${text ?? fields}${error instanceof Error ? `: ${error.stack}` : ''}`)
  }
  const quiet = (): void => {}
  const server = await startApiServer({
    dataDir,
    bindAddress: '127.0.0.1',
    securePort: 0,
    externalHostnames: [],
    spaces: options.spaces ?? true,
    ...(options.spaces !== false && { elsewhere }),
    tokenFile: TOKENS,
    // no controllers run here that would make the accounts
    disabledAdmissionPlugins: options.serviceAccounts ? [] : ['ServiceAccount'],
    ...(options.historyAgeMs !== undefined && { historyAgeMs: options.historyAgeMs }),
    apiThreadPulseMs: PULSE_MS,
    ...(API_THREADS > 0 && !options.more?.strangers && !options.more?.inFlight && { apiThreads: API_THREADS }),
    log: { error: note, warn: quiet, info: quiet, debug: quiet } as never,
    ...options.more,
  })
  const api = new Api({ ...accessOf(server.kubeconfigPath), url: server.url })
  let closed = false
  const close = async (): Promise<void> => {
    if (closed) return
    closed = true
    await server.close()
    api.close()
  }
  t.teardown(close)
  return {
    api,
    server,
    dataDir,
    faults,
    async restart(more) {
      await close()
      return start(t, dataDir, { ...options, more: { ...options.more, ...more } })
    },
  }
}

/** The credentials of a kubeconfig's only user. */
export function accessOf(kubeconfig: string): Access {
  const config = parse(readFileSync(kubeconfig, 'utf8')) as {
    clusters: { cluster: Record<string, string> }[]
    users: { user: Record<string, string> }[]
  }
  const { cluster } = config.clusters[0]!
  const { user } = config.users[0]!
  const decoded = (text: string | undefined): string | undefined => text && Buffer.from(text, 'base64').toString()
  const ca = decoded(cluster['certificate-authority-data'])
  const cert = decoded(user['client-certificate-data'])
  const key = decoded(user['client-key-data'])
  return {
    url: new URL(cluster.server!).origin,
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(user.token && { token: user.token }),
  }
}

/** Makes a Workspace, of a type if one is named, and waits until its space can be used. Returns the space's id. */
export async function createSpace(api: Api, name: string, type?: string): Promise<string> {
  const path = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
  const made = await api.ok(
    api.post(path, {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'Workspace',
      metadata: { name },
      ...(type !== undefined && { spec: { type: { name: type, path: 'root' } } }),
    }),
  )
  const { resourceVersion } = made.metadata
  const watch = await api.watch(
    `${path}?watch=1&fieldSelector=metadata.name=${name}&resourceVersion=${resourceVersion}`,
  )
  let object: KubeObject = made
  while ((object.status as { phase?: string } | undefined)?.phase !== 'Ready') object = (await watch.take(1))[0]!.object
  watch.close()
  return (object.spec as { cluster: string }).cluster
}

export function configMap(name: string, data: Record<string, string> = {}, metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data }
}
export const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
