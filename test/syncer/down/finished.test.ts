/** A run that ends and is then removed by its cluster does not run again. */
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { endOf } from '../../../src/placement/outcome/finished.ts'
import { startCenter } from '../../support/center.ts'
import { temporaryDir } from '../../support/server.ts'
import { JOBS } from '../support/kinds.ts'
import { type Pair, PROJECTED, pairIn } from '../support/pair.ts'

const center = await startCenter(t, { expectsTrouble: true })
const ONCE = { namespace: 'app', name: 'once' }
const TWICE = { namespace: 'app', name: 'twice' }
const job = (name: string, image = 'migrate:1'): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { namespace: 'app', name, labels: PROJECTED },
  spec: {
    ttlSecondsAfterFinished: 1,
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image }] } },
  },
})
const DONE = { status: { conditions: [{ type: 'Complete', status: 'True' }] } }
const LOST = { status: { conditions: [{ type: 'Failed', status: 'True', message: 'it exploded' }] } }

async function pair(t: Test) {
  const names = ['once', 'twice']
  const jobs = { group: 'batch', resource: 'jobs', apiVersion: 'v1' }
  const p = await pairIn(center, t, {
    namespacedObjects: [{ ...jobs, objectsByNamespace: [{ namespace: 'app', names }] }],
  })
  const there = (name: string, is: (object: KubeObject) => boolean = () => true) =>
    center.world.present(p.clusterId, `jobs.batch app/${name}`, is)
  return { ...p, there }
}
type Paired = Awaited<ReturnType<typeof pair>>

const ends = (p: Pair, ref: typeof ONCE, how: object) =>
  p.cluster.patch(JOBS, ref, 'merge', how, { subresource: 'status' })

/** A job that runs at last tells that the other was looked at. */
async function isPutBack(p: Paired, name: string): Promise<void> {
  const { uid } = (await p.cluster.get(JOBS, { namespace: 'app', name })).metadata
  await p.cluster.delete(JOBS, { namespace: 'app', name }, { propagationPolicy: 'Background' })
  await p.there(name, ({ metadata }) => metadata.uid !== uid)
  await p.settled()
}

for (const [how, status] of [
  ['well', DONE],
  ['badly', LOST],
] as const)
  t.test(`a Job that ended ${how} and was removed is not made anew, also after a restart`, async t => {
    const p = await pair(t)
    const first = p.start()
    for (const name of ['once', 'twice']) await p.mailbox.create(JOBS, job(name))
    await Promise.all([p.there('once'), p.there('twice')])
    await p.settled()
    await ends(p, ONCE, status)
    await p.cluster.delete(JOBS, ONCE, { propagationPolicy: 'Background' })
    await isPutBack(p, 'twice')
    await t.rejects(p.cluster.get(JOBS, ONCE), /not found/)
    await p.mailbox.patch(JOBS, ONCE, 'merge', { metadata: { labels: { edited: 'yes' } } })
    await isPutBack(p, 'twice')
    await t.rejects(p.cluster.get(JOBS, ONCE), /not found/, 'a label is no other run')
    await first.stop()

    const second = p.start()
    await isPutBack(p, 'twice')
    await t.rejects(p.cluster.get(JOBS, ONCE), /not found/)
    // it is deleted while nobody looks
    await ends(p, TWICE, status)
    await p.settled()
    await second.stop()
    await p.cluster.delete(JOBS, TWICE, { propagationPolicy: 'Background' })
    const third = p.start()
    await p.mailbox.delete(JOBS, ONCE)
    await p.settled()
    await p.mailbox.create(JOBS, job('once'))
    await p.there('once')
    await p.settled()
    await t.rejects(p.cluster.get(JOBS, TWICE), /not found/, 'and one that its author makes anew runs')
    await third.stop()

    const fourth = p.start(undefined, undefined, { stateDir: temporaryDir(t) })
    await isPutBack(p, 'once')
    await t.rejects(p.cluster.get(JOBS, TWICE), /not found/, 'by what was reported, where the state is lost')
    await p.mailbox.delete(JOBS, TWICE)
    await p.settled()
    await p.mailbox.create(JOBS, job('twice', 'migrate:2'))
    await p.there('twice')
    await fourth.stop()
  })

