/**
 * The commands of docs/recipes.md with a real server, clusters and syncers, and those of
 * docs/brake.md and docs/travel.md about an EdgePlacement.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { evaluate } from '@marcbachmann/cel-js'
import t, { type Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import { at } from '../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { httpSpaceClient } from '../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../src/client/kubeconfig.ts'
import { CONTROLLER_NAMES, queuesOf } from '../../src/controllers/controllerNames.ts'
import { STAGES } from '../../src/placement/desks/carryFigures.ts'
import { noHelm } from '../deploy/support/helm.ts'
import { FILE_LIMIT_MS, PATIENCE } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { clientOf, gone, is } from '../syncer/support/installation.ts'
import { CRDS, DEPLOYMENTS, LOCATIONS, MAPS, NAMESPACES, PLACEMENTS, TARGETS } from '../syncer/support/kinds.ts'
import { Command, Program, until } from '../syncer/support/processes.ts'
import { condition, Florin, has } from './support/florin.ts'
import { argoHealth, kstatus, refusedOf } from './support/gitopsTool.ts'
import { writeChart } from './support/smallChart.ts'
import { Terminal } from './support/terminal.ts'
import { pagesOf, shellBlocks } from './support/typedIn.ts'

const ROOT = join(import.meta.dirname, '../..')
const ROLLOUT = `
kubectl ws root:shop
kubectl apply -f - <<END
apiVersion: edge.kubestellar.io/v2alpha1
kind: EdgePlacement
metadata: { name: alone }
spec:
  locationSelectors: [{ matchLabels: { env: prod } }]
  downsync: [{ apiGroup: apps, resources: [deployments], namespaces: [shop], objectNames: [alone] }]
  wantSingletonReportedState: true
END
kubectl create deployment alone -n shop --image=web:1
kubectl rollout status deployment/alone -n shop --timeout=${PATIENCE}
kubectl set image deployment/alone -n shop web=web:2
kubectl rollout status deployment/alone -n shop --timeout=${PATIENCE}
`
const SECOND_CLUSTER = `
kubectl ws root
kubectl kubestellar ensure location guilder --imw root:imw1 env=prod
kubectl kubestellar prep-for-syncer guilder --imw root:imw1 --kubeconfig-output guilder-syncer.kubeconfig
`
const WAITING = `
helm install ledger ./chart -n shop --set kind=StatefulSet --wait --timeout ${PATIENCE}
helm install stock ./chart -n shop --wait --timeout ${PATIENCE}
`
const UPGRADE = 'helm upgrade stock ./chart -n shop --set image=stock:2 --wait --timeout'
const PRICES = { namespace: 'shop', name: 'prices' }
const TILL = { namespace: 'shop', name: 'till' }

const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
const SETS = { group: 'apps', version: 'v1', resource: 'statefulsets' }
const REPLICA_SETS = { ...SETS, resource: 'replicasets' }
const GIT_PLACEMENT = {
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'EdgePlacement',
  metadata: { name: 'git' },
  spec: { locationSelectors: [] },
}
const CRONTABS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'crontabs.stable.example.com' },
  spec: {
    group: 'stable.example.com',
    scope: 'Namespaced',
    names: { plural: 'crontabs', singular: 'crontab', kind: 'CronTab' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}
const IN_GIT = [
  [NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'git', labels: { team: 'git' } } }],
  [CRDS, CRONTABS],
  [MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'git', namespace: 'git' }, data: { from: 'git' } }],
  [PLACEMENTS, GIT_PLACEMENT],
] as const

const imageOf = (object: KubeObject | undefined): unknown =>
  at(object, 'spec', 'template', 'spec', 'containers', 0, 'image')

t.test('the recipes', { timeout: FILE_LIMIT_MS }, async t => {
  const florin = await Florin.begin(t)
  const dir = temporaryDir(t)
  const KUBECONFIG = join(dir, 'kubeconfig')
  copyFileSync(florin.kubeconfig, KUBECONFIG)
  const terminal = new Terminal(t, { dir, env: { KUBECONFIG } })
  const run = async (script: string) => {
    const { code, out, err } = await terminal.run(script)
    return { code, told: out + err }
  }
  const page = readFileSync(join(ROOT, 'docs/recipes.md'), 'utf8')
  const blocks = shellBlocks(page).map(({ script }) => script)
  const [differences = '', views = '', waits = '', both = '', forth = '', back = '', rollout = '', ...others] = blocks
  const [summaries = '', ofPods = '', ...rest] = others
  const [git = '', argo = '', flux = '', release = '', goBack = ''] = rest
  t.equal(blocks.length, 14)
  const price = (coffee: string): Promise<KubeObject | undefined> =>
    until(florin.cluster, MAPS, PRICES, is('data', { coffee }))

  t.match(await run(both), { code: 0 })
  const first = await price('2.40')
  t.match(await run(forth), { code: 0, told: /prices .*Applied/ })
  const second = await price('2.60')
  t.equal(second?.metadata.uid, first?.metadata.uid, 'it was never away')
  t.match(await run(back), { code: 0 })
  t.equal((await price('2.40'))?.metadata.uid, first?.metadata.uid)

  // what Argo CD, Flux and `helm --wait` go by: the status of what runs in one cluster comes back, of the newest spec
  t.match(await run(ROLLOUT), { code: 0, told: /successfully rolled out[\s\S]*successfully rolled out/ })
  const one = await florin.space('root:shop').get(DEPLOYMENTS, { namespace: 'shop', name: 'alone' })
  t.same([imageOf(one), argoHealth(one), kstatus(one)], ['web:2', 'Healthy', 'Current'])

  t.match(await run(SECOND_CLUSTER), { code: 0 })
  const guilder = ['--name', 'guilder', '--data-dir', join(dir, 'guilder'), '--secure-port', '0']
  await new Command(t, ['simulate-wec', ...guilder]).said('ready')
  const ends = [join(dir, 'guilder-syncer.kubeconfig'), join(dir, 'guilder', 'admin.kubeconfig')] as const
  new Command(t, ['syncer', '--from-kubeconfig', ends[0], '--to-kubeconfig', ends[1], '--qps', '0'])
  await until(florin.inventory, TARGETS, { name: 'guilder' }, has('Ready', 'True', 'SyncerAlive'))
  const rolled = await run(rollout)
  t.match(rolled, { code: 0, told: /successfully rolled out[\s\S]*successfully rolled out/ })
  const web = { namespace: 'shop', name: 'web' }
  const guilderCluster = await clientOf(t, ends[1])
  for (const cluster of [florin.cluster, guilderCluster]) {
    const there = await cluster.get(DEPLOYMENTS, web)
    t.same([imageOf(there), argoHealth(there)], ['web:2', 'Healthy'], 'it waited for both')
  }
  for (const name of ['florin', 'guilder']) t.match(rolled.told, new RegExp(`^${name} +Deployment +web `, 'm'))
  const alone = await until(
    florin.space('root:shop'),
    PLACEMENTS,
    { name: 'alone' },
    has('StatusWithheld', 'True', 'InSeveralClusters'),
  )
  t.match(
    condition(alone, 'StatusWithheld').message,
    /deployments\.apps \(such as "shop\/alone", in 2\).*wantMultiWECReportedState/,
  )
  t.match(await run('kubectl kubestellar why deployment/alone -n shop'), {
    code: 0,
    told: /StatusWithheld: it is in 2 clusters/,
  })

  copyFileSync(join(ROOT, 'deploy/collectors/collectors.yaml'), join(dir, 'collectors.yaml'))
  const summed = await run(summaries)
  t.match(summed, { code: 0, told: /condition met\n/ })
  t.match(summed.told, /^web +Deployment +web +2 +0 +broken: 0 rows; deployments: clusters=2 .* ready=2 /m)
  t.match(await run(ofPods), {
    code: 0,
    told: /patched\n[\s\S]*^web .*2 +0 +pods: 0 rows\n[\s\S]*pods-broken: 0 rows/m,
  })
  const [, behind = ''] = /## Summaries\n.*?```yaml\n(.*?)```/s.exec(page) ?? []
  writeFileSync(join(dir, 'behind.yaml'), behind)
  t.match(await run('kubectl apply -f behind.yaml'), { code: 0, told: /behind created/ })

  const looks = views.split('\n')
  const watch = looks.filter(line => / -w$/.test(line))
  t.match(await run(`kubectl ws root:shop\n${looks.filter(line => !watch.includes(line)).join('\n')}`), {
    code: 0,
    told: /Name: +shop\n[\s\S]*imw1\.florin:deployments\.apps:web/,
  })
  t.equal(watch.length, 1)
  await Program.spawned(t, 'env', [`KUBECONFIG=${KUBECONFIG}`, ...watch[0]!.split(' ')]).said('florin')
  t.match(await run(waits), { code: 0, told: /(condition met\n[\s\S]*){3}/ })
  const api = shellBlocks(pagesOf('brake.md', 'travel.md'))
  t.equal(api.length, 2)
  for (const { script } of api)
    t.match(
      await run(script.replaceAll(/edgeplacement prices|=NAME$/gm, found => found.replace(/prices|NAME/, 'shop'))),
      {
        code: 0,
        told: /shop/,
      },
    )

  const [, example = ''] = /## Differences between clusters\n.*?```yaml\n(.*?)```/s.exec(page) ?? []
  writeFileSync(join(dir, 'shop.yaml'), example)
  t.match(await run(differences), { code: 1, told: /replicas/ }, 'the preview has something to show')
  t.match(await run('kubectl annotate deployment/web -n shop edge.kubestellar.io/customizer-'), { code: 0 })

  t.match(await run(git + argo + flux), { code: 0, told: /system:serviceaccount:default:gitops/ })
  await t.test('Argo CD and Flux get what they ask for', t => gitops(t, dir))

  await t.test('releases of Helm', { skip: noHelm }, async t => {
    writeChart(join(dir, 'chart'))
    t.match(await run(release), { code: 0, told: /(STATUS: deployed[\s\S]*){2}Deployment +till / })
    for (const cluster of [florin.cluster, guilderCluster]) {
      const there = await cluster.get(DEPLOYMENTS, TILL)
      t.same([imageOf(there), argoHealth(there)], ['till:2', 'Healthy'], 'it waited for both')
    }
    const config = { namespace: 'shop', name: 'till-config' }
    await until(florin.cluster, MAPS, config, is('data', { image: 'till:2' }))
    const secrets = await florin.cluster.list(SECRETS, { namespace: 'shop' })
    t.same(secrets.items, [], 'what Helm remembers stays in the space')
    const shop = florin.space('root:shop')
    const [rollback = '', uninstall = ''] = goBack.trim().split('\n')
    t.match(await run(rollback), { code: 0, told: /Rollback was a success/ })
    const [standIn, ...more] = (await shop.list(REPLICA_SETS, { namespace: 'shop', labelSelector: 'app=till' })).items
    t.same([imageOf(standIn), more], ['till:1', []])
    t.match(await run(uninstall), { code: 0 })
    await until(shop, REPLICA_SETS, { namespace: 'shop', name: standIn!.metadata.name! }, gone)
    for (const [kind, ref] of [
      [DEPLOYMENTS, TILL],
      [MAPS, config],
    ] as const)
      await until(florin.cluster, kind, ref, gone)
    t.match(await run(WAITING), { code: 0, told: /(STATUS: deployed[\s\S]*){2}/ })
    const ledger = await florin.cluster.get(SETS, { namespace: 'shop', name: 'ledger' })
    t.equal(at(ledger, 'status', 'readyReplicas'), 2, 'it waited')

    const pause = (paused: string | null) => {
      const metadata = { annotations: { 'edge.kubestellar.io/paused': paused } }
      return florin.inventory.patch(LOCATIONS, { name: 'guilder' }, 'merge', { metadata })
    }
    await pause('true')
    t.match(await run(`${UPGRADE} 1s`), { code: 1, told: /timed out/ }, 'one cluster of two has it not')
    const isNew = (each: KubeObject | undefined) => imageOf(each) === 'stock:2' && argoHealth(each!) === 'Healthy'
    await until(florin.cluster, DEPLOYMENTS, { namespace: 'shop', name: 'stock' }, isNew)
    await pause(null)
    t.match(await run(`${UPGRADE} 2m`), { code: 0, told: /STATUS: deployed/ })
    t.same(await standIns(shop), ['stock', 'web'], 'beside those with a status')
    for (const where of [florin.cluster, guilderCluster, florin.space(florin.mailbox)])
      t.same(await standIns(where), [])
  })

  await t.test('the metrics of what was placed', async t => {
    const figure = (text: string, metric: string): number => {
      const [, value = ''] = text.split(`\n${metric} `)
      return Number.parseFloat(value)
    }
    const { told: text } = await run('kubectl --context base get --raw /metrics')
    for (const stage of STAGES)
      t.ok(figure(text, `orrery_placement_stage_duration_seconds_count{stage="${stage}"}`) > 0, stage)
    const queue = (controller: string) => `orrery_controller_queue{controller="${controller}"}`
    for (const name of CONTROLLER_NAMES.flatMap(queuesOf)) t.ok(figure(text, queue(name)) >= 0, name)
  })
})

/** Stand-ins there for the ReplicaSets of clusters. */
async function standIns(where: SpaceClient): Promise<unknown[]> {
  const { items } = await where.list(REPLICA_SETS, { namespace: 'shop' })
  const found = items.filter(({ metadata }) => metadata.annotations?.['edge.kubestellar.io/stand-in'] !== undefined)
  return found.map(({ metadata }) => metadata.ownerReferences?.[0]?.name).sort()
}

