/** `kubectl rollout status` in a workload space waits for the last cluster of several, and ends. */
import { join } from 'node:path'
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { at, Center, clientOf, deployment, mailboxOf } from '../syncer/support/installation.ts'
import { DEPLOYMENTS, JOBS, LOCATIONS, NAMESPACES, PLACEMENTS, TARGETS } from '../syncer/support/kinds.ts'
import { Command, Program, until } from '../syncer/support/processes.ts'
import { condition } from './support/florin.ts'

const NAMES = ['florin', 'guilder', 'kyat'] as const
const EDGE = 'edge.kubestellar.io/v2alpha1'
const WEB = at('web')
const COUNT = 'kubestellar.io/executing-count'

const imageOf = (object: KubeObject | undefined): unknown =>
  (object?.spec as { template: { spec: { containers: { image: string }[] } } } | undefined)?.template.spec.containers[0]
    ?.image
const statusOf = (object: KubeObject | undefined) => (object?.status ?? {}) as Record<string, unknown>

t.test('one Deployment in three clusters', { timeout: FILE_LIMIT_MS }, async t => {
  const dir = temporaryDir(t)
  const center = new Center(t, join(dir, 'center'))
  await center.start()
  const [inventory, wds] = [center.in('root:imw1'), center.in('root:wmw1')]
  const clusters = await Promise.all(
    NAMES.map(async name => {
      const data = join(dir, name)
      await new Command(t, ['simulate-wec', '--name', name, '--data-dir', data, '--secure-port', '0']).said('ready')
      const target = await inventory.create(TARGETS, {
        apiVersion: EDGE,
        kind: 'SyncTarget',
        metadata: { name, labels: { id: name } },
        spec: {},
      })
      await inventory.create(LOCATIONS, {
        apiVersion: EDGE,
        kind: 'Location',
        metadata: { name, labels: { env: 'prod', id: name } },
        spec: {
          resource: { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'synctargets' },
          instanceSelector: { matchLabels: { id: name } },
        },
      })
      const [from, to] = [join(dir, `${name}.kubeconfig`), join(data, 'admin.kubeconfig')]
      await center.syncerKubeconfig(from, await mailboxOf(center, target))
      const serve = () => new Command(t, ['syncer', '--from-kubeconfig', from, '--to-kubeconfig', to, '--qps', '0'])
      return { client: await clientOf(t, to), serve, syncer: serve() }
    }),
  )
  const kubectl = (...args: string[]) => {
    const kubeconfig = join(center.dir, 'admin.kubeconfig')
    const where = ['--kubeconfig', kubeconfig, '--server', `${center.url}/clusters/root:wmw1`, '-n', 'shop']
    return Program.spawned(t, 'kubectl', [...where, ...args])
  }
  const rollout = () => kubectl('rollout', 'status', 'deployment/web', '--timeout=10m')

  await wds.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  await wds.create(PLACEMENTS, {
    apiVersion: EDGE,
    kind: 'EdgePlacement',
    metadata: { name: 'web' },
    spec: {
      locationSelectors: [{ matchLabels: { env: 'prod' } }],
      downsync: [{ apiGroup: 'apps', resources: ['deployments'], namespaces: ['shop'], objectNames: ['*'] }],
      wantMultiWECReportedState: true,
    },
  })
  await wds.create(DEPLOYMENTS, deployment)
  const first = rollout()
  t.equal(await first.exited(), 0, 'it ends for three clusters')
  await first.said('successfully rolled out')
  const whole = await wds.get(DEPLOYMENTS, WEB)
  t.equal(whole.metadata.annotations?.[COUNT], '3')
  t.match(statusOf(whole), { replicas: 1, updatedReplicas: 1, availableReplicas: 1, observedGeneration: 1 })

  // a cluster that hears nothing keeps it from ending
  const [kyat, ...others] = [...clusters].reverse() as [(typeof clusters)[0], ...typeof clusters]
  await kyat.syncer.end()
  await wds.patch(DEPLOYMENTS, WEB, 'strategic', {
    spec: { template: { spec: { containers: [{ name: 'c', image: 'nginx:2' }] } } },
  })
  const { generation = 0 } = (await wds.get(DEPLOYMENTS, WEB)).metadata
  const observed = (object: KubeObject | undefined) =>
    imageOf(object) === 'nginx:2' && statusOf(object).updatedReplicas === 1
  for (const { client } of others) await until(client, DEPLOYMENTS, WEB, observed)
  const second = rollout()
  await second.said('Waiting for deployment spec update to be observed')
  t.not(statusOf(await wds.get(DEPLOYMENTS, WEB)).observedGeneration, generation)
  t.equal(imageOf(await kyat.client.get(DEPLOYMENTS, WEB)), 'nginx')
  kyat.serve()
  t.equal(await second.exited(), 0, 'and it ends when the last one has it')
  t.ok(observed(await kyat.client.get(DEPLOYMENTS, WEB)))

  // one Location fewer, one more; nobody asks any more
  const choose = (...names: string[]) =>
    wds.patch(PLACEMENTS, { name: 'web' }, 'merge', {
      spec: { locationSelectors: names.map(id => ({ matchLabels: { id } })) },
    })
  await choose('florin')
  const counted = (count: string) => (object: KubeObject | undefined) => object?.metadata.annotations?.[COUNT] === count
  await until(wds, DEPLOYMENTS, WEB, counted('1'))
  t.equal(await rollout().exited(), 0, 'for one cluster its status is the status')
  await choose('florin', 'guilder')
  await until(wds, DEPLOYMENTS, WEB, counted('2'))
  t.equal(await rollout().exited(), 0)
  await wds.patch(PLACEMENTS, { name: 'web' }, 'merge', { spec: { wantMultiWECReportedState: false } })
  const bare = (object: KubeObject | undefined) => statusOf(object).observedGeneration === undefined
  await until(wds, DEPLOYMENTS, WEB, bare)
  t.same(statusOf(await wds.get(DEPLOYMENTS, WEB)), {}, 'nobody asks: what was returned is taken back')

  // of other kinds nothing can be said of several clusters, and the placement says so
  const job: KubeObject = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'once', namespace: 'shop' },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
  }
  const wish = (rest: object) =>
    wds.patch(PLACEMENTS, { name: 'web' }, 'merge', {
      spec: {
        downsync: [{ resources: ['deployments', 'jobs'], namespaces: ['shop'], objectNames: ['*'] }],
        wantMultiWECReportedState: true,
        ...rest,
      },
    })
  await wds.create(JOBS, job)
  await wish({})
  const withheld = (status: string) => (object: KubeObject | undefined) =>
    condition(object, 'StatusWithheld')?.status === status
  const told = await until(wds, PLACEMENTS, { name: 'web' }, withheld('True'))
  const { message } = condition(told, 'StatusWithheld')
  t.match(message, /jobs\.batch \(such as "shop\/once", in 2\)/)
  t.notMatch(message, /deployments/, 'what comes back is not missed')
  await center.end()
  await center.start()
  await choose('florin')
  const over = await until(wds, PLACEMENTS, { name: 'web' }, withheld('False'))
  t.match(condition(over, 'StatusWithheld'), { reason: 'NothingWithheld', message: '' })
  await choose('florin', 'guilder')
  await until(wds, PLACEMENTS, { name: 'web' }, withheld('True'))
  await center.end()
  await center.start()
  await wds.patch(PLACEMENTS, { name: 'web' }, 'merge', { metadata: { labels: { seen: 'again' } } })
  await until(wds, PLACEMENTS, { name: 'web' }, object => condition(object, 'Applied')?.status === 'True')
  t.equal(
    condition(await wds.get(PLACEMENTS, { name: 'web' }), 'StatusWithheld').status,
    'True',
    'also after a restart',
  )
})
