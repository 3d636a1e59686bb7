/** Refusals of workloads, field by field. */
import type { Script } from '../../script.ts'
import { APPS, SELECTOR, TEMPLATE } from '../bodies.ts'
import { IN, type Refused, refuse, since, unlike } from './refuse.ts'

const POD = { containers: [{ name: 'c', image: 'registry.example/i:1' }] }
const spec = (rest: object = {}): object => ({ spec: { selector: SELECTOR, template: TEMPLATE, ...rest } })
const BAD_SELECTORS = [
  { selector: { matchExpressions: [{ key: 'app', operator: 'Near', values: ['x'] }] } },
  { selector: { matchExpressions: [{ key: 'app', operator: 'In' }] } },
  { selector: { matchLabels: { app: 'a b' } } },
  { selector: {} },
  { selector: null },
].map(rest => spec(rest))

const deployments: Refused = { apiVersion: 'apps/v1', kind: 'Deployment', path: `${APPS}/deployments` }
const replicaSets: Refused = { apiVersion: 'apps/v1', kind: 'ReplicaSet', path: `${APPS}/replicasets` }
const daemonSets: Refused = { apiVersion: 'apps/v1', kind: 'DaemonSet', path: `${APPS}/daemonsets` }
const statefulSets: Refused = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  path: `${APPS}/statefulsets`,
}
const jobs: Refused = { apiVersion: 'batch/v1', kind: 'Job', path: `/apis/batch/v1/${IN}/jobs` }
const cronJobs: Refused = { apiVersion: 'batch/v1', kind: 'CronJob', path: `/apis/batch/v1/${IN}/cronjobs` }
const rolling = (rollingUpdate: object, type = 'RollingUpdate'): object =>
  spec({ updateStrategy: { type, rollingUpdate } })
const job = (rest: object, podSpec: object = {}): object => ({
  spec: { template: { spec: { ...POD, restartPolicy: 'Never', ...podSpec } }, ...rest },
})
const cron = (rest: object, jobSpec: object = {}): object => ({
  spec: {
    schedule: '* * * * *',
    jobTemplate: { spec: { template: { spec: { ...POD, restartPolicy: 'Never' } }, ...jobSpec } },
    ...rest,
  },
})
const policy = (rules: readonly object[], rest: object = {}): object =>
  since('1.25: pod failure policies', job({ podFailurePolicy: { rules }, ...rest }))
const INDEXED = { completionMode: 'Indexed', completions: 5, parallelism: 2 }
const success = (rules: readonly object[]): object =>
  since('1.30: success policies', job({ ...INDEXED, successPolicy: { rules } }))
const NEWER_STATEFUL = 'since 1.27 its pods and claims are judged'

