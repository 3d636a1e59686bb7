/**
 * The syncer beside a real kube-apiserver, an older release than the center: what it does not know is left out, versions that
 * it lacks are replaced. Skipped where KUBEBUILDER_ASSETS is not set.
 */
import { join } from 'node:path'
import t from 'tap'
import { at as fieldAt } from '../../src/apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../src/apimachinery/object.ts'
import { ADOPT, KEEP_ON_DELETE, WAVE } from '../../src/apimachinery/placement.ts'
import { unlessGone } from '../../src/client/unlessGone.ts'
import { temporaryDir } from '../support/server.ts'
import {
  at,
  CenterProcess,
  clientOf,
  deployment,
  gone,
  is,
  map,
  register,
  there,
  warnings,
} from '../syncer/support/installation.ts'
import { CRDS, DEPLOYMENTS, MAPS, NAMESPACES, TARGETS } from '../syncer/support/kinds.ts'
import { freePort, Program, until } from '../syncer/support/processes.ts'
import { assetsDir, startRealCluster } from '../syncer/support/realCluster.ts'

const annotated = (object: KubeObject, annotations: Record<string, string>): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, annotations },
})
const COMPLETE = { succeeded: 1, conditions: [{ type: 'Complete', status: 'True' }] }
const noAssets = assetsDir() === undefined && 'KUBEBUILDER_ASSETS is not set'
t.test('a real cluster of an older release', { skip: noAssets }, async t => {
  const dir = temporaryDir(t)
  const center = new CenterProcess(t, join(dir, 'center'), await freePort())
  const [toCluster] = await Promise.all([startRealCluster(t, join(dir, 'real')), center.start()])
  const cluster = await clientOf(t, toCluster)
  const mailbox = await register(center)
  const fromCenter = join(dir, 'syncer.kubeconfig')
  await center.syncerKubeconfig(fromCenter, mailbox)
  const syncer = Program.orrery(t, ['syncer', '--from-kubeconfig', fromCenter, '--to-kubeconfig', toCluster])
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
  await cluster.create(CRDS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'sprockets.group1.test' },
    spec: {
      group: 'group1.test',
      scope: 'Namespaced',
      names: { plural: 'sprockets', singular: 'sprocket', kind: 'Sprocket' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  })
  await until(cluster, CRDS, { name: 'sprockets.group1.test' }, object =>
    JSON.stringify(object?.status ?? {}).includes('"Established"'),
  )
  const sprockets = { group: 'group1.test', version: 'v1', resource: 'sprockets' }
  const george = { namespace: 'orbital', name: 'george' }
  await until(center.in(mailbox), CRDS, { name: 'sprockets.group1.test' }, object =>
    JSON.stringify(object?.status ?? {}).includes('"Established"'),
  )
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
  t.equal(await syncer.end('SIGTERM'), 0)
})
