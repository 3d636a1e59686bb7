/**
 * The syncer beside a real kube-apiserver, an older release than the center: unknown fields are left out, missing versions are replaced.
 * Skipped where KUBEBUILDER_ASSETS is not set.
 */
import { join } from 'node:path'
import t from 'tap'
import { at as fieldAt } from '../../src/apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../src/apimachinery/object.ts'
import { unlessGone } from '../../src/client/unlessGone.ts'
import {
  ADOPT,
  CREATE_ONLY,
  DOWNSYNCED,
  KEEP_ON_DELETE,
  OVERWRITE,
  PLACEMENT_GRANTS,
  WAVE,
  WORK_STATUSES,
} from '../../src/placement/words/placement.ts'
import { temporaryDir } from '../support/server.ts'
import {
  at,
  Center,
  clientOf,
  deployment,
  gone,
  is,
  map,
  register,
  there,
  warnings,
} from '../syncer/support/installation.ts'
import { CRDS, DEPLOYMENTS, MAPS, NAMESPACES, PLACEMENTS, TARGETS } from '../syncer/support/kinds.ts'
import { Command, freePort, until } from '../syncer/support/processes.ts'
import { assetsDir, startRealCluster } from '../syncer/support/realCluster.ts'
import { has } from './support/florin.ts'

