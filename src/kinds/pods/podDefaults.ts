/**
 * Defaults of pods and pod templates (v1), shared by every kind that carries a template.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
 */

import {
  ensure,
  type Fields,
  has,
  list,
  record,
  records,
  setDefault,
  setDefaults,
  setIfEmpty,
  str,
} from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { podAmounts } from '../../apimachinery/quota/podResources.ts'
import { amountsToJson } from '../../apimachinery/quota/resourceList.ts'
import { canonicalQuantities } from '../checks.ts'

const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const

/** Defaults of a template's `spec`; makes none where there is none. */
export function defaultPodTemplate(template: unknown): void {
  if (isRecord(template)) defaultPodSpec(ensure(template, 'spec'))
}

function defaultPodSpec(spec: Fields): void {
  setIfEmpty(spec, 'restartPolicy', 'Always')
  setIfEmpty(spec, 'dnsPolicy', 'ClusterFirst')
  setIfEmpty(spec, 'schedulerName', 'default-scheduler')
  setDefaults(spec, { terminationGracePeriodSeconds: 30, securityContext: {} })
  // the deprecated twin of serviceAccountName is always kept equal to it
  const account = str(spec, 'serviceAccountName') || str(spec, 'serviceAccount')
  if (account !== '') Object.assign(spec, { serviceAccountName: account, serviceAccount: account })
  for (const field of CONTAINER_LISTS) for (const container of records(spec, field)) defaultContainer(container)
  for (const volume of records(spec, 'volumes')) defaultVolume(volume)
  canonicalQuantities(spec.overhead)
}

/** Resources that a whole pod may request by itself. */
const SUMMED = new Set(['cpu', 'memory'])

/** A pod that says limits of its own asks for what its containers ask for together, else for as much as it may have. */
function defaultPodRequests(pod: Fields, spec: Fields): void {
  if (!has(spec, 'resources')) return
  const resources = ensure(spec, 'resources')
  for (const list of ['limits', 'requests']) canonicalQuantities(resources[list])
  const { resources: _, overhead: __, ...alone } = spec
  const together = podAmounts({ ...pod, spec: alone } as unknown as KubeObject, 'requests', SUMMED)
  const requests = {
    ...record(resources, 'limits'),
    ...amountsToJson(together),
    ...record(resources, 'requests'),
  }
  if (Object.keys(requests).length > 0) resources.requests = requests
}

/** Defaults of pods, not of templates. */
export function defaultPod(pod: Fields): void {
  const spec = ensure(pod, 'spec')
  defaultPodSpec(spec)
  setDefault(spec, 'enableServiceLinks', true)
  for (const container of [...records(spec, 'initContainers'), ...records(spec, 'containers')]) {
    const resources = ensure(container, 'resources')
    if (Object.keys(record(resources, 'limits')).length > 0) {
      setDefaults(ensure(resources, 'requests'), record(resources, 'limits'))
    }
    if (spec.hostNetwork === true) {
      for (const port of records(container, 'ports')) setIfEmpty(port, 'hostPort', port.containerPort)
    }
  }
  defaultPodRequests(pod, spec)
}

function defaultContainer(container: Fields): void {
  setIfEmpty(container, 'terminationMessagePath', '/dev/termination-log')
  setIfEmpty(container, 'terminationMessagePolicy', 'File')
  setIfEmpty(container, 'imagePullPolicy', isLatest(str(container, 'image')) ? 'Always' : 'IfNotPresent')
  const resources = ensure(container, 'resources')
  canonicalQuantities(resources.limits)
  canonicalQuantities(resources.requests)
  for (const port of records(container, 'ports')) setIfEmpty(port, 'protocol', 'TCP')
  for (const variable of records(container, 'env')) {
    const source = record(variable, 'valueFrom')
    if (has(source, 'fieldRef')) setIfEmpty(ensure(source, 'fieldRef'), 'apiVersion', 'v1')
    if (has(source, 'resourceFieldRef')) setDefault(ensure(source, 'resourceFieldRef'), 'divisor', '0')
    if (has(source, 'fileKeyRef')) setDefault(ensure(source, 'fileKeyRef'), 'optional', false)
  }
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    if (has(container, name)) defaultProbe(ensure(container, name))
  }
  for (const hook of ['postStart', 'preStop']) defaultHttpGet(record(container, 'lifecycle', hook))
}

/** `latest`, explicit or by default; a digest pins the image whatever its tag. */
function isLatest(image: string): boolean {
  if (image.includes('@')) return false
  const tag = /:([^:/]+)$/.exec(image)?.[1]
  return tag === undefined || tag === 'latest'
}

