/**
 * Validation of pod specs and templates (v1), in upstream's order and words. Its parts are in files of their own.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
 */
import { type FieldError, fieldError, oneOf } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, list, num, record, records, str, strings } from '../../apimachinery/fields.ts'
import { dns1123Label, dns1123Subdomain, type NameRule, qualifiedName } from '../../apimachinery/names.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { validateAnnotations, validateLabels } from '../../apimachinery/objectMeta.ts'
import { compareQuantities, formatQuantity } from '../../apimachinery/quantity.ts'
import { podAmounts } from '../../apimachinery/quota/podResources.ts'
import { amountsOf, ZERO } from '../../apimachinery/quota/resourceList.ts'
import { exceeds, invalidBy, repeats, requiredName } from '../checks.ts'
import { ipAddress } from '../network/addresses.ts'
import { choice } from '../shapes.ts'
import { volumeSource } from '../volumes/volumeSources.ts'
import { affinity, spreadConstraints, tolerations } from './affinity.ts'
import {
  imageSpaces,
  validateContainers,
  validateEphemeralContainers,
  validateInitContainers,
} from './containerValidation.ts'
import { annotationsOf, podAnnotations, profilesAgree } from './podAnnotations.ts'
import { type PodScope, podScope } from './podScope.ts'
import { hostNetworkPorts, hostProcesses, operatingSystem, userNamespace } from './podSystem.ts'
import { requirements } from './resources.ts'
import { podSecurity } from './securityContext.ts'

/** `path` is the template's, such as `spec.template`. */
export function validatePodTemplate(template: unknown, path: string): FieldError[] {
  if (!isRecord(template)) return [fieldError.required(path)]
  const spec = record(template, 'spec')
  const annotations = annotationsOf(template)
  const errors = [
    ...validateLabels(record(template, 'metadata', 'labels') as Record<string, string>, `${path}.labels`),
    ...validateAnnotations(annotations, `${path}.annotations`),
    ...podAnnotations(annotations, spec, `${path}.annotations`),
    ...validatePodSpec(spec, `${path}.spec`),
    ...profilesAgree(annotations, spec, `${path}.spec`),
  ]
  if (list(spec, 'ephemeralContainers').length > 0) {
    errors.push(
      fieldError.forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'),
    )
  }
  return errors
}

/** Rules for a pod at any time, and not for templates. */
export function validatePod(pod: KubeObject): FieldError[] {
  const spec = record(pod, 'spec')
  const errors = [
    ...podAnnotations(annotationsOf(pod), spec, 'metadata.annotations'),
    ...validatePodSpec(spec, 'spec', { name: pod.metadata.name ?? '' }),
  ]
  if (str(spec, 'serviceAccountName') === '') {
    for (const [i, volume] of records(spec, 'volumes').entries()) {
      for (const [j, source] of records(volume, 'projected', 'sources').entries()) {
        if (!has(source, 'serviceAccountToken')) continue
        const field = `spec.volumes[${i}].projected.sources[${j}].serviceAccountToken`
        errors.push(fieldError.forbidden(field, 'must not be specified when serviceAccountName is not set'))
      }
    }
  }
  for (const containers of ['containers', 'initContainers']) {
    for (const [i, container] of records(spec, containers).entries()) {
      errors.push(...imageSpaces(container, `spec.${containers}[${i}]`))
    }
  }
  return errors
}

/** Duplicate fields of a new pod must agree. */
export function validatePodProfiles(pod: KubeObject): FieldError[] {
  return profilesAgree(annotationsOf(pod), record(pod, 'spec'), 'spec')
}

/** @param pod whose spec it is, when it is none of a template */
function validatePodSpec(spec: Fields, path: string, pod?: { name: string }): FieldError[] {
  const [volumes, errors] = validateVolumes(records(spec, 'volumes'), `${path}.volumes`, pod)
  const scope = podScope(spec, path, volumes, pod)
  return [
    ...errors,
    ...resourceClaims(scope),
    ...validateContainers(scope),
    ...validateInitContainers(scope),
    ...validateEphemeralContainers(scope),
    ...podResources(scope),
    ...hostNetworkPorts(scope),
    ...oneOf(str(spec, 'restartPolicy'), `${path}.restartPolicy`, ['Always', 'OnFailure', 'Never']),
    ...oneOf(str(spec, 'dnsPolicy'), `${path}.dnsPolicy`, DNS_POLICIES),
    ...validateLabels(record(spec, 'nodeSelector') as Record<string, string>, `${path}.nodeSelector`),
    ...podSecurity(scope),
    ...affinity(spec.affinity, `${path}.affinity`),
    ...dnsConfig(scope),
    ...records(spec, 'readinessGates').flatMap((gate, i) =>
      invalidBy(qualifiedName, str(gate, 'conditionType'), `${path}.readinessGates[${i}].conditionType`),
    ),
    ...schedulingGates(records(spec, 'schedulingGates'), `${path}.schedulingGates`),
    ...spreadConstraints(records(spec, 'topologySpreadConstraints'), `${path}.topologySpreadConstraints`),
    ...hostProcesses(scope),
    ...userNamespace(scope),
    ...named(scope, { serviceAccountName: dns1123Subdomain, nodeName: dns1123Subdomain }),
    ...deadline(scope),
    ...named(scope, { hostname: dns1123Label, subdomain: dns1123Label }),
    ...hostnameOverride(scope),
    ...tolerations(records(spec, 'tolerations'), `${path}.tolerations`),
    ...hostAliases(scope),
    ...named(scope, { priorityClassName: dns1123Subdomain, runtimeClassName: dns1123Subdomain }),
    ...choice(spec, 'preemptionPolicy', `${path}.preemptionPolicy`, ['PreemptLowerPriority', 'Never']),
    ...requirements({ limits: spec.overhead }, `${path}.overhead`),
    ...operatingSystem(scope),
  ]
}

