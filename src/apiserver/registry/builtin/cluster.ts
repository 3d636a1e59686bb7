/** Storage, scheduling, runtime classes, leases, certificate requests, flow control and API registration. */
import { type FieldError, fieldError } from '../../../apimachinery/fieldErrors.ts'
import { dns1123Label, dns1123Subdomain } from '../../../apimachinery/names.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { Strategy } from '../strategy.ts'
import { immutable, invalidBy, requiredName } from './checks.ts'
import {
  ensure,
  has,
  list,
  num,
  record,
  records,
  sameMeaning,
  setDefault,
  setDefaults,
  setIfEmpty,
  str,
  strings,
} from './fields.ts'
import { carryOver, type Strategies, withStatus } from './kind.ts'

/** Forbidden changes of whole fields, with upstream's sentence. */
function forbidChanges(object: KubeObject, old: KubeObject, fields: Readonly<Record<string, string>>): FieldError[] {
  return Object.entries(fields)
    .filter(([field]) => !sameMeaning(object[field], old[field]))
    .map(([field, detail]) => fieldError.forbidden(field, detail))
}

const enumeration = (object: unknown, field: string, path: string, supported: readonly string[]): FieldError[] =>
  has(object, field) && !supported.includes(str(object, field))
    ? [fieldError.notSupported(path, str(object, field), supported)]
    : []