function defaultProbe(probe: Fields): void {
  setIfEmpty(probe, 'timeoutSeconds', 1)
  setIfEmpty(probe, 'periodSeconds', 10)
  setIfEmpty(probe, 'successThreshold', 1)
  setIfEmpty(probe, 'failureThreshold', 3)
  defaultHttpGet(probe)
  if (has(probe, 'grpc')) setDefault(ensure(probe, 'grpc'), 'service', '')
}

function defaultHttpGet(handler: Fields): void {
  if (!has(handler, 'httpGet')) return
  const get = ensure(handler, 'httpGet')
  setIfEmpty(get, 'path', '/')
  setIfEmpty(get, 'scheme', 'HTTP')
}

/** Defaults inside one volume source, by the source's name. */
const SOURCE_DEFAULTS: Readonly<Record<string, (source: Fields) => void>> = {
  secret: source => setDefault(source, 'defaultMode', 0o644),
  configMap: source => setDefault(source, 'defaultMode', 0o644),
  downwardAPI: source => {
    setDefault(source, 'defaultMode', 0o644)
    defaultDownwardItems(source)
  },
  projected: source => {
    setDefault(source, 'defaultMode', 0o644)
    for (const projection of records(source, 'sources')) {
      defaultDownwardItems(record(projection, 'downwardAPI'))
      if (has(projection, 'serviceAccountToken')) {
        setDefault(ensure(projection, 'serviceAccountToken'), 'expirationSeconds', 3600)
      }
    }
  },
  hostPath: source => setDefault(source, 'type', ''),
  iscsi: source => setIfEmpty(source, 'iscsiInterface', 'default'),
  rbd: source => {
    for (const [field, value] of Object.entries({ pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' })) {
      setIfEmpty(source, field, value)
    }
  },
  azureDisk: source =>
    setDefaults(source, { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' }),
  scaleIO: source => {
    setIfEmpty(source, 'storageMode', 'ThinProvisioned')
    setIfEmpty(source, 'fsType', 'xfs')
  },
  emptyDir: source => {
    const size = { sizeLimit: source.sizeLimit }
    canonicalQuantities(size)
    if (has(size, 'sizeLimit')) source.sizeLimit = size.sizeLimit
  },
  ephemeral: source => {
    const claim = record(source, 'volumeClaimTemplate', 'spec')
    setDefault(claim, 'volumeMode', 'Filesystem')
  },
  image: source => {
    setIfEmpty(source, 'pullPolicy', isLatest(str(source, 'reference')) ? 'Always' : 'IfNotPresent')
  },
}

function defaultVolume(volume: Fields): void {
  if (Object.entries(volume).every(([field, value]) => field === 'name' || value === null)) volume.emptyDir = {}
  defaultVolumeSource(volume)
}

/** Also for the sources of PersistentVolumes. */
export function defaultVolumeSource(holder: Fields): void {
  for (const [name, apply] of Object.entries(SOURCE_DEFAULTS)) {
    if (has(holder, name)) apply(ensure(holder, name))
  }
}

function defaultDownwardItems(source: Fields): void {
  for (const item of records(source, 'items')) {
    if (has(item, 'fieldRef')) setIfEmpty(ensure(item, 'fieldRef'), 'apiVersion', 'v1')
    if (has(item, 'resourceFieldRef')) setDefault(ensure(item, 'resourceFieldRef'), 'divisor', '0')
  }
}

/** `Guaranteed`, `Burstable` or `BestEffort`, from what the pod asks for, or else its containers. */
export function qosClass(spec: Fields): string {
  let hasRequests = false
  let guaranteed = true
  const whole = ['limits', 'requests'].some(list => Object.keys(record(spec, 'resources', list)).length > 0)
  for (const container of whole ? [spec] : [...records(spec, 'containers'), ...records(spec, 'initContainers')]) {
    const limits = record(container, 'resources', 'limits')
    const requests = record(container, 'resources', 'requests')
    for (const name of ['cpu', 'memory']) {
      hasRequests ||= isPositive(limits[name]) || isPositive(requests[name])
      guaranteed &&= isPositive(limits[name]) && (requests[name] ?? limits[name]) === limits[name]
    }
  }
  if (!hasRequests) return 'BestEffort'
  return guaranteed && list(spec, 'containers').length > 0 ? 'Guaranteed' : 'Burstable'
}

const isPositive = (value: unknown): boolean => value !== undefined && value !== '0' && value !== 0