const annotated = (object: KubeObject, annotations: Record<string, string>): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, annotations },
})
const COMPLETE = { succeeded: 1, conditions: [{ type: 'Complete', status: 'True' }] }
const CLAIMS = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceclaims' }
const GEARS = { group: 'group2.test', version: 'v1', resource: 'gears' }
const WEBHOOKS = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingwebhookconfigurations',
}
const noAssets = assetsDir() === undefined && 'KUBEBUILDER_ASSETS is not set'
t.test('a real cluster of an older release', { skip: noAssets }, async t => {
  const dir = temporaryDir(t)
  const center = new Center(t, join(dir, 'center'))
  const [toCluster] = await Promise.all([startRealCluster(t, join(dir, 'real')), center.start()])
  const cluster = await clientOf(t, toCluster)
  const mailbox = await register(center)
  const fromCenter = join(dir, 'syncer.kubeconfig')
  await center.syncerKubeconfig(fromCenter, mailbox)
  const health = `127.0.0.1:${await freePort()}`
  const command = ['--from-kubeconfig', fromCenter, '--to-kubeconfig', toCluster, '--health-address', health]
  const syncer = new Command(t, ['syncer', ...command])
  const wds = center.in('root:wmw1')
  await wds.create(MAPS, map('page', { x: '1' }))
  await wds.create(DEPLOYMENTS, deployment)
  const jobs = { group: 'batch', version: 'v1', resource: 'jobs' }
  const cronJobs = { group: 'batch', version: 'v1', resource: 'cronjobs' }
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox' }] } }
  await wds.create(jobs, { apiVersion: 'batch/v1', kind: 'Job', metadata: at('once'), spec: { template } })
  await wds.create(cronJobs, {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: at('often'),
    spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template } } },
  })
  await until(cluster, MAPS, at('page'), is('data', { x: '1' }))
  await until(cluster, jobs, at('once'), there)
  await until(cluster, { ...cronJobs, version: 'v1beta1' }, at('often'), there)
  await cluster.patch(MAPS, at('page'), 'merge', { data: { x: 'drifted', local: 'stays' } })
  await until(cluster, MAPS, at('page'), is('data', { local: 'stays', x: '1' }))
  await until(cluster, DEPLOYMENTS, at('web'), there)
  await cluster.patch(
    DEPLOYMENTS,
    at('web'),
    'merge',
    { status: { replicas: 1, readyReplicas: 1 } },
    { subresource: 'status' },
  )
  await until(wds, DEPLOYMENTS, at('web'), object => isRecord(object?.status) && object.status.readyReplicas === 1)
  await cluster.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'orbital' } })
  await cluster.create(CRDS, definition('sprockets.group1.test', 'sprockets', 'Sprocket'))
  await until(cluster, CRDS, { name: 'sprockets.group1.test' }, isEstablished)
  const sprockets = { group: 'group1.test', version: 'v1', resource: 'sprockets' }
  const george = { namespace: 'orbital', name: 'george' }
  await until(center.in(mailbox), CRDS, { name: 'sprockets.group1.test' }, isEstablished)
  await cluster.create(sprockets, { apiVersion: 'group1.test/v1', kind: 'Sprocket', metadata: george, spec: { n: 1 } })
  await until(center.in(mailbox), sprockets, george, is('spec', { n: 1 }))
  // manners and order
  await cluster.create(MAPS, map('theirs', { own: 'x' }))
  await wds.create(MAPS, annotated(map('theirs', { x: '1' }), { [ADOPT]: 'true' }))
  await until(cluster, MAPS, at('theirs'), is('data', { own: 'x', x: '1' }))
  await wds.delete(MAPS, at('theirs'))
  await until(cluster, MAPS, at('theirs'), is('data', { own: 'x' }))
  await until(cluster, MAPS, at('theirs'), object => !JSON.stringify(object?.metadata).includes('kubestellar'))
  await wds.create(MAPS, annotated(map('kept', {}), { [KEEP_ON_DELETE]: 'true' }))
  await wds.create(MAPS, annotated(map('later', {}), { [WAVE]: '1' }))
  await until(cluster, MAPS, at('kept'), there)
  t.notOk(await unlessGone(cluster.get(MAPS, at('later'))), 'nobody runs the Deployment of wave 0')
  const status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 }
  await cluster.patch(DEPLOYMENTS, at('web'), 'merge', { status }, { subresource: 'status' })
  await cluster.patch(jobs, at('once'), 'merge', { status: COMPLETE }, { subresource: 'status' })
  await until(cluster, MAPS, at('later'), there)
  await wds.delete(MAPS, at('kept'))
  await until(cluster, MAPS, at('kept'), object => !JSON.stringify(object?.metadata).includes('kubestellar'))
  await cluster.patch(MAPS, at('page'), 'merge', { metadata: { finalizers: ['theirs.test/wait'] } })
  await wds.delete(MAPS, at('page'))
  await until(cluster, MAPS, at('page'), object => object?.metadata.deletionTimestamp !== undefined)
  const failures = (object: KubeObject | undefined) => fieldAt(object, 'status', 'outcome', 'failures', 'reasons')
  await until(center.in('root:imw1'), TARGETS, { name: 'florin' }, object =>
    JSON.stringify(failures(object) ?? {}).includes('"Terminating":1'),
  )
  await cluster.patch(MAPS, at('page'), 'merge', { metadata: { finalizers: null } })
  await until(cluster, MAPS, at('page'), gone)
  t.same(
    warnings(syncer).filter(line => !line.startsWith('the cluster does not know .')),
    [],
  )
  const inventory = center.in('root:imw1')
  const florin = (isSo: (object: KubeObject | undefined) => boolean) =>
    until(inventory, TARGETS, { name: 'florin' }, isSo)
  const counts = (reason: string, count: number | undefined) => (object: KubeObject | undefined) =>
    fieldAt(failures(object), reason) === count

  await t.test('it says which release the cluster is, that its syncer is supported, and how it is', async t => {
    const target = await florin(object => fieldAt(object?.status, 'versions') !== undefined)
    t.match(fieldAt(target?.status, 'versions'), { kubernetes: /^v1\./, syncer: /^\d/ })
    const conditions = JSON.stringify(fieldAt(target?.status, 'conditions'))
    t.match(conditions, /"type":"SyncerSupported","status":"True","reason":"Supported"/)
    t.equal((await fetch(`http://${health}/readyz`)).status, 200)
    t.match(await (await fetch(`http://${health}/metrics`)).text(), 'orrery_syncer_connected{side="cluster"} 1\n')
  })

  await t.test('it says which kinds the cluster offers, and whether copies can go there', async t => {
    const kindOf = (object: KubeObject | undefined, name: string): Record<string, unknown> | undefined => {
      const list = fieldAt(object?.status, 'syncedResources')
      const kinds = (Array.isArray(list) ? list : []).filter(isRecord)
      return kinds.find(({ group, resource }) => `${String(resource)}.${String(group)}` === name)
    }
    const target = await florin(object => kindOf(object, 'sprockets.group1.test')?.state === 'Accepted')
    t.match(kindOf(target, 'configmaps.'), { versions: ['v1'], state: 'Accepted' })
    t.match(kindOf(target, 'cronjobs.batch'), { versions: ['v1beta1'], state: 'Accepted' }, 'of one shape')
    t.equal(kindOf(target, 'tokenreviews.authentication.k8s.io'), undefined, 'nothing that could be carried')
    t.equal(kindOf(target, 'resourceclaims.resource.k8s.io'), undefined, 'it is of a later release')
  })

  await t.test('what was there before is refused and left alone', async t => {
    const before = await cluster.create(MAPS, map('before', { own: 'x' }))
    await wds.create(MAPS, map('before', { x: '1' }))
    await florin(counts('AlreadyInCluster', 1))
    const now = await cluster.get(MAPS, at('before'))
    t.equal(now.metadata.resourceVersion, before.metadata.resourceVersion, 'nobody touched it')
    await wds.delete(MAPS, at('before'))
    await florin(counts('AlreadyInCluster', undefined))
    t.equal((await cluster.get(MAPS, at('before'))).metadata.resourceVersion, before.metadata.resourceVersion)
  })

  await t.test(
    'what a grant lets take over is taken over, and stays with its own fields when the source goes',
    async t => {
      const grant = (adoptExisting: boolean) =>
        inventory.patch(PLACEMENT_GRANTS, { name: 'wmw1' }, 'merge', { spec: { adoptExisting } })
      await grant(true)
      await cluster.create(MAPS, map('granted', { own: 'x' }))
      await wds.create(MAPS, map('granted', { x: '1' }))
      await until(cluster, MAPS, at('granted'), is('data', { own: 'x', x: '1' }))
      await grant(false)
      await wds.patch(MAPS, at('granted'), 'merge', { data: { x: '2' } })
      await until(cluster, MAPS, at('granted'), is('data', { own: 'x', x: '2' }))
      await wds.delete(MAPS, at('granted'))
      const left = await until(cluster, MAPS, at('granted'), is('data', { own: 'x' }))
      t.notMatch(JSON.stringify(left?.metadata), 'kubestellar', 'it bears no mark')
    },
  )

  await t.test('whoever takes the mark off what was made does not keep it', async () => {
    const isMarked = (object: KubeObject | undefined) => object?.metadata.annotations?.[DOWNSYNCED] !== undefined
    await wds.create(MAPS, map('marked', { x: '1' }))
    await until(cluster, MAPS, at('marked'), isMarked)
    await cluster.patch(MAPS, at('marked'), 'merge', { metadata: { annotations: { [DOWNSYNCED]: null } } })
    await until(cluster, MAPS, at('marked'), isMarked)
    await wds.delete(MAPS, at('marked'))
    await until(cluster, MAPS, at('marked'), gone)
  })

  await t.test('who keeps changing an object is told of, and the object is put right each time', async () => {
    await wds.create(MAPS, map('fought', { x: '1' }))
    await until(cluster, MAPS, at('fought'), there)
    for (const x of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await cluster.patch(MAPS, at('fought'), 'merge', { data: { x } })
      await until(cluster, MAPS, at('fought'), is('data', { x: '1' }))
    }
    await syncer.said('keeps changing fields of this object that the center sets')
    await wds.delete(MAPS, at('fought'))
    await until(cluster, MAPS, at('fought'), gone)
  })

  await t.test("a richer definition of the cluster's own stays as it is, and serves what is placed", async t => {
    const rich = definition('tools.group3.test', 'tools', 'Tool', ['v1', 'v2'])
    await cluster.create(CRDS, rich)
    const before = await until(cluster, CRDS, { name: 'tools.group3.test' }, isEstablished)
    await wds.create(CRDS, definition('tools.group3.test', 'tools', 'Tool'))
    await until(wds, CRDS, { name: 'tools.group3.test' }, isEstablished)
    const hammer = { namespace: 'shop', name: 'hammer' }
    const tools = { group: 'group3.test', version: 'v1', resource: 'tools' }
    await wds.create(tools, { apiVersion: 'group3.test/v1', kind: 'Tool', metadata: hammer, spec: { n: 1 } })
    const named = { apiGroup: 'group3.test', resources: ['tools'], namespaces: ['shop'], objectNames: ['*'] }
    await wds.create(PLACEMENTS, placement('tools', [named]))
    await until(cluster, tools, hammer, is('spec', { n: 1 }))
    const now = await cluster.get(CRDS, { name: 'tools.group3.test' })
    t.same([now.metadata.generation, now.metadata.labels], [before?.metadata.generation, before?.metadata.labels])
    await wds.delete(PLACEMENTS, { name: 'tools' })
    await until(cluster, tools, hammer, gone)
    t.ok(await cluster.get(CRDS, { name: 'tools.group3.test' }), 'nor does it go with what was placed')
  })

  await t.test('what is only to be created, or not to be overwritten, is left as the cluster has it', async () => {
    await wds.create(MAPS, annotated(map('first', { x: '1' }), { [CREATE_ONLY]: 'true' }))
    await wds.create(MAPS, annotated(map('seed', { x: '1' }), { [OVERWRITE]: 'false' }))
    await wds.create(MAPS, map('followed', { x: '1' }))
    for (const name of ['first', 'seed', 'followed']) {
      await until(cluster, MAPS, at(name), there)
      await cluster.patch(MAPS, at(name), 'merge', { data: { x: 'theirs' } })
    }
    for (const name of ['first', 'seed', 'followed']) await wds.patch(MAPS, at(name), 'merge', { data: { x: '2' } })
    await until(cluster, MAPS, at('followed'), is('data', { x: '2' }))
    for (const name of ['first', 'seed']) await until(cluster, MAPS, at(name), is('data', { x: 'theirs' }))
    for (const name of ['first', 'seed', 'followed']) await wds.delete(MAPS, at(name))
    await until(cluster, MAPS, at('followed'), gone)
  })

  await t.test('a kind that it does not serve waits alone', async () => {
    const claim = {
      metadata: at('gpu'),
      spec: { devices: { requests: [{ name: 'g', exactly: { deviceClassName: 'g' } }] } },
    }
    await wds.create(CLAIMS, { apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim', ...claim })
    await wds.create(PLACEMENTS, placement('claims', [{ apiGroup: 'resource.k8s.io', resources: ['resourceclaims'] }]))
    await florin(counts('KindNotServed', 1))
    const unserved = at('imw1.florin:resourceclaims.resource.k8s.io:gpu')
    await until(wds, WORK_STATUSES, unserved, object => fieldAt(object, 'status', 'state') === 'Unserved')
    await until(wds, PLACEMENTS, { name: 'claims' }, has('Applied', 'False', 'Waiting'))
    await wds.create(MAPS, map('meanwhile', {}))
    await until(cluster, MAPS, at('meanwhile'), there)
    await wds.delete(CLAIMS, at('gpu'))
    await florin(counts('KindNotServed', undefined))
  })

  await t.test('webhooks come last and go first, definitions come before what they define', async () => {
    const labels = { guarded: 'yes' }
    await wds.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'guarded', labels } })
    const names = ['a', 'b', 'c', 'd']
    for (const name of names) await wds.create(MAPS, { ...map(name, {}), metadata: { namespace: 'guarded', name } })
    await wds.create(WEBHOOKS, closing(labels))
    await wds.create(CRDS, definition('gears.group2.test', 'gears', 'Gear'))
    await until(wds, CRDS, { name: 'gears.group2.test' }, isEstablished)
    const gear = { namespace: 'guarded', name: 'gear' }
    await wds.create(GEARS, { apiVersion: 'group2.test/v1', kind: 'Gear', metadata: gear, spec: { n: 1 } })
    const all = [
      { apiGroup: '', resources: ['configmaps'] },
      { apiGroup: 'group2.test', resources: ['gears'] },
      { apiGroup: 'admissionregistration.k8s.io', resources: ['validatingwebhookconfigurations'] },
      { apiGroup: 'apiextensions.k8s.io', resources: ['customresourcedefinitions'] },
    ]
    const guarded = all.map((each, i) => ({
      ...each,
      ...(i < 2 ? { namespaces: ['guarded'] } : {}),
      objectNames: ['*'],
    }))
    await wds.create(PLACEMENTS, placement('guarded', guarded))
    // it closes the door behind them: had it come earlier, they would not be there
    for (const name of names) await until(cluster, MAPS, { namespace: 'guarded', name }, there)
    await until(cluster, GEARS, gear, is('spec', { n: 1 }))
    await until(cluster, WEBHOOKS, { name: 'closing' }, there)
    await wds.delete(PLACEMENTS, { name: 'guarded' })
    for (const name of names) await until(cluster, MAPS, { namespace: 'guarded', name }, gone)
    await until(cluster, CRDS, { name: 'gears.group2.test' }, gone)
    await until(cluster, WEBHOOKS, { name: 'closing' }, gone)
  })

  await t.test("what the cluster's own webhook keeps out is tried again, and comes when it may", async () => {
    await cluster.create(WEBHOOKS, closing(undefined, { blocked: 'yes' }))
    const page = map('blocked', { x: '1' })
    await wds.create(MAPS, { ...page, metadata: { ...page.metadata, labels: { blocked: 'yes' } } })
    await florin(object => /[1-9]/.test(JSON.stringify(failures(object) ?? {})))
    await wds.create(MAPS, map('beside', {}))
    await until(cluster, MAPS, at('beside'), there)
    await cluster.delete(WEBHOOKS, { name: 'closing' })
    await until(cluster, MAPS, at('blocked'), is('data', { x: '1' }))
  })

  t.equal(await syncer.end(), 0)
  await t.test(
    'what happened while nobody was there is made up for; then it leaves, and its workload stays',
    async t => {
      await wds.patch(MAPS, at('beside'), 'merge', { data: { x: 'late' } })
      await wds.delete(MAPS, at('blocked'))
      await until(center.in(mailbox), MAPS, at('blocked'), gone)
      await until(center.in(mailbox), MAPS, at('beside'), is('data', { x: 'late' }))
      const trying = new Command(t, ['syncer', '--dry-run', ...command])
      await trying.said('delete configmaps shop/blocked')
      t.equal(await trying.exited(), 1, 'there is something to do')
      await cluster.get(MAPS, at('blocked'))
      const next = new Command(t, ['syncer', ...command])
      await until(cluster, MAPS, at('beside'), is('data', { x: 'late' }))
      await until(cluster, MAPS, at('blocked'), gone)
      await inventory.delete(TARGETS, { name: 'florin' })
      await florin(gone)
      const { metadata, data } = await cluster.get(MAPS, at('beside'))
      t.same(data, { x: 'late' })
      t.same([metadata.labels, metadata.annotations], [undefined, undefined], 'it bears no mark')
      t.equal(await next.end(), 0)
    },
  )
})