export const workloadRefusals: Script = {
  name: 'refusals-workloads',
  steps: [
    ...refuse(
      deployments,
      ...BAD_SELECTORS,
      spec({ strategy: { rollingUpdate: { maxSurge: 'abc', maxUnavailable: 0 } } }),
      spec({ strategy: { rollingUpdate: { maxSurge: '0%', maxUnavailable: '00%' } } }),
      spec({ strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } }),
      spec({ template: { ...TEMPLATE, spec: { ...POD, activeDeadlineSeconds: 5 } } }),
      spec({ minReadySeconds: -1, revisionHistoryLimit: -1, progressDeadlineSeconds: -1 }),
    ),
    ...refuse(replicaSets, ...BAD_SELECTORS, spec({ minReadySeconds: -1, replicas: -1 })),
    ...refuse(
      daemonSets,
      ...BAD_SELECTORS.slice(0, 3),
      spec({ selector: {} }),
      since('1.22: surge', rolling({ maxSurge: 1, maxUnavailable: 1 })),
      unlike('1.22: surge', rolling({ maxSurge: 0, maxUnavailable: 0 })),
      since('1.22: surge', rolling({ maxSurge: '101%', maxUnavailable: 0 })),
      spec({ minReadySeconds: -1, revisionHistoryLimit: -1 }),
      spec({ updateStrategy: { type: 'Sometimes' } }),
    ),
    ...refuse(
      statefulSets,
      ...BAD_SELECTORS.map(body => [body, { unlike120: { '?body': NEWER_STATEFUL } }] as const),
      rolling({ partition: -1 }),
      rolling({ partition: 1 }, 'OnDelete'),
      rolling({}, 'Sometimes'),
      spec({ podManagementPolicy: 'Sometimes' }),
      since('1.24: more pods at a time', rolling({ maxUnavailable: 0 })),
      since('1.24: more pods at a time', rolling({ maxUnavailable: '150%' })),
      since('1.26: ordinals', spec({ ordinals: { start: -1 } })),
      since('1.23: claims are kept or not', spec({ persistentVolumeClaimRetentionPolicy: { whenScaled: 'Maybe' } })),
      since('1.33: names are labels', { ...spec(), metadata: { name: 'a.b' } }),
    ),
    ...refuse(
      { apiVersion: 'apps/v1', kind: 'ControllerRevision', path: `${APPS}/controllerrevisions` },
      { revision: 1 },
      { data: { a: 1 }, revision: -1 },
    ),
    ...refuse(
      jobs,
      job({
        parallelism: -1,
        completions: -1,
        activeDeadlineSeconds: -1,
        backoffLimit: -1,
      }),
      job({}, { restartPolicy: 'Always' }),
      job({ selector: SELECTOR }),
      job({ manualSelector: true }),
      job({ manualSelector: true, selector: { matchLabels: { a: 'b' } } }),
      since('1.21: completion modes', job({ completionMode: 'Sometimes' })),
      since('1.21: completion modes', job({ completionMode: 'Indexed', parallelism: 2 })),
      since('1.21: completion modes', job({ ...INDEXED, parallelism: 100_001 })),
      since('1.27: names of pods', { ...job(INDEXED), metadata: { name: 'a.b' } }),
      since('1.28: limits per index', job({ backoffLimitPerIndex: 1, maxFailedIndexes: 1 })),
      since('1.28: limits per index', job({ ...INDEXED, maxFailedIndexes: 6 })),
      since(
        '1.28: limits per index',
        job({ ...INDEXED, completions: 100_001, parallelism: 10_001, backoffLimitPerIndex: 1 }),
      ),
      since('1.28: when pods are replaced', job({ podReplacementPolicy: 'Sometimes' })),
      since('1.30: other managers', job({ managedBy: 'me' })),
      since('1.30: other managers', job({ managedBy: 'Example.com/me' })),
      since('1.30: other managers', job({ managedBy: `example.com/${'a'.repeat(63)}` })),
      policy([{ action: 'Ignore' }]),
      policy([{ action: 'Sometimes', onExitCodes: { operator: 'Near', values: [] } }]),
      policy([
        { onExitCodes: { operator: 'In', values: [0, 2, 1, 2] }, onPodConditions: [{ type: 'a b', status: 'Yes' }] },
      ]),
      policy([{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [1], containerName: 'd' } }]),
      policy([{ action: 'Count', onPodConditions: [{ type: 'Ready' }] }], {
        podReplacementPolicy: 'TerminatingOrFailed',
      }),
      since('1.25: pod failure policies', job({ podFailurePolicy: { rules: [] } }, { restartPolicy: 'OnFailure' })),
      success([]),
      success([{}]),
      success([{ succeededIndexes: '0-7', succeededCount: 9 }, { succeededIndexes: '3,1' }]),
      success([{ succeededIndexes: '1-2-3' }, { succeededIndexes: 'a' }, { succeededIndexes: '2-1' }]),
      success([{ succeededIndexes: '0-1', succeededCount: 3 }]),
      since('1.30: success policies', job({ successPolicy: { rules: [{ succeededCount: 1 }] } })),
    ),
    ...refuse(
      cronJobs,
      ...[
        cron({ schedule: '' }),
        cron({ schedule: '* * *' }),
        cron({ schedule: 'TZ=UTC * * * * *' }),
        cron({ schedule: 'CRON_TZ=Nowhere/City * * * * *' }),
        cron({ timeZone: '' }),
        cron({ timeZone: 'Local' }),
        cron({ timeZone: 'Nowhere/City' }),
        cron({ timeZone: '../UTC' }),
        cron({ concurrencyPolicy: 'Sometimes', startingDeadlineSeconds: -1 }),
        cron({ successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -1 }),
        cron({}, { selector: SELECTOR, manualSelector: true }),
        cron({}, { backoffLimit: -1 }),
        { ...cron({}), metadata: { name: 'a'.repeat(53) } },
      ].map(body => since('1.21: batch/v1', body)),
    ),
  ],
}
