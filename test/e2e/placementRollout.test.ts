/** `kubectl rollout status` in a workload space waits for the last cluster of several, and ends; the commands and notices of docs/rollouts.md. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { startReceiver } from '../controllers/notices/receiver.ts'
import { FILE_LIMIT_MS, PATIENCE } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { at, Center, clientOf, deployment, mailboxOf } from '../syncer/support/installation.ts'
import { DEPLOYMENTS, JOBS, LOCATIONS, MAPS, NAMESPACES, PLACEMENTS, TARGETS } from '../syncer/support/kinds.ts'
import { Command, Program, until } from '../syncer/support/processes.ts'
import { condition, Florin } from './support/florin.ts'
import { Terminal } from './support/terminal.ts'
import { shellBlocks } from './support/typedIn.ts'

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

  // a silent cluster keeps it from ending
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

  // other kinds have no combined status over several clusters, and the placement reports that
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
  // the condition of this generation is not one that the former server left
  const { metadata } = await wish({ preserveResourcesOnDeletion: true })
  const anew = await until(wds, PLACEMENTS, { name: 'web' }, object =>
    ['Applied', 'StatusWithheld'].every(type => condition(object, type)?.observedGeneration === metadata.generation),
  )
  t.equal(condition(anew, 'StatusWithheld').status, 'True', 'also after a restart')
})

const ROOT = join(import.meta.dirname, '../..')
const ROLLOUTS = { group: 'edge.kubestellar.io', version: 'v1alpha1', resource: 'placementrollouts' }
const REVISIONS = { ...ROLLOUTS, resource: 'placementrevisions' }
const SINKS = { group: 'edge.kubestellar.io', version: 'v1alpha1', resource: 'noticesinks' }
const PAGE = { namespace: 'store', name: 'web' }

t.test('the commands of rollouts.md', { timeout: FILE_LIMIT_MS }, async t => {
  const florin = await Florin.begin(t, { serverFlags: ['--webhook-allowed-hosts', 'localhost'] })
  const receiver = await startReceiver(t)
  const guilder = await florin.join('guilder', { env: 'prod', tier: 'prod' })
  const kyat = await florin.join('kyat', { env: 'prod', tier: 'prod' })
  const lira = await florin.join('lira', { env: 'test' })
  const { inventory, wds } = florin
  await inventory.patch(LOCATIONS, { name: 'florin' }, 'merge', { metadata: { labels: { tier: 'canary' } } })
  const dir = temporaryDir(t)
  copyFileSync(florin.kubeconfig, join(dir, 'kubeconfig'))
  const terminal = new Terminal(t, { dir, env: { KUBECONFIG: join(dir, 'kubeconfig') } })
  const run = async (script: string) => {
    const { code, out, err } = await terminal.run(script)
    return { code, told: out + err }
  }
  const done = async (script: string) => t.match(await run(script), { code: 0 }, script)
  const page = readFileSync(join(ROOT, 'docs/rollouts.md'), 'utf8')
  const blocks = shellBlocks(page).map(({ script }) => script)
  const [stage = '', before = '', follow = '', changes = '', pipeline = '', approve = '', undo = '', ...others] = blocks
  const [hold = '', notices = ''] = others
  t.equal(blocks.length, 9)
  const [, plain = '', groups = ''] = /```yaml\n(.*?)```.*?```yaml\n(.*?)```/s.exec(page) ?? []
  writeFileSync(join(dir, 'web.yaml'), plain)
  const windowless = groups.replace(/^ *windows:.*\n/m, '').replace('10m', '1s')
  writeFileSync(join(dir, 'groups.yaml'), plain.replace(/ {2}rolloutStrategy:.*/s, windowless))
  mkdirSync(join(dir, 'app'))
  const edit = (text: string) => {
    const data = { page: text }
    writeFileSync(
      join(dir, 'app/web.json'),
      JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: PAGE, data }),
    )
  }
  const clusters = { florin: florin.cluster, guilder: guilder.cluster, kyat: kyat.cluster }
  const pages = async () =>
    await Promise.all(
      Object.values(clusters).map(async one => ((await one.get(MAPS, PAGE)).data as Record<string, string>).page),
    )
  const rolloutIs =
    (state: string, reason: string) =>
    (object: KubeObject | undefined): boolean =>
      statusOf(object).state === state && statusOf(object).reason === reason
  const [apply = '', status = ''] = pipeline.trim().split('\n')
  /** Applies what was edited, and waits until its rollout waits for an approval. */
  const stops = async (): Promise<void> => {
    const { items } = await wds.list(ROLLOUTS)
    const last = Math.max(...items.map(one => Number(one.metadata.name?.slice('web.'.length))))
    await done(apply)
    await until(wds, ROLLOUTS, { name: `web.${last + 1}` }, rolloutIs('Waiting', 'ApprovalRequired'))
  }

  // two spaces with sinks, one of them as the page has it
  const { caBundle } = receiver
  const [, onCall = ''] = /```yaml\n([^`]*kind: NoticeSink[^`]*)```/.exec(page) ?? []
  writeFileSync(join(dir, 'on-call.yaml'), `${onCall}  caBundle: ${caBundle}\n`)
  const cloudEvents = {
    apiVersion: 'edge.kubestellar.io/v1alpha1',
    kind: 'NoticeSink',
    metadata: { name: 'all' },
    spec: { url: `${receiver.url}/imw1`, caBundle },
  }
  await inventory.create(SINKS, cloudEvents)
  await wds.create(SINKS, { ...cloudEvents, spec: { url: `${receiver.url}/wmw1`, caBundle } } as KubeObject)
  await until(inventory, TARGETS, { name: 'lira' }, object => condition(object, 'Ready')?.status === 'True')
  await lira.syncer.end()
  await done(`kubectl ws root:wmw1\n${notices.replace(/https:\S+/, `${receiver.url}/slack`)}`)
  await done(`kubectl wait --for=condition=Delivered noticesink/on-call --timeout=${PATIENCE}`)

  await done(stage)
  t.same(await pages(), ['one', 'one', 'one'])
  const stages =
    /^rollout of web: 1 stage; each cluster is done after 2s of health\n {2}1\. 1 at once, 0 may fail\n {5}clusters in no group: imw1\.florin, imw1\.guilder, imw1\.kyat\n/m
  t.match(await run(before), { code: 0, told: stages })
  t.same(await pages(), ['one', 'one', 'one'], 'nothing moves')
  for (const line of follow.trim().split('\n')) {
    const { code, told } = await run(line)
    t.ok(code === 0 || (code === 3 && /rollout status/.test(line)), `${line}: ${told}`)
  }
  await until(wds, REVISIONS, { name: 'web.2' }, object => object !== undefined)
  edit('three')
  await done(pipeline)
  t.same(await pages(), ['three', 'three', 'three'], 'the pipeline waited for all')
  const [, changed = '', differs = '', made = ''] = changes.trim().split('\n')
  t.match(await run(changed), { code: 0, told: /^- {2}page: one\n\+ {2}page: two$/m })
  t.match(await run(differs), { code: 0, told: /^- {2}page: one\n\+ {2}page: three$/m })
  const first =
    /^configmaps "store\/web" is in revision 1 of placement web by \S+, \w+ ago, which made it so\nit is otherwise now/
  t.match(await run(made), { code: 0, told: first })
  t.match(await run(made), { told: /^LOCATION[\s\S]*florin .* Done /m })
  // a write that changes no content makes no revision, and a pipeline ends all the same
  await done('kubectl annotate configmap/web -n store --overwrite kubectl.kubernetes.io/last-applied-configuration={}')
  await done('kubectl kubestellar rollout status web -f app/ -f web.yaml --watch --timeout 10m')
  t.match((await run('kubectl kubestellar rollout history web')).told, /REVISION[\s\S]*Done/)

  // groups: the second waits for an approval
  await done('kubectl apply -f groups.yaml')
  edit('four')
  await stops()
  t.match(await run(status.replace('--watch --timeout 30m', '')), { code: 3, told: /waits for an approval/ })
  t.same(await pages(), ['four', 'three', 'three'])
  const [pause = '', resume = '', pin = '', unpin = '', expedite = ''] = hold.trim().split('\n')
  for (const line of [pause, resume, pin, unpin]) await done(line)
  t.match((await run('kubectl kubestellar why configmap/web -n store')).told, /ApprovalRequired|waits for an approval/)
  await done(approve)
  await done('kubectl kubestellar rollout status web --watch --timeout 10m')
  t.same(await pages(), ['four', 'four', 'four'])
  edit('five')
  await stops()
  t.same(await pages(), ['five', 'four', 'four'])
  await done(expedite)
  await done('kubectl kubestellar rollout status web --watch --timeout 10m')
  t.same(await pages(), ['five', 'five', 'five'])

  // a cluster that refuses the edit stops it, and what has it goes back
  await done('kubectl apply -f web.yaml')
  await clusters.guilder.patch(MAPS, PAGE, 'merge', { immutable: true })
  edit('six')
  t.match(await run(pipeline), { code: 1, told: /1 of 3 clusters failed and 0 may: guilder/ })
  const withPlacement = 'kubectl kubestellar rollout status web -f app/ -f web.yaml --watch --timeout 10m'
  t.match(await run(withPlacement), { code: 1, told: /guilder/ }, 'also where the placement is among the files')
  t.same(await pages(), ['six', 'five', 'five'], 'the third never had it')
  const [back = '', watch = '', lifted = ''] = undo.trim().split('\n')
  await done(back)
  await done(watch)
  t.same(await pages(), ['five', 'five', 'five'])
  t.match(await run('kubectl get edgeplacement web -o wide'), { code: 0, told: /Pinned/ })
  await done(lifted)

  const reasons = (path: string) => new Set(receiver.reasonsAt(path))
  await receiver.until(() => reasons('/imw1').has('ClusterSilent'))
  const told = [
    'ApprovalRequired',
    'RevisionPinned',
    'RolledBack',
    'RolloutDone',
    'RolloutFailed',
    'RolloutProgressing',
  ]
  await receiver.until(() => told.every(reason => reasons('/wmw1').has(reason)))
  t.notOk(reasons('/imw1').has('RolloutFailed'), 'each space has its own')
  // sinks go on each by itself
  const slack = (reason: string) => receiver.at('/slack').filter(({ body }) => body.text.includes(`*${reason}*`))
  // an Event that is written anew before it is sent gives one notice, with its newest text
  await receiver.until(() => ['ApprovalRequired', 'RolloutFailed'].every(reason => slack(reason).length > 0))
  t.match(
    slack('RolloutFailed')[0]?.body.text,
    /^:warning: \*RolloutFailed\* EdgePlacement web in root:wmw1\nrevision \d+: 1 of 3 clusters failed/,
  )
  t.match(await run('kubectl get noticesinks'), { code: 0, told: /on-call +Slack +True +Delivered +\d+ +0 / })
})
