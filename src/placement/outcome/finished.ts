/**
 * Whether an object has run to its end, and how it ended, by its status alone: a Job, a Pod, a workflow, a run. Its cluster may remove
 * such an object at any time, and it would run again if it were made anew. Pure.
 *
 * Custom kinds share no way to report an end. A table names the kinds that are known to end. Any other kind ends only where its name, a
 * time and a result agree: a running copy that counts as finished would never be repaired.
 */
import { at, has, objects, str } from '../../apimachinery/fields.ts'
import { type GroupResource, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { HEALTHY, type HealthVerdict, healthOf } from './health.ts'

/** How a kind reports its end: a word at a path of its status, or conditions as `Type=Status`. */
interface Ending {
  readonly path?: readonly string[]
  readonly done: readonly string[]
  readonly failed: readonly string[]
}

/** `undefined`: it still runs, or is of a kind that does not end. */
export function endOf(kind: GroupResource, object: Readonly<KubeObject>): HealthVerdict | undefined {
  const name = groupResourceName(kind)
  // a Job cannot go on; others that somebody deletes while they run end before they are gone
  if (name !== 'jobs.batch' && object.metadata.deletionTimestamp !== undefined) return undefined
  const ending = Object.hasOwn(ENDINGS, name) ? ENDINGS[name]! : isRun(kind, object) ? ANY_RUN : []
  const end = ending.map(one => endBy(one, object)).find(one => one !== undefined)
  return end && (name === 'jobs.batch' || name === 'pods') ? healthIn(kind, object) : end
}

/** Whatever its spec has become since. */
function healthIn(kind: GroupResource, { metadata, ...rest }: Readonly<KubeObject>): HealthVerdict {
  const { deletionTimestamp: _gone, ...still } = metadata
  return healthOf(kind, { ...rest, metadata: still })
}

function endBy({ path, done, failed }: Ending, { status }: Readonly<KubeObject>): HealthVerdict | undefined {
  const found = path
    ? [{ word: at(status, ...path), message: str(status, 'message') }]
    : objects(status, 'conditions').map(one => ({
        word: `${one.type}=${one.status}`,
        message: str(one, 'message') || str(one, 'reason'),
      }))
  const is = (words: readonly string[]) => found.find(({ word }) => typeof word === 'string' && words.includes(word))
  const loss = is(failed)
  if (loss) return { health: 'Degraded', message: loss.message || String(loss.word) }
  return is(done) ? HEALTHY : undefined
}

const phase = (done: readonly string[], failed: readonly string[], path = ['phase']): Ending => ({ path, done, failed })
const SUCCEEDED: Ending = { done: ['Succeeded=True'], failed: ['Succeeded=False'] }
const KUBEFLOW: Ending = { done: ['Succeeded=True'], failed: ['Failed=True'] }
const ARGO_METRICS = phase(['Successful'], ['Failed', 'Error', 'Inconclusive'])
const VELERO = phase(['Completed'], ['PartiallyFailed', 'Failed', 'FailedValidation', 'Canceled'])

const ENDINGS: Readonly<Record<string, readonly Ending[]>> = {
  pods: [phase(['Succeeded'], ['Failed'])],
  'jobs.batch': [{ done: ['Complete=True'], failed: ['Failed=True'] }],
  'workflows.argoproj.io': [phase(['Succeeded'], ['Failed', 'Error'])],
  'analysisruns.argoproj.io': [ARGO_METRICS],
  'experiments.argoproj.io': [ARGO_METRICS],
  'taskruns.tekton.dev': [SUCCEEDED],
  'pipelineruns.tekton.dev': [SUCCEEDED],
  'runs.tekton.dev': [SUCCEEDED],
  'customruns.tekton.dev': [SUCCEEDED],
  'buildruns.shipwright.io': [SUCCEEDED],
  'builds.kpack.io': [SUCCEEDED],
  'builds.build.openshift.io': [phase(['Complete'], ['Failed', 'Error', 'Cancelled'])],
  // an aborted one may be resumed
  'jobs.batch.volcano.sh': [phase(['Completed'], ['Failed', 'Terminated'], ['state', 'phase'])],
  'sparkapplications.sparkoperator.k8s.io': [phase(['COMPLETED'], ['FAILED'], ['applicationState', 'state'])],
  'tfjobs.kubeflow.org': [KUBEFLOW],
  'pytorchjobs.kubeflow.org': [KUBEFLOW],
  'mpijobs.kubeflow.org': [KUBEFLOW],
  'xgboostjobs.kubeflow.org': [KUBEFLOW],
  'mxjobs.kubeflow.org': [KUBEFLOW],
  'paddlejobs.kubeflow.org': [KUBEFLOW],
  'jaxjobs.kubeflow.org': [KUBEFLOW],
  'experiments.kubeflow.org': [KUBEFLOW],
  'trials.kubeflow.org': [KUBEFLOW],
  'trainjobs.trainer.kubeflow.org': [{ done: ['Complete=True'], failed: ['Failed=True'] }],
  'jobsets.jobset.x-k8s.io': [{ done: ['Completed=True'], failed: ['Failed=True'] }],
  'appwrappers.workload.codeflare.dev': [phase(['Succeeded'], ['Failed'])],
  'rayjobs.ray.io': [phase(['Complete'], ['Failed'], ['jobDeploymentStatus'])],
  'backups.velero.io': [VELERO],
  'restores.velero.io': [VELERO],
  'podvolumebackups.velero.io': [VELERO],
  'podvolumerestores.velero.io': [VELERO],
  'datauploads.velero.io': [VELERO],
  'datadownloads.velero.io': [VELERO],
  'backups.postgresql.cnpg.io': [phase(['completed'], ['failed'])],
  'virtualmachineinstances.kubevirt.io': [phase(['Succeeded'], ['Failed'])],
  'virtualmachineinstancemigrations.kubevirt.io': [phase(['Succeeded'], ['Failed'])],
  'datavolumes.cdi.kubevirt.io': [phase(['Succeeded'], [])],
  'testruns.k6.io': [phase(['finished'], ['error'], ['stage'])],
  'scans.execution.securecodebox.io': [phase(['Done'], ['Errored'], ['state'])],
}

/** A kind of which nothing is known: its name, a time of its end, and no schedule by which it would begin again. */
function isRun({ group }: GroupResource, { kind = '', spec, status }: Readonly<KubeObject>): boolean {
  if (!group.includes('.') || !RUN.test(kind) || REPEATED.test(kind)) return false
  return !REPEATS.some(field => has(spec, field)) && TIMES.some(field => str(status, field) !== '')
}
const RUN = /(Run|Job|Workflow|Execution|Build|Backup|Restore)$/
const REPEATED = /^(Cron|Scheduled|Recurring)/
const REPEATS = ['schedule', 'schedules', 'cron', 'interval', 'trigger', 'triggers']
const TIMES = ['completionTime', 'completionTimestamp', 'finishedAt', 'completedAt', 'endTime', 'finishTime']
const WORDS = { done: ['Succeeded', 'Completed', 'Complete'], failed: ['Failed', 'Error', 'Errored'] }
const ANY_RUN: readonly Ending[] = [
  { done: ['Succeeded=True', 'Complete=True', 'Completed=True'], failed: ['Succeeded=False', 'Failed=True'] },
  phase(WORDS.done, WORDS.failed),
  phase(WORDS.done, WORDS.failed, ['state']),
]
