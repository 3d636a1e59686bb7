/** The API server's own queues leave aside what an earlier process died of, and go on with the rest. */
import { join } from 'node:path'
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { UnderwayFile } from '../../src/client/setAside/underwayFile.ts'
import { FakeClock } from '../client/support/fakeClock.ts'
import type { Api } from '../support/api.ts'
import { createSpace, startTestServer } from '../support/server.ts'

const WORKSPACES = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const LEVELS = '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations'
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'
const SECRETS = '/api/v1/namespaces/default/secrets'

const definition = (plural: string, kind: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.doom.example.com` },
  spec: {
    group: 'doom.example.com',
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
})
const secret = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/service-account-token',
  metadata: { name, annotations: { 'kubernetes.io/service-account.name': 'robot' } },
})

async function until(api: Api, path: string, name: string, wanted: (object: KubeObject) => boolean): Promise<void> {
  const watch = await api.watch(`${path}?watch=1&resourceVersion=0&fieldSelector=metadata.name=${name}`)
  for (;;) {
    const event = await watch.next()
    if (event === undefined) throw new Error('the watch ended')
    if (wanted(event.object)) break
  }
  watch.close()
}
const isReady = ({ status }: KubeObject): boolean => (status as { phase?: string } | undefined)?.phase === 'Ready'
const isServed = ({ status }: KubeObject): boolean => JSON.stringify(status ?? {}).includes('Established')
const isFilled = ({ data }: KubeObject): boolean => JSON.stringify(data ?? {}).includes('token')

t.test('spaces, definitions, token Secrets and flow control', async t => {
  const clock = new FakeClock()
  const first = await startTestServer(t)
  const space = await createSpace(first.api, 'tenant')
  await first.server.close()
  const underway = new UnderwayFile(join(first.dataDir, 'underway'), error => {
    throw error
  })
  underway.begin({ queue: 'spaces', id: 'root/doom', tried: false })
  underway.begin({ queue: 'definitions', id: `${space}/dooms.doom.example.com`, tried: false })
  underway.begin({ queue: 'token-secrets', id: `${space} secrets default/doom`, tried: false })
  underway.begin({ queue: 'flow-control', id: 'root prioritylevelconfigurations exempt', tried: false })

  const { api, server } = await first.restart({ trialClock: clock })
  t.equal((await api.get(`${LEVELS}/exempt`)).code, 200, 'flow control has begun all the same')
  const tenant = api.in('root:tenant')
  const make = async (name: string): Promise<void> => {
    await api.ok(api.post(WORKSPACES, { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } }))
    await tenant.ok(tenant.post(CRDS, definition(`${name}s`, name === 'doom' ? 'Doom' : 'Good')))
    await tenant.ok(tenant.post(SECRETS, secret(name)))
  }
  const done = async (name: string): Promise<void> => {
    await until(api, WORKSPACES, name, isReady)
    await until(tenant, CRDS, `${name}s.doom.example.com`, isServed)
    await until(tenant, SECRETS, name, isFilled)
  }
  await tenant.ok(tenant.post(ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } }))
  await make('doom')
  await make('good')
  await done('good')
  t.notOk(isReady((await api.get(`${WORKSPACES}/doom`)).body), 'the space waits')
  t.notOk(isServed((await tenant.get(`${CRDS}/dooms.doom.example.com`)).body), 'the definition waits')
  t.notOk(isFilled((await tenant.get(`${SECRETS}/doom`)).body), 'the Secret waits')
  t.same([...server.setAside.counts().keys()].sort(), ['definitions', 'flow-control', 'spaces', 'token-secrets'])
  t.match((await api.get('/metrics')).text, /^orrery_controller_keys_set_aside\{controller="spaces"\} 1$/m)
  const trials = done('doom')
  for (let tries = 0; tries < 50 && server.setAside.counts().size > 0; tries++) await clock.advance(11_000)
  await trials
  t.same([...server.setAside.counts()], [], 'nothing was wrong with them')
})
