// Secrets that ask for a token of a ServiceAccount: they travel empty, each server fills its own, and no token leaves its server.
import t from 'tap'
import type { GroupVersionResource, KubeObject } from '../../src/apimachinery/object.ts'
import { embeddedClient } from '../../src/apiserver/embedded/embeddedClient.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { startSyncer } from '../../src/syncer/syncer.ts'
import { startCenter } from '../support/center.ts'
import { ACCOUNTS } from '../support/scene.ts'
import { startTestServer, temporaryDir } from '../support/server.ts'
import { realTime } from '../support/time.ts'
import { World } from '../support/world.ts'

const SECRETS: GroupVersionResource = { group: '', version: 'v1', resource: 'secrets' }
const NATURED = { 'edge.kubestellar.io/natured': 'true' }
const tokenOf = (object: KubeObject | undefined): unknown => (object?.data as { token?: unknown } | undefined)?.token
const account = (name: string, labels?: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { namespace: 'app', name, ...(labels && { labels }) },
})
const secret = (name: string, of: string, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'app', name, annotations: { 'kubernetes.io/service-account.name': of } },
  type: 'kubernetes.io/service-account-token',
  ...more,
})
const KEYS = ['robot-token', 'second-token'].map(name => `secrets app/${name}`)

t.test('each server fills its own', async t => {
  const center = await startCenter(t)
  const { server } = await startTestServer(t, { spaces: false, serviceAccounts: true })
  const client = embeddedClient({ ...server, component: 'test' })
  const cluster = client.in('root')
  const world = new World(client)
  const scene = await center.scene('tokens', ['a'])
  const mailbox = await scene.mailbox('a')
  const syncer = startSyncer({
    center: center.client,
    space: mailbox,
    cluster,
    stateDir: temporaryDir(t),
    quietMs: 1e9,
    ...realTime(),
    logger: silentLogger,
  })
  t.teardown(async () => {
    await syncer.stop()
    await world.stop()
  })
  await scene.place('ep', {
    downsync: [{ apiGroup: '', resources: ['secrets', 'serviceaccounts'], namespaces: ['app'] }],
    upsync: [{ apiGroup: '', resources: ['secrets'], namespaces: ['app'], names: ['robot-token', '*'] }],
  })
  const user = center.client.in(scene.wdsId)
  for (const name of ['robot', 'second']) {
    await user.create(ACCOUNTS, account(name))
    await user.create(SECRETS, secret(`${name}-token`, name, { stringData: { token: 'forged' } }))
  }
  await user.create(ACCOUNTS, account('own', NATURED))
  await user.create(SECRETS, secret('own-token', 'own'))
  const filled = (object: KubeObject): boolean => typeof tokenOf(object) === 'string'
  for (const key of KEYS) {
    const there = await world.present('root', key, filled)
    t.not(tokenOf(there), Buffer.from('forged').toString('base64'))
    const copy = await center.world.present(mailbox, key)
    t.equal(copy.data, undefined, 'the copy on its way is empty')
    t.equal(copy.metadata.annotations?.['kubernetes.io/service-account.uid'], undefined)
  }
  const before = tokenOf(world.get('root', KEYS[0]!))
  await user.patch(SECRETS, { namespace: 'app', name: 'robot-token' }, 'merge', { metadata: { labels: { a: 'b' } } })
  const edited = await world.present('root', KEYS[0]!, ({ metadata }) => metadata.labels?.a === 'b')
  t.equal(tokenOf(edited), before, 'an edit leaves what the cluster filled in')

  await center.world.present(scene.wdsId, 'secrets app/own-token')
  await center.settled()
  t.notOk(center.world.get(mailbox, 'secrets app/own-token'), 'of an account that acts here')
  await user.patch(ACCOUNTS, { namespace: 'app', name: 'own' }, 'merge', {
    metadata: { labels: { [Object.keys(NATURED)[0]!]: null } },
  })
  await world.present('root', 'secrets app/own-token', filled)
  for (const key of KEYS) t.equal(center.world.get(mailbox, key)?.data, undefined, 'nothing came back')
  await user.delete(SECRETS, { namespace: 'app', name: 'robot-token' })
  await world.absent('root', KEYS[0]!)
})
