/**
 * Upstream's warnings for pods and templates: fields and annotations without effect, and duplicates.
 * @see https://kubernetes.io/blog/2020/09/03/warnings/
 */

import { at, type Fields, has, isEmpty, num, record, records, str } from '../../apimachinery/fields.ts'
import { dns1123Label } from '../../apimachinery/names.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { repeats } from '../checks.ts'
import { nodeLabelWarning, termWarnings } from '../nodes/nodeLabels.ts'
import type { Strategy } from '../strategy.ts'
import { APP_ARMOR, annotationsOf, SECCOMP_CONTAINER, SECCOMP_POD } from './podAnnotations.ts'
import { allContainers, securityOf } from './podScope.ts'
import { isFractional } from './resources.ts'

/** Warnings for a new pod. */
export function podWarnings(pod: KubeObject): string[] {
  const name = pod.metadata.name ?? ''
  const about =
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended:"
  const wrong = dns1123Label(name)
  return [...(wrong.length > 0 ? [`${about} [${wrong.join(' ')}]`] : []), ...warningsOf(pod, '')]
}

/** Warnings for a template. @param path such as `spec.template` */
function podTemplateWarnings(template: unknown, path: string): string[] {
  return warningsOf(template, `${path}.`)
}

/** Adds the warnings of the template at `path`, wherever the kind's wish is a new one. */
export function warnOfTemplate(strategy: Strategy, path: string): Strategy {
  const steps = path.split('.')
  return {
    ...strategy,
    warnings(object, old) {
      const own = strategy.warnings?.(object, old) ?? []
      const same = old?.metadata.generation !== undefined && old.metadata.generation === object.metadata.generation
      return same ? own : [...own, ...podTemplateWarnings(at(object, ...steps), path)]
    },
  }
}

const DEAD_ANNOTATIONS: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
}

const DEAD_VOLUMES: Readonly<Record<string, string>> = {
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
}
/** Volumes whose names in Go differ from those in JSON. */
const VOLUME_NAMES: Readonly<Record<string, string>> = { storageos: 'storageOS' }