t.test('its end is told with how it ended, and a changed spec runs again', async t => {
  const p = await pair(t)
  p.start()
  await p.mailbox.create(JOBS, job('once'))
  await p.there('once')
  await p.settled()
  await ends(p, ONCE, DONE)
  await p.cluster.delete(JOBS, ONCE, { propagationPolicy: 'Background' })
  await p.settled()
  await t.rejects(p.cluster.get(JOBS, ONCE), /not found/)
  await p.mailbox.patch(JOBS, ONCE, 'merge', { spec: { backoffLimit: 2 } })
  await p.there('once')
})

t.test('by kind, who has run to its end', async t => {
  const end = (group: string, resource: string, kind: string, status: object, metadata = {}) =>
    endOf({ group, resource }, { apiVersion: 'v1', kind, metadata: { name: 'a', ...metadata }, status })?.health
  const is = (type: string, status: string) => ({ conditions: [{ type, status }] })
  t.equal(end('', 'pods', 'Pod', { phase: 'Succeeded' }), 'Healthy')
  t.equal(end('', 'pods', 'Pod', { phase: 'Failed' }), 'Degraded')
  t.equal(end('', 'pods', 'Pod', { phase: 'Running' }), undefined)
  t.equal(end('', 'pods', 'Pod', { phase: 'Failed' }, { deletionTimestamp: 'now' }), undefined, 'somebody deleted it')
  t.equal(end('batch', 'jobs', 'Job', is('Complete', 'True'), { deletionTimestamp: 'now' }), 'Healthy')
  t.equal(end('batch', 'jobs', 'Job', is('Suspended', 'True')), undefined)
  t.equal(end('argoproj.io', 'workflows', 'Workflow', { phase: 'Error', finishedAt: 'now' }), 'Degraded')
  t.equal(end('argoproj.io', 'workflows', 'Workflow', { phase: 'Succeeded' }), 'Healthy')
  t.equal(end('argoproj.io', 'workflows', 'Workflow', { phase: 'Running' }), undefined)
  t.equal(end('tekton.dev', 'pipelineruns', 'PipelineRun', is('Succeeded', 'True')), 'Healthy')
  t.equal(end('tekton.dev', 'taskruns', 'TaskRun', is('Succeeded', 'False')), 'Degraded')
  t.equal(end('tekton.dev', 'taskruns', 'TaskRun', is('Succeeded', 'Unknown')), undefined)
  t.equal(end('kubeflow.org', 'tfjobs', 'TFJob', is('Failed', 'True')), 'Degraded')
  t.equal(end('jobset.x-k8s.io', 'jobsets', 'JobSet', is('Completed', 'True')), 'Healthy')
  t.equal(end('velero.io', 'backups', 'Backup', { phase: 'Completed' }), 'Healthy')
  t.equal(
    end('sparkoperator.k8s.io', 'sparkapplications', 'SparkApplication', { applicationState: { state: 'COMPLETED' } }),
    'Healthy',
  )
  t.equal(end('example.org', 'databases', 'Database', { phase: 'Failed', ...is('Failed', 'True') }), undefined)
  t.equal(end('example.org', 'databases', 'Database', is('Succeeded', 'False')), undefined, 'an operator tries again')
  t.equal(end('kustomize.toolkit.fluxcd.io', 'kustomizations', 'Kustomization', is('Succeeded', 'True')), undefined)
  t.equal(end('batch.volcano.sh', 'jobs', 'Job', { state: { phase: 'Terminated' } }), 'Degraded')
  t.equal(end('batch.volcano.sh', 'jobs', 'Job', { state: { phase: 'Aborted' } }), undefined, 'it may be resumed')
  t.equal(end('ray.io', 'rayjobs', 'RayJob', { jobStatus: 'FAILED', jobDeploymentStatus: 'Retrying' }), undefined)
  t.equal(end('ray.io', 'rayjobs', 'RayJob', { jobDeploymentStatus: 'Complete' }), 'Healthy')
  const ended = { finishedAt: 'now', phase: 'Failed' }
  t.equal(end('example.org', 'importruns', 'ImportRun', ended), 'Degraded', 'name, time and result agree')
  t.equal(end('example.org', 'importruns', 'ImportRun', { phase: 'Failed' }), undefined)
  t.equal(end('example.org', 'cronimportruns', 'CronImportRun', ended), undefined)
  t.equal(end('operators.coreos.com', 'csvs', 'ClusterServiceVersion', { phase: 'Succeeded' }), undefined)
  t.equal(end('apps', 'deployments', 'Deployment', is('Complete', 'True')), undefined)
})