const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']

/** The volumes without faults by name, and the faults of the others. */
function validateVolumes(
  volumes: readonly Fields[],
  path: string,
  pod: { name: string } | undefined,
): [Map<string, Fields>, FieldError[]] {
  const good = new Map<string, Fields>()
  const errors: FieldError[] = []
  const podName = pod?.name ?? ''
  const ephemeral = volumes.filter(volume => has(volume, 'ephemeral'))
  const made = new Set(ephemeral.map(volume => `${podName}-${str(volume, 'name')}`))
  for (const [i, volume] of volumes.entries()) {
    const here = `${path}[${i}]`
    const name = str(volume, 'name')
    const own = [
      ...volumeSource(volume, { path: here, name, podName, isPod: pod !== undefined, persistent: false }),
      ...requiredName(name, `${here}.name`),
    ]
    if (good.has(name)) own.push(fieldError.duplicate(`${here}.name`, name))
    if (own.length === 0) good.set(name, volume)
    errors.push(...own)
    const claim = str(volume, 'persistentVolumeClaim', 'claimName')
    if (podName !== '' && has(volume, 'persistentVolumeClaim') && made.has(claim)) {
      const detail = 'must not reference a PVC that gets created for an ephemeral volume'
      errors.push(fieldError.invalid(`${here}.persistentVolumeClaim.claimName`, claim, detail))
    }
  }
  return [good, errors]
}

const CLAIM_SOURCES = ['resourceClaimName', 'resourceClaimTemplateName']

function resourceClaims({ spec, path }: PodScope): FieldError[] {
  const claims = records(spec, 'resourceClaims')
  const again = repeats(claims.map(claim => str(claim, 'name')))
  return claims.flatMap((claim, i) => {
    const here = `${path}.resourceClaims[${i}]`
    const name = str(claim, 'name')
    const errors =
      again[i] && name !== '' ? [fieldError.duplicate(`${here}.name`, name)] : requiredName(name, `${here}.name`)
    const used = CLAIM_SOURCES.filter(source => has(claim, source))
    if (used.length > 1) {
      const detail = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'
      errors.push(fieldError.invalid(here, claim, detail))
    } else if (used.length === 0) {
      const detail = 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'
      errors.push(fieldError.invalid(here, claim, detail))
    }
    return [...errors, ...used.flatMap(s => invalidBy(dns1123Subdomain, str(claim, s), `${here}.${s}`))]
  })
}

/** Requests of a pod as a whole have to hold its containers. */
function podResources({ spec, path }: PodScope): FieldError[] {
  if (!has(spec, 'resources')) return []
  const here = `${path}.resources`
  const errors = has(spec, 'resources', 'claims')
    ? [fieldError.forbidden(`${here}.claims`, 'claims cannot be set for Resources at pod-level')]
    : []
  errors.push(...requirements({ ...record(spec, 'resources'), claims: [] }, here, { wholePod: true }))
  const { resources: _, overhead: __, ...alone } = spec
  const requested = amountsOf(record(spec, 'resources').requests)
  const parts = podAmounts({ spec: alone, metadata: {} } as unknown as KubeObject, 'requests')
  for (const [name, amount] of parts) {
    const whole = requested.get(name) ?? ZERO
    if (compareQuantities(amount, whole) <= 0) continue
    const detail = `must be greater than or equal to aggregate container requests of ${formatQuantity(amount)}`
    errors.push(fieldError.invalid(`${here}.requests[${name}]`, formatQuantity(whole), detail))
  }
  const limits = record(spec, 'resources', 'limits')
  for (const [i, container] of records(spec, 'containers').entries()) {
    for (const [name, limit] of Object.entries(record(container, 'resources', 'limits'))) {
      if (!has(limits, name) || !exceeds(limit, limits[name])) continue
      const detail = `must be less than or equal to pod limits of ${limits[name]}`
      errors.push(fieldError.invalid(`${here}.containers[${i}][${name}].limits`, String(limit), detail))
    }
  }
  return errors
}