/** `prefix` is empty for pods; else it ends with a dot. */
function warningsOf(holder: unknown, prefix: string): string[] {
  const spec = record(holder, 'spec')
  const path = `${prefix}spec`
  const annotations = annotationsOf(holder)
  const note = (key: string): string => `${prefix}metadata.annotations[${key}]`
  return [
    ...placeWarnings(spec, path),
    ...Object.keys(DEAD_ANNOTATIONS)
      .filter(key => Object.hasOwn(annotations, key))
      .map(key => `${note(key)}: ${DEAD_ANNOTATIONS[key]}`),
    ...records(spec, 'volumes').flatMap((volume, i) => volumeWarnings(volume, `${path}.volumes[${i}]`)),
    ...tokenPathWarnings(spec, path),
    ...twice(records(spec, 'hostAliases'), 'ip', `${path}.hostAliases`),
    ...twice(records(spec, 'imagePullSecrets'), 'name', `${path}.imagePullSecrets`),
    ...records(spec, 'imagePullSecrets').flatMap((secret, i) =>
      str(secret, 'name') === '' ? [`${path}.imagePullSecrets[${i}].name: invalid empty name ""`] : [],
    ),
    ...fractions(record(spec, 'overhead'), `${path}.overhead`),
    ...seccompWarnings(securityOf(spec), annotations, SECCOMP_POD, note),
    ...allContainers(spec, path).flatMap(([container, here]) => [
      ...seccompWarnings(securityOf(container), annotations, `${SECCOMP_CONTAINER}${container.name}`, note),
      ...(prefix === '' ? [] : appArmorWarnings(spec, container, annotations, note)),
      ...['limits', 'requests'].flatMap(list =>
        fractions(record(container, 'resources', list), `${here}.resources.${list}`),
      ),
      ...hiddenVariables(records(container, 'env'), `${here}.env`),
    ]),
    ...portWarnings(spec, path),
    ...(num(spec, 'terminationGracePeriodSeconds') < 0
      ? [`${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...affinityWarnings(record(spec, 'affinity'), `${path}.affinity`),
  ]
}

const NULL_SELECTOR = 'a null labelSelector results in matching no pod'
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'

function placeWarnings(spec: Fields, path: string): string[] {
  const node = record(spec, 'affinity', 'nodeAffinity')
  const here = `${path}.affinity.nodeAffinity`
  return [
    ...Object.keys(record(spec, 'nodeSelector')).flatMap(key => {
      const message = nodeLabelWarning(key)
      return message === undefined ? [] : [`${path}.nodeSelector[${key}]: ${message}`]
    }),
    ...records(node, REQUIRED, 'nodeSelectorTerms').flatMap((term, i) =>
      termWarnings(term, `${here}.${REQUIRED}.nodeSelectorTerms[${i}]`, false),
    ),
    ...records(node, PREFERRED).flatMap((term, i) =>
      termWarnings(record(term, 'preference'), `${here}.${PREFERRED}[${i}].preference`, true),
    ),
    ...records(spec, 'topologySpreadConstraints').flatMap((constraint, i) => {
      const here = `${path}.topologySpreadConstraints[${i}]`
      const key = str(constraint, 'topologyKey')
      const message = nodeLabelWarning(key)
      return [
        ...(message === undefined ? [] : [`${here}.topologyKey: ${key} is ${message}`]),
        ...(has(constraint, 'labelSelector') ? [] : [`${here}.labelSelector: ${NULL_SELECTOR}`]),
      ]
    }),
  ]
}

function affinityWarnings(affinity: Fields, path: string): string[] {
  return ['podAffinity', 'podAntiAffinity'].flatMap(kind => [
    ...records(affinity, kind, REQUIRED).flatMap((term, i) =>
      has(term, 'labelSelector') ? [] : [`${path}.${kind}.${REQUIRED}[${i}].labelSelector: ${NULL_SELECTOR}`],
    ),
    ...records(affinity, kind, PREFERRED).flatMap((term, i) =>
      has(term, 'podAffinityTerm', 'labelSelector')
        ? []
        : [`${path}.${kind}.${PREFERRED}[${i}].podAffinityTerm.labelSelector: ${NULL_SELECTOR}`],
    ),
  ])
}

function volumeWarnings(volume: Fields, path: string): string[] {
  return [
    ...Object.keys(DEAD_VOLUMES)
      .filter(source => has(volume, source))
      .map(source => `${path}.${VOLUME_NAMES[source] ?? source}: ${DEAD_VOLUMES[source]}`),
    ...claimSpecWarnings(
      record(volume, 'ephemeral', 'volumeClaimTemplate', 'spec'),
      `${path}.ephemeral.volumeClaimTemplate.spec`,
    ),
  ]
}

/** Warnings for a claim's spec, wherever it stands. */
export function claimSpecWarnings(spec: Fields, path: string): string[] {
  return ['requests', 'limits'].flatMap(list => {
    const amount = record(spec, 'resources', list).storage
    return amount !== undefined && isFractional(amount) ? [fraction(`${path}.resources.${list}[storage]`, amount)] : []
  })
}

const fraction = (field: string, amount: unknown): string =>
  `${field}: fractional byte value ${JSON.stringify(String(amount))} is invalid, must be an integer`

/** Bytes cannot be divided. */
function fractions(amounts: Fields, path: string): string[] {
  return ['memory', 'ephemeral-storage']
    .filter(name => amounts[name] !== undefined && isFractional(amounts[name]))
    .map(name => fraction(`${path}[${name}]`, amounts[name]))
}

/** Two sources of one volume that write the same file. Upstream's paths leave the source's index out. */
function tokenPathWarnings(spec: Fields, path: string): string[] {
  const volumes = records(spec, 'volumes')
  const tokens = new Set(
    volumes.flatMap(volume =>
      records(volume, 'projected', 'sources')
        .filter(source => has(source, 'serviceAccountToken'))
        .map(source => str(source, 'serviceAccountToken', 'path')),
    ),
  )
  if (tokens.size === 0) return []
  return volumes.flatMap((volume, i) =>
    records(volume, 'projected', 'sources').flatMap(source => {
      const sources = `${path}.volumes[${i}].projected.sources`
      const duplicate = (file: string, where: string): string[] =>
        tokens.has(file)
          ? [`${sources}.${where}: has duplicated path with ServiceAccountToken ${JSON.stringify(file)}`]
          : []
      return [
        ...Object.entries({ configMap: 'configMap', secret: 'secrets', downwardAPI: 'downwardAPI' }).flatMap(
          ([kind, shown]) =>
            records(source, kind, 'items').flatMap((item, j) => duplicate(str(item, 'path'), `${shown}[${j}]`)),
        ),
        ...(has(source, 'clusterTrustBundle')
          ? duplicate(str(source, 'clusterTrustBundle', 'path'), 'ClusterTrustBundle')
          : []),
      ]
    }),
  )
}

function twice(items: readonly Fields[], member: string, path: string): string[] {
  const values = items.map(item => str(item, member))
  const again = repeats(values)
  return values.flatMap((value, i) =>
    again[i] ? [`${path}[${i}].${member}: duplicate ${member} ${JSON.stringify(value)}`] : [],
  )
}

function seccompWarnings(
  security: Fields,
  annotations: Readonly<Record<string, string>>,
  key: string,
  note: (key: string) => string,
): string[] {
  if (has(security, 'seccompProfile') || !Object.hasOwn(annotations, key)) return []
  return [`${note(key)}: non-functional in v1.27+; use the "seccompProfile" field instead`]
}

function appArmorWarnings(
  spec: Fields,
  container: Fields,
  annotations: Readonly<Record<string, string>>,
  note: (key: string) => string,
): string[] {
  const key = `${APP_ARMOR}${container.name}`
  const isPresent = [spec, container].some(holder => has(securityOf(holder), 'appArmorProfile'))
  if (isPresent || !Object.hasOwn(annotations, key)) return []
  return [`${note(key)}: deprecated since v1.30; use the "appArmorProfile" field instead`]
}

/** A repeated variable, unless it adds to the earlier value. */
function hiddenVariables(variables: readonly Fields[], path: string): string[] {
  const again = repeats(variables.map(variable => str(variable, 'name')))
  return variables.flatMap((variable, i) => {
    const [name, value] = [str(variable, 'name'), str(variable, 'value')]
    const before = `$(${name})`
    if (!again[i]) return []
    if (!has(variable, 'valueFrom') && value !== before && value.includes(before)) return []
    return [
      `${path}[${i}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
    ]
  })
}

/** More than a response tells. */
const WARNINGS_MAX = 64

function portWarnings(spec: Fields, path: string): string[] {
  const warnings: string[] = []
  const all = new Map<string, { field: string; port: Fields }[]>()
  for (const [container, here] of allContainers(spec, path)) {
    for (const [i, port] of records(container, 'ports').entries()) {
      const field = `${here}.ports[${i}]`
      const [ip, hostPort] = [str(port, 'hostIP'), num(port, 'hostPort')]
      if (ip !== '' && hostPort === 0) {
        const shown = `{Name:${str(port, 'name')} HostPort:0 ContainerPort:${port.containerPort} Protocol:${port.protocol} HostIP:${ip}}`
        warnings.push(`${field}: hostIP set without hostPort: ${shown}`)
      }
      const key = `${port.containerPort}/${port.protocol}`
      const others = all.get(key) ?? []
      for (const other of others) {
        // nobody reads on
        if (warnings.length >= WARNINGS_MAX) return warnings
        const [otherIp, otherPort] = [str(other.port, 'hostIP'), num(other.port, 'hostPort')]
        if (ip === otherIp && hostPort === otherPort) {
          warnings.push(`${field}: duplicate port definition with ${other.field}`)
        } else if (isEmpty(hostPort) || isEmpty(otherPort)) {
          warnings.push(`${field}: overlapping port definition with ${other.field}`)
        } else if (hostPort === otherPort && (ip === '') !== (otherIp === '')) {
          warnings.push(`${field}: dangerously ambiguous port definition with ${other.field}`)
        }
      }
      all.set(key, [...others, { field, port }])
    }
  }
  return warnings
}