const storageClasses: Strategy = {
  noGeneration: true,
  applyDefaults: object => setDefaults(object, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  validate: object => [
    ...(str(object, 'provisioner') === '' ? [fieldError.required('provisioner')] : []),
    ...enumeration(object, 'reclaimPolicy', 'reclaimPolicy', ['Delete', 'Retain']),
    ...enumeration(object, 'volumeBindingMode', 'volumeBindingMode', ['Immediate', 'WaitForFirstConsumer']),
  ],
  validateUpdate: (object, old) => [
    ...forbidChanges(object, old, {
      parameters: 'updates to parameters are forbidden.',
      provisioner: 'updates to provisioner are forbidden.',
      reclaimPolicy: 'updates to reclaimPolicy are forbidden.',
    }),
    ...immutable(object.volumeBindingMode, old.volumeBindingMode, 'volumeBindingMode'),
  ],
}

const csiDrivers: Strategy = {
  noGeneration: true,
  applyDefaults(object) {
    const spec = ensure(object, 'spec')
    setDefaults(spec, {
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      requiresRepublish: false,
      seLinuxMount: false,
    })
    if (list(spec, 'volumeLifecycleModes').length === 0) spec.volumeLifecycleModes = ['Persistent']
  },
  validate: object =>
    strings(object, 'spec', 'volumeLifecycleModes')
      .filter(mode => mode !== 'Persistent' && mode !== 'Ephemeral')
      .map(mode => fieldError.notSupported('spec.volumeLifecycleModes', mode, ['Persistent', 'Ephemeral'])),
  validateUpdate: (object, old) =>
    // the misspelt path is upstream's
    Object.entries({
      attachRequired: 'spec.attachedRequired',
      volumeLifecycleModes: 'spec.volumeLifecycleModes',
    }).flatMap(([field, path]) => immutable(record(object, 'spec')[field], record(old, 'spec')[field], path)),
}

const csiNodes: Strategy = {
  noGeneration: true,
  validate: object =>
    records(object, 'spec', 'drivers').flatMap((driver, i) =>
      ['name', 'nodeID']
        .filter(field => str(driver, field) === '')
        .map(field => fieldError.required(`spec.drivers[${i}].${field}`)),
    ),
}

const volumeAttachments = withStatus(
  {
    noGeneration: true,
    validate(object) {
      const errors: FieldError[] = []
      if (str(object, 'spec', 'attacher') === '') errors.push(fieldError.required('spec.attacher'))
      const source = record(object, 'spec', 'source')
      if (has(source, 'inlineVolumeSpec') === has(source, 'persistentVolumeName')) {
        const detail = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
        errors.push(fieldError.required('spec.source', detail))
      }
      return [...errors, ...invalidBy(dns1123Subdomain, str(object, 'spec', 'nodeName'), 'spec.nodeName')]
    },
    validateUpdate: (object, old) => immutable(object.spec, old.spec, 'spec'),
  },
  () => ({ attached: false }),
)

const HIGHEST_USER_PRIORITY = 1_000_000_000
const SYSTEM_PRIORITIES: readonly string[] = ['system-cluster-critical', 'system-node-critical']

const priorityClasses: Strategy = {
  // its generation stays what it was at first
  noGeneration: true,
  prepareForCreate(object) {
    object.metadata.generation = 1
  },
  applyDefaults: object => setDefault(object, 'preemptionPolicy', 'PreemptLowerPriority'),
  validate(object) {
    const name = object.metadata.name ?? ''
    const errors: FieldError[] = []
    if (name.startsWith('system-')) {
      if (!SYSTEM_PRIORITIES.includes(name)) {
        const detail = `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`
        errors.push(fieldError.forbidden('metadata.name', detail))
      }
    } else if (num(object, 'value') > HIGHEST_USER_PRIORITY) {
      const detail = `maximum allowed value of a user defined priority is ${HIGHEST_USER_PRIORITY}`
      errors.push(fieldError.forbidden('value', detail))
    }
    return [
      ...errors,
      ...enumeration(object, 'preemptionPolicy', 'preemptionPolicy', ['PreemptLowerPriority', 'Never']),
    ]
  },
  validateUpdate: (object, old) => [
    ...forbidChanges(object, old, { value: 'may not be changed in an update.' }),
    ...immutable(object.preemptionPolicy, old.preemptionPolicy, 'preemptionPolicy'),
  ],
}

const runtimeClasses: Strategy = {
  noGeneration: true,
  validate: object => invalidBy(dns1123Label, str(object, 'handler'), 'handler'),
  validateUpdate: (object, old) => immutable(object.handler, old.handler, 'handler'),
}

const leases: Strategy = {
  noGeneration: true,
  createOnUpdate: true,
  validate(object) {
    const spec = record(object, 'spec')
    const errors: FieldError[] = []
    if (has(spec, 'leaseDurationSeconds') && num(spec, 'leaseDurationSeconds') <= 0) {
      const detail = 'must be greater than 0'
      errors.push(fieldError.invalid('spec.leaseDurationSeconds', num(spec, 'leaseDurationSeconds'), detail))
    }
    if (num(spec, 'leaseTransitions') < 0) {
      const detail = 'must be greater than or equal to 0'
      errors.push(fieldError.invalid('spec.leaseTransitions', num(spec, 'leaseTransitions'), detail))
    }
    return errors
  },
}

const signingRequests = withStatus({
  noGeneration: true,
  prepareForUpdate: (object, old) => carryOver(object, old, 'spec'),
  validate(object) {
    const spec = record(object, 'spec')
    const errors: FieldError[] = []
    const pem = Buffer.from(str(spec, 'request'), 'base64').toString('latin1')
    if (!pem.includes('-----BEGIN CERTIFICATE REQUEST-----')) {
      const detail = 'PEM block type must be CERTIFICATE REQUEST'
      errors.push(fieldError.invalid('spec.request', spec.request ?? null, detail))
    }
    if (list(spec, 'usages').length === 0) errors.push(fieldError.required('spec.usages', 'usages must be provided'))
    if (str(spec, 'signerName') === '')
      errors.push(fieldError.required('spec.signerName', 'signerName must be provided'))
    else if (!/^[^/]+\/.+$/.test(str(spec, 'signerName'))) {
      const detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
      errors.push(fieldError.invalid('spec.signerName', str(spec, 'signerName'), detail))
    }
    if (has(spec, 'expirationSeconds') && num(spec, 'expirationSeconds') < 600) {
      const detail = 'may not specify a duration less than 600 seconds (10 minutes)'
      errors.push(fieldError.invalid('spec.expirationSeconds', num(spec, 'expirationSeconds'), detail))
    }
    return errors
  },
  selectableFields: object => ({ 'spec.signerName': str(object, 'spec', 'signerName') }),
})

const flowSchemas = withStatus({
  applyDefaults: object => setIfEmpty(ensure(object, 'spec'), 'matchingPrecedence', 1000),
  validate: object =>
    str(object, 'spec', 'priorityLevelConfiguration', 'name') === ''
      ? [fieldError.required('spec.priorityLevelConfiguration.name', 'must reference a priority level')]
      : [],
})

const priorityLevels = withStatus({
  applyDefaults(object) {
    const spec = ensure(object, 'spec')
    if (has(spec, 'exempt')) setDefaults(ensure(spec, 'exempt'), { nominalConcurrencyShares: 0, lendablePercent: 0 })
    if (!has(spec, 'limited')) return
    const limited = ensure(spec, 'limited')
    setDefaults(limited, { nominalConcurrencyShares: 30, lendablePercent: 0 })
    if (has(limited, 'limitResponse', 'queuing')) {
      const queuing = ensure(ensure(limited, 'limitResponse'), 'queuing')
      for (const [field, value] of Object.entries({ queues: 64, handSize: 8, queueLengthLimit: 50 })) {
        setIfEmpty(queuing, field, value)
      }
    }
  },
  validate(object) {
    const spec = record(object, 'spec')
    const type = str(spec, 'type')
    if (type !== 'Exempt' && type !== 'Limited')
      return [fieldError.notSupported('spec.type', type, ['Exempt', 'Limited'])]
    if (type === 'Exempt') {
      return has(spec, 'limited')
        ? [fieldError.forbidden('spec.limited', 'must be nil if the type is not Limited')]
        : []
    }
    if (!has(spec, 'limited')) return [fieldError.required('spec.limited', 'must not be empty when type is Limited')]
    const response = str(spec, 'limited', 'limitResponse', 'type')
    const path = 'spec.limited.limitResponse'
    if (response !== 'Queue' && response !== 'Reject') {
      return [fieldError.notSupported(`${path}.type`, response, ['Queue', 'Reject'])]
    }
    if (response === 'Queue' && !has(spec, 'limited', 'limitResponse', 'queuing')) {
      const detail = 'must not be empty if limited.limitResponse.type is Limited'
      return [fieldError.required(`${path}.queuing`, detail)]
    }
    return []
  },
})

const apiServices = withStatus({
  noGeneration: true,
  applyDefaults(object) {
    if (has(object, 'spec', 'service')) setDefault(ensure(ensure(object, 'spec'), 'service'), 'port', 443)
  },
  validate(object) {
    const spec = record(object, 'spec')
    const errors: FieldError[] = []
    const name = object.metadata.name ?? ''
    const expected = `${str(spec, 'version')}.${str(spec, 'group')}`
    if (name !== expected) {
      const detail = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`
      errors.push(fieldError.invalid('metadata.name', name, detail))
    }
    errors.push(...requiredName(str(spec, 'version'), 'spec.version'))
    for (const [field, limit] of [
      ['groupPriorityMinimum', 20000],
      ['versionPriority', 1000],
    ] as const) {
      const value = num(spec, field)
      if (value > 0 && value <= limit) continue
      errors.push(fieldError.invalid(`spec.${field}`, value, `must be positive and less than ${limit}`))
    }
    if (!has(spec, 'service')) return errors
    for (const field of ['namespace', 'name']) {
      if (str(spec, 'service', field) === '') errors.push(fieldError.required(`spec.service.${field}`))
    }
    if (spec.insecureSkipTLSVerify === true && str(spec, 'caBundle') !== '') {
      const detail = 'may not be true if caBundle is present'
      errors.push(fieldError.invalid('spec.insecureSkipTLSVerify', true, detail))
    }
    return errors
  },
})

export const clusterStrategies: Strategies = {
  'storage.k8s.io/storageclasses': storageClasses,
  'storage.k8s.io/csidrivers': csiDrivers,
  'storage.k8s.io/csinodes': csiNodes,
  'storage.k8s.io/volumeattachments': volumeAttachments,
  'scheduling.k8s.io/priorityclasses': priorityClasses,
  'node.k8s.io/runtimeclasses': runtimeClasses,
  'coordination.k8s.io/leases': leases,
  'certificates.k8s.io/certificatesigningrequests': signingRequests,
  'flowcontrol.apiserver.k8s.io/flowschemas': flowSchemas,
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': priorityLevels,
  'apiregistration.k8s.io/apiservices': apiServices,
}