/** Optional names that follow a rule. */
function named({ spec, path }: PodScope, rules: Readonly<Record<string, NameRule>>): FieldError[] {
  return Object.entries(rules)
    .filter(([field]) => str(spec, field) !== '')
    .flatMap(([field, rule]) => invalidBy(rule, str(spec, field), `${path}.${field}`))
}

const MAX_INT32 = 2147483647

function deadline({ spec, path }: PodScope): FieldError[] {
  const seconds = num(spec, 'activeDeadlineSeconds')
  if (!has(spec, 'activeDeadlineSeconds') || (seconds >= 1 && seconds <= MAX_INT32)) return []
  const detail = `must be between 1 and ${MAX_INT32}, inclusive`
  return [fieldError.invalid(`${path}.activeDeadlineSeconds`, seconds, detail)]
}

/** Linux knows host names of up to 64 bytes. */
const HOSTNAME_MAX = 64

function hostnameOverride({ spec, path }: PodScope): FieldError[] {
  if (!has(spec, 'hostnameOverride')) return []
  const [field, name] = [`${path}.hostnameOverride`, str(spec, 'hostnameOverride')]
  const errors = invalidBy(dns1123Subdomain, name, field)
  if (Buffer.byteLength(name) > HOSTNAME_MAX) errors.push(fieldError.tooLong(field, HOSTNAME_MAX))
  for (const other of ['hostNetwork', 'setHostnameAsFQDN']) {
    if (spec[other] === true) errors.push(fieldError.forbidden(field, `may not be specified when ${other} is true`))
  }
  return errors
}

function hostAliases({ spec, path }: PodScope): FieldError[] {
  return records(spec, 'hostAliases').flatMap((alias, i) => {
    const here = `${path}.hostAliases[${i}]`
    return [
      ...ipAddress(str(alias, 'ip'), `${here}.ip`),
      ...strings(alias, 'hostnames').flatMap((name, j) => invalidBy(dns1123Subdomain, name, `${here}.hostnames[${j}]`)),
    ]
  })
}

function schedulingGates(gates: readonly Fields[], path: string): FieldError[] {
  const names = gates.map(gate => str(gate, 'name'))
  const again = repeats(names)
  return names.flatMap((name, i) => [
    ...invalidBy(qualifiedName, name, `${path}[${i}]`),
    ...(again[i] ? [fieldError.duplicate(`${path}[${i}]`, name)] : []),
  ])
}

const NAMESERVERS_MAX = 3
const SEARCHES_MAX = 32
const SEARCH_CHARACTERS_MAX = 2048

function dnsConfig({ spec, path: specPath }: PodScope): FieldError[] {
  const path = `${specPath}.dnsConfig`
  const config = record(spec, 'dnsConfig')
  const [servers, searches] = [strings(config, 'nameservers'), strings(config, 'searches')]
  if (spec.dnsPolicy === 'None') {
    if (!has(spec, 'dnsConfig')) {
      return [fieldError.required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')]
    }
    if (servers.length === 0) {
      const detail = 'must provide at least one DNS nameserver when `dnsPolicy` is None'
      return [fieldError.required(`${path}.nameservers`, detail)]
    }
  }
  const errors: FieldError[] = []
  const tooMany = (field: string, value: unknown, what: string): void => {
    errors.push(fieldError.invalid(`${path}.${field}`, value, `must not have more than ${what}`))
  }
  if (servers.length > NAMESERVERS_MAX) tooMany('nameservers', servers, `${NAMESERVERS_MAX} nameservers`)
  errors.push(...servers.flatMap((server, i) => ipAddress(server, `${path}.nameservers[${i}]`)))
  if (searches.length > SEARCHES_MAX) tooMany('searches', searches, `${SEARCHES_MAX} search paths`)
  if (searches.join(' ').length > SEARCH_CHARACTERS_MAX) {
    tooMany('searches', searches, `${SEARCH_CHARACTERS_MAX} characters (including spaces) in the search list`)
  }
  for (const [i, search] of searches.entries()) {
    if (search === '.') continue
    errors.push(...invalidBy(searchDomain, search.replace(/\.$/, ''), `${path}.searches[${i}]`))
  }
  for (const [i, option] of records(config, 'options').entries()) {
    if (str(option, 'name') === '') errors.push(fieldError.required(`${path}.options[${i}]`, 'must not be empty'))
  }
  return errors
}

/** A subdomain that may have underscores, as names of services in DNS have. */
function searchDomain(value: string): string[] {
  const errors = Buffer.byteLength(value) > 253 ? ['must be no more than 253 characters'] : []
  if (value.split('.').every(part => /^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/.test(part))) return errors
  return [
    ...errors,
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')",
  ]
}
