/** A server that outlives its authority's certificate renews its clients' trust in every place. */
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { embeddedClient } from '../../../src/apiserver/embedded/embeddedClient.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { startBuiltinControllers } from '../../../src/controllers/builtinControllers.ts'
import { renewalClock } from '../../support/renewalClock.ts'
import { startTestServer } from '../../support/server.ts'
import { realTime } from '../../support/time.ts'

const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS
const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' }
const NAMESPACE = 'default'

t.test('ConfigMaps and token Secrets follow a renewed authority', async t => {
  const nowMs = Date.now()
  const clock = renewalClock(nowMs - 9.5 * YEAR_MS)
  const { server, faults } = await startTestServer(t, { more: { certificateClock: clock } })
  const clientFor = (component: string) =>
    embeddedClient({ services: server.services, store: server.store, tree: server.tree, component })
  const { caPem: first } = server
  const controllers = startBuiltinControllers({ ...realTime(), clientFor, caPem: first, logger: silentLogger })
  t.teardown(() => controllers.stop())
  server.onAuthority(caPem => controllers.useAuthority(caPem))
  const root = clientFor('test').in('root')
  /** The authority that an object tells: the wanted one, or any to begin with. A wait in vain runs into the time limit. */
  const authorityOf = async (resource: typeof SECRETS, name: string, wanted?: string): Promise<string> => {
    for (;;) {
      const { items } = await root.list(resource, { namespace: NAMESPACE })
      const object = items.find(({ metadata }) => metadata.name === name)
      const text = (object?.data as Record<string, string> | undefined)?.['ca.crt']
      const pem = resource === SECRETS ? Buffer.from(text ?? '', 'base64').toString() : text
      if (pem && (wanted === undefined || pem === wanted)) return pem
      await setImmediate()
    }
  }
  t.equal(await authorityOf(CONFIG_MAPS, 'kube-root-ca.crt'), first)
  // a token Secret without its account is deleted, and ConfigMap and account come in no order
  while ((await root.list(ACCOUNTS, { namespace: NAMESPACE })).items.length === 0) await setImmediate()
  const annotations = { 'kubernetes.io/service-account.name': 'default' }
  const metadata = { name: 'token', namespace: NAMESPACE, annotations }
  await root.create(SECRETS, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata,
    type: 'kubernetes.io/service-account-token',
  })
  t.equal(await authorityOf(SECRETS, 'token'), first)
  const { token } = (await root.get(SECRETS, { namespace: NAMESPACE, name: 'token' })).data as { token: string }

  const renewed = new Promise<string>(resolve => server.onAuthority(resolve))
  clock.leapTo(nowMs)
  const second = await renewed
  t.not(second, first)
  t.equal(server.caPem, second)
  t.equal(await authorityOf(CONFIG_MAPS, 'kube-root-ca.crt', second), second)
  t.equal(await authorityOf(SECRETS, 'token', second), second)
  const secret = await root.get(SECRETS, { namespace: NAMESPACE, name: 'token' })
  t.match(secret.data, { token }, 'the token itself stays')
  t.strictSame(faults, [])
})
