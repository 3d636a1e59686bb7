/**
 * Whether an object has run to its end, and how it ended, by its status alone: a Job, a Pod, a workflow, a run. Who has ended may be
 * removed by its cluster at any time, and would run again if it were made anew. Pure.
 */
import { at, objects, str } from './fields.ts'
import { HEALTHY, type HealthVerdict, healthOf } from './health.ts'
import { type GroupResource, groupResourceName, type KubeObject } from './object.ts'

/** `undefined`: it still runs, or is of a kind that does not end. */
export function endOf(kind: GroupResource, object: Readonly<KubeObject>): HealthVerdict | undefined {
  const name = groupResourceName(kind)
  if (name === 'jobs.batch')
    return holds(object, 'Complete') || holds(object, 'Failed') ? healthIn(kind, object) : undefined
  // a Pod that somebody deletes while it runs ends before it is gone
  if (object.metadata.deletionTimestamp !== undefined) return undefined
  if (name === 'pods')
    return ['Succeeded', 'Failed'].includes(str(object.status, 'phase')) ? healthIn(kind, object) : undefined
  return kind.group.includes('.') ? endOfRun(object) : undefined
}

/** Whatever its spec has become since. */
function healthIn(kind: GroupResource, { metadata, ...rest }: Readonly<KubeObject>): HealthVerdict {
  const { deletionTimestamp: _gone, ...still } = metadata
  return healthOf(kind, { ...rest, metadata: still })
}

/** Where controllers write how far a run is, and when it ended. */
const PHASES = [
  ['phase'],
  ['state'],
  ['state', 'phase'],
  ['jobStatus'],
  ['applicationState', 'state'],
  ['jobDeploymentStatus'],
]
const ENDS = ['completionTime', 'completionTimestamp', 'finishedAt', 'completedAt', 'terminationTime', 'endTime']
const DONE = /^(succeeded|success|completed?|finished)$/i
const FAILED =
  /^(failed|error|errored|partiallyfailed|failedvalidation|aborted|terminated|stopped|cancell?ed|timedout)$/i
/** Of other kinds, a database or an operator say, such a word is no end. */
const RUNS = /(Job|JobSet|Run|Workflow|Backup|Restore|Build|Task|Test|Scan|Upload|Download|Execution|SparkApplication)$/

/** Custom kinds have no common way to say it: these are those of Argo, Tekton, Kubeflow, Spark, Ray, Volcano and Velero. */
function endOfRun({ kind = '', status, metadata, ...rest }: Readonly<KubeObject>): HealthVerdict | undefined {
  const object = { ...rest, kind, status, metadata }
  const isTimed = ENDS.some(field => str(status, field) !== '')
  const isRun = isTimed || RUNS.test(kind)
  const words = isRun ? PHASES.map(path => at(status, ...path)).filter(word => typeof word === 'string') : []
  const failed =
    conditionIn(object, 'Succeeded', 'False') ??
    (isRun ? conditionIn(object, 'Failed', 'True') : undefined) ??
    words.find(word => FAILED.test(word))
  if (failed !== undefined) return { health: 'Degraded', message: str(status, 'message') || failed }
  const done = isRun ? ['Succeeded', 'Complete', 'Completed'] : ['Succeeded']
  const isDone = done.some(type => holds(object, type)) || words.some(word => DONE.test(word))
  return isDone || (isTimed && RUNS.test(kind)) ? HEALTHY : undefined
}

function holds(object: Readonly<KubeObject>, type: string): boolean {
  return conditionIn(object, type, 'True') !== undefined
}

/** Its words, where it is so. */
function conditionIn({ status }: Readonly<KubeObject>, type: string, is: 'True' | 'False'): string | undefined {
  const found = objects(status, 'conditions').find(one => one.type === type && one.status === is)
  return found && (str(found, 'message') || str(found, 'reason') || type)
}