function placement(name: string, downsync: object[]): KubeObject {
  const spec = { locationSelectors: [{ matchLabels: { env: 'prod' } }], downsync }
  return { apiVersion: 'edge.kubestellar.io/v2alpha1', kind: 'EdgePlacement', metadata: { name }, spec }
}

function definition(name: string, plural: string, kind: string, versions = ['v1']): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      group: name.slice(name.indexOf('.') + 1),
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: versions.map((version, i) => ({ name: version, served: true, storage: i === 0, schema })),
    },
  }
}

function isEstablished(object: KubeObject | undefined): boolean {
  return JSON.stringify(object?.status ?? {}).includes('"Established"')
}

/** Nobody answers it, so it lets no ConfigMap of these Namespaces, or with these labels, be made or go. */
function closing(namespaces?: Record<string, string>, objects?: Record<string, string>): KubeObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'closing' },
    webhooks: [
      {
        name: 'closing.group2.test',
        clientConfig: { url: 'https://127.0.0.1:9/closed' },
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'DELETE'],
            resources: ['configmaps'],
            scope: '*',
          },
        ],
        ...(namespaces && { namespaceSelector: { matchLabels: namespaces } }),
        ...(objects && { objectSelector: { matchLabels: objects } }),
        failurePolicy: 'Fail',
        sideEffects: 'None',
        timeoutSeconds: 1,
        admissionReviewVersions: ['v1'],
      },
    ],
  }
}
