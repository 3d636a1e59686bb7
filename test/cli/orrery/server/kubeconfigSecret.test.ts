/** The kubeconfigs that a server puts into a Secret of the cluster that it runs in. */
import { join } from 'node:path'
import t from 'tap'
import { statusError } from '../../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { kubeconfigWriter } from '../../../../src/cli/orrery/server/hostCluster.ts'
import { KubeconfigSecret, SERVER_ANNOTATION, secretName } from '../../../../src/cli/orrery/server/kubeconfigSecret.ts'
import { httpSpaceClient } from '../../../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../../../src/client/kubeconfig.ts'
import { silentLogger } from '../../../../src/client/logger.ts'
import { startTestServer } from '../../../support/server.ts'

const SECRETS = { group: '', version: 'v1', resource: 'secrets' }

t.test('a server writes them into another cluster, for outside and for inside', async t => {
  const { server, dataDir } = await startTestServer(t)
  const kubeconfig = join(dataDir, 'admin.kubeconfig')
  const lines: string[] = []
  const note = (_: unknown, text: string): void => void lines.push(text)
  const told = Promise.withResolvers<void>()
  const log = { ...silentLogger, warn: note, error: note, info: () => told.resolve() }
  const writer = await kubeconfigWriter({ secret: 'orrery', kubeconfig }, log)
  const facts = {
    external: 'https://orrery.example.org',
    internal: 'https://orrery.ns.svc:443',
    kubeconfigFor: (url: string) => server.kubeconfigFor(url),
    caPem: () => server.caPem,
  }
  const secret = writer(facts)
  t.teardown(() => secret.stop())
  secret.write()
  await told.promise
  const { url } = server
  t.match(server.kubeconfigFor(url), `server: "${url}/clusters/root"`)
  const read = async () => {
    const client = httpSpaceClient((await loadKubeconfig(kubeconfig)).options)
    try {
      return await client.get(SECRETS, { namespace: 'default', name: 'orrery' })
    } finally {
      client.close()
    }
  }
  const { data, metadata } = (await read()) as KubeObject & { data: Record<string, string> }
  const text = (key: string): string => Buffer.from(data[key]!, 'base64').toString()
  t.match(text('external.kubeconfig'), 'server: "https://orrery.example.org/clusters/root"')
  t.match(text('cluster.kubeconfig'), 'server: "https://orrery.ns.svc:443/clusters/root"')
  t.equal(text('admin.kubeconfig'), text('external.kubeconfig'))
  t.match(metadata.annotations?.[SERVER_ANNOTATION], /^[0-9a-f]{32}$/)
  t.same(lines, [])
})

const CA = await (async () => {
  const { issueCa } = await import('../../../../src/apiserver/pki/issue.ts')
  return (await issueCa({ commonName: 'ca', nowMs: Date.now(), days: 2 })).certPem
})()

/** A cluster with given answers, and a clock that is moved by hand. */
function host(answers: { get?: () => Promise<KubeObject>; patch?: () => Promise<KubeObject> } = {}) {
  const lines: string[] = []
  const written: unknown[] = []
  let next: (() => void) | undefined
  let waiting = Promise.withResolvers<number>()
  const secret = new KubeconfigSecret({
    client: {
      get: answers.get ?? (async () => Promise.reject(statusError.notFound(SECRETS, 's'))),
      async patch(_resource, _ref, _type, body) {
        await answers.patch?.()
        written.push(body)
        return body as KubeObject
      },
    },
    namespace: 'ns',
    name: 's',
    external: undefined,
    internal: 'https://inside:443',
    kubeconfigFor: server => `to ${server}`,
    caPem: () => CA,
    clock: {
      after(delayMs, run) {
        next = run
        waiting.resolve(delayMs)
        return () => {}
      },
    },
    log: {
      ...silentLogger,
      info: (_, text) => void lines.push(`info ${text}`),
      warn: (_, text) => void lines.push(`warn ${text}`),
      error: (_, text) => void lines.push(`error ${text}`),
    },
  })
  const rest = async (): Promise<number> => {
    const delayMs = await waiting.promise
    waiting = Promise.withResolvers<number>()
    return delayMs
  }
  return { secret, lines, written, rest, wake: () => next?.() }
}

t.test('a cluster that is away is asked again, and one line tells of it', async t => {
  let away = true
  const { secret, lines, written, rest, wake } = host({
    patch: async () => (away ? Promise.reject(new Error('no route')) : ({} as KubeObject)),
  })
  secret.write()
  t.equal(await rest(), 30_000)
  wake()
  await rest()
  t.match(lines, [/^error the kubeconfigs could not be written: the ServiceAccount must get and patch Secret s in ns/])
  away = false
  wake()
  t.equal(await rest(), 3_600_000)
  t.match(lines[1], /^info the kubeconfigs are in the Secret/)
  t.equal(written.length, 1)
  await secret.stop()
})

t.test('a Secret of another server is told of', async t => {
  const foreign = { metadata: { annotations: { [SERVER_ANNOTATION]: 'another' } } } as unknown as KubeObject
  const { secret, lines, rest } = host({ get: async () => foreign })
  secret.write()
  await rest()
  t.match(lines[0], /^warn the Secret held the kubeconfigs of another Orrery server.*a --kubeconfig-secret of its own/)
})

t.test('what is no name, and no cluster, is refused before the server starts', async t => {
  t.same(secretName('ns/a.b'), { namespace: 'ns', name: 'a.b' })
  for (const wrong of ['', 'A', 'a/', 'a b'])
    t.throws(() => secretName(wrong), { message: /^--kubeconfig-secret: / }, wrong)
  const none = kubeconfigWriter({ secret: 's', kubeconfig: '/nowhere' }, silentLogger)
  await t.rejects(none, { message: /^--kubeconfig-secret: --host-kubeconfig \/nowhere cannot be used: ENOENT/ })
  await t.rejects(kubeconfigWriter({ secret: 's', kubeconfig: undefined }, silentLogger), {
    message: '--kubeconfig-secret: this is no Pod; give --host-kubeconfig, or leave both out',
  })
})