/** Reads the objects of the recipe as the two tools do, and asks for what they ask for. */
async function gitops(t: Test, dir: string): Promise<void> {
  const objectsIn = (name: string) =>
    parseAllDocuments(readFileSync(join(dir, name), 'utf8')).map(document => document.toJS({}) as KubeObject)
  const [cluster, application] = objectsIn('argocd.yaml')
  const { server, config } = cluster!.stringData as { server: string; config: string }
  const { bearerToken: token, tlsClientConfig } = JSON.parse(config)
  const access = { server, token, caPem: Buffer.from(tlsClientConfig.caData, 'base64').toString() }
  const argo = httpSpaceClient(access)
  t.teardown(() => argo.close())
  t.equal(at(application, 'spec', 'destination', 'server'), server)
  t.same(await refusedOf(access, argo), [])

  const [secret, kustomization] = objectsIn('flux.yaml')
  const kubeconfig = join(dir, 'flux.kubeconfig')
  writeFileSync(kubeconfig, String(at(secret, 'stringData', 'value')))
  t.equal(at(kustomization, 'spec', 'kubeConfig', 'secretRef', 'name'), secret?.metadata.name)
  const flux = httpSpaceClient((await loadKubeconfig(kubeconfig)).options)
  t.teardown(() => flux.close())

  // what they write: as server-side apply, first as a trial, and what is not in Git any more goes
  for (const [client, fieldManager] of [
    [argo, 'argocd-controller'],
    [flux, 'kustomize-controller'],
  ] as const) {
    for (const [kind, object] of IN_GIT) {
      const apply = (dryRun: boolean) =>
        client.patch(kind, object.metadata, 'apply', object, { fieldManager, force: true, dryRun })
      await apply(true)
      const { metadata } = await apply(false)
      t.ok(metadata.managedFields?.some(({ manager, operation }) => manager === fieldManager && operation === 'Apply'))
    }
    for (const [kind, object] of [...IN_GIT].reverse()) {
      await client.delete(kind, object.metadata, { propagationPolicy: 'Background' })
      await until(client, kind, object.metadata, gone)
    }
  }

  const WEB = { namespace: 'shop', name: 'web' }
  const containers = [{ name: 'web', image: 'web:3' }]
  const web = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: WEB, spec: { template: { spec: { containers } } } }
  const written = await argo.patch(DEPLOYMENTS, WEB, 'apply', web, { fieldManager: 'argocd-controller', force: true })
  t.same([argoHealth(written), kstatus(written)], ['Progressing', 'InProgress'], 'the old status is of the old spec')
  const done = await until(argo, DEPLOYMENTS, WEB, object => object !== undefined && argoHealth(object) === 'Healthy')
  t.equal(kstatus(done!), 'Current')
  const placed = await until(flux, PLACEMENTS, { name: 'web' }, has('Healthy', 'True', 'AllHealthy'))
  const [check] = at(kustomization, 'spec', 'healthCheckExprs') as Record<string, string>[]
  t.match(check, { apiVersion: placed?.apiVersion, kind: placed?.kind })
  t.same([evaluate(check!.current!, { ...placed }), evaluate(check!.failed!, { ...placed })], [true, false])
}
