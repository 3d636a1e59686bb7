/**
 * The restricted level of the Pod Security Standards: what a hardened pod says of itself, on top of the baseline.
 * @see https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
 */
import { has, records, str, strings } from '../../../apimachinery/fields.ts'
import { type Check, procMount, seccompFields, seccompType, type Violation } from './baselineChecks.ts'
import { counted, culprits, faulty, hasOwnUsers, isWindows, type PodForm, plural, quoted, sorted } from './podForm.ts'

const VOLUME_TYPES = new Set([
  ...['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'persistentVolumeClaim', 'projected', 'secret'],
])
/** Sources that the standards know by name and do not allow. */
const OTHER_VOLUME_TYPES = [
  ...['hostPath', 'gcePersistentDisk', 'awsElasticBlockStore', 'gitRepo', 'nfs', 'iscsi', 'glusterfs', 'rbd'],
  ...['flexVolume', 'cinder', 'cephfs', 'flocker', 'fc', 'azureFile', 'vsphereVolume', 'quobyte', 'azureDisk'],
  ...['photonPersistentDisk', 'portworxVolume', 'scaleIO', 'storageos'],
]
/** Since then, checks for Linux alone skip pods for Windows. */
const KNOWS_WINDOWS = 25
/** Since then, pods with users of their own may run as root: it is nobody outside. */
const KNOWS_USER_NAMESPACES = 35

/** In the order in which their violations are listed. */
export const RESTRICTED: readonly Check[] = [
  {
    id: 'allowPrivilegeEscalation',
    since: 8,
    run: forLinux(pod => {
      const names = faulty(pod, c => c.context.allowPrivilegeEscalation !== false)
      if (names.length === 0) return undefined
      const detail = `${counted('container', names)} must set securityContext.allowPrivilegeEscalation=false`
      return { reason: 'allowPrivilegeEscalation != false', detail }
    }),
  },
  { id: 'capabilities_restricted', since: 22, replaces: ['capabilities_baseline'], run: forLinux(capabilities) },
  { id: 'procMount_restricted', since: 35, replaces: ['procMount_baseline'], run: procMount },
  {
    id: 'restrictedVolumes',
    since: 0,
    replaces: ['hostPathVolumes'],
    run({ spec }) {
      const bad = records(spec, 'volumes').filter(volume => ![...VOLUME_TYPES].some(type => has(volume, type)))
      if (bad.length === 0) return undefined
      const types = sorted(bad.map(volume => OTHER_VOLUME_TYPES.find(type => has(volume, type)) ?? 'unknown'))
      const names = bad.map(volume => str(volume, 'name'))
      const noun = plural(types.length, 'restricted volume type')
      const detail = `${counted('volume', names)} ${plural(names.length, 'uses', 'use')} ${noun} ${quoted(types)}`
      return { reason: 'restricted volume types', detail }
    },
  },
  { id: 'runAsNonRoot', since: 0, run: (pod, minor) => (mayBeRoot(pod, minor) ? undefined : runAsNonRoot(pod)) },
  {
    id: 'runAsUser',
    since: 23,
    run(pod, minor) {
      if (mayBeRoot(pod, minor)) return undefined
      const who = culprits(
        pod.context.runAsUser === 0,
        faulty(pod, c => c.context.runAsUser === 0),
      )
      return who === '' ? undefined : { reason: 'runAsUser=0', detail: `${who} must not set runAsUser=0` }
    },
  },
  { id: 'seccompProfile_restricted', since: 19, replaces: ['seccompProfile_baseline'], run: forLinux(seccompProfile) },
]

function forLinux(run: (pod: PodForm) => Violation | undefined): Check['run'] {
  return (pod, minor) => (minor >= KNOWS_WINDOWS && isWindows(pod) ? undefined : run(pod))
}

const mayBeRoot = (pod: PodForm, minor: number): boolean => minor >= KNOWS_USER_NAMESPACES && hasOwnUsers(pod)

function capabilities(pod: PodForm): Violation | undefined {
  const extra = (context: object) => strings(context, 'capabilities', 'add').filter(name => name !== 'NET_BIND_SERVICE')
  const keeping = faulty(pod, c => !strings(c.context, 'capabilities', 'drop').includes('ALL'))
  const adding = faulty(pod, c => extra(c.context).length > 0)
  const added = quoted(sorted(pod.containers.flatMap(c => extra(c.context))))
  const details = [
    ...(keeping.length > 0
      ? [`${counted('container', keeping)} must set securityContext.capabilities.drop=["ALL"]`]
      : []),
    ...(adding.length > 0
      ? [`${counted('container', adding)} must not include ${added} in securityContext.capabilities.add`]
      : []),
  ]
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') }
}

function runAsNonRoot(pod: PodForm): Violation | undefined {
  const reason = 'runAsNonRoot != true'
  const who = culprits(
    pod.context.runAsNonRoot === false,
    faulty(pod, c => c.context.runAsNonRoot === false),
  )
  if (who !== '') return { reason, detail: `${who} must not set securityContext.runAsNonRoot=false` }
  const silent = pod.context.runAsNonRoot === true ? [] : faulty(pod, c => !has(c.context, 'runAsNonRoot'))
  if (silent.length === 0) return undefined
  return { reason, detail: `pod or ${counted('container', silent)} must set securityContext.runAsNonRoot=true` }
}

function seccompProfile(pod: PodForm): Violation | undefined {
  const bad = seccompFields(pod)
  if (bad) return bad
  const silent = seccompType(pod) !== undefined ? [] : faulty(pod, c => seccompType(c) === undefined)
  if (silent.length === 0) return undefined
  const rule = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
  return { reason: 'seccompProfile', detail: `pod or ${counted('container', silent)} ${rule}` }
}
