/** Priority and runtime classes, leases, API registration. */
import { type FieldError, fieldError } from '../apimachinery/fieldErrors.ts'
import { ensure, type Fields, has, num, record, records, setDefault, str } from '../apimachinery/fields.ts'
import { dns1035Label, dns1123Label, dns1123Subdomain, qualifiedName } from '../apimachinery/names.ts'
import { validateLabels } from '../apimachinery/objectMeta.ts'
import { immutable, invalidBy, portNumber, repeats } from './checks.ts'
import { forbidChanges, type Strategies, withStatus } from './kind.ts'
import { deprecatedLabel } from './nodes/nodeLabels.ts'
import { tolerations } from './pods/affinity.ts'
import { requirements } from './pods/resources.ts'
import { choice, optionalName, when } from './shapes.ts'
import { CLIENT_METADATA, type Strategy } from './strategy.ts'

const HIGHEST_USER_PRIORITY = 1_000_000_000
/** The system's own classes, as they must be. */
const SYSTEM_PRIORITIES: Readonly<Record<string, { value: number; description: string }>> = {
  'system-node-critical': {
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  'system-cluster-critical': {
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
}

const priorityClasses: Strategy = {
  // its generation stays what it was at first
  noGeneration: true,
  prepareForCreate(object) {
    object.metadata.generation = 1
  },
  applyDefaults: object => setDefault(object, 'preemptionPolicy', 'PreemptLowerPriority'),
  validate(object) {
    const name = object.metadata.name ?? ''
    const value = num(object, 'value')
    const errors: FieldError[] = []
    if (name.startsWith('system-')) {
      const problem = systemPriorityProblem(name, value, object.globalDefault === true)
      if (problem !== undefined) {
        const detail = `priority class names with 'system-' prefix are reserved for system use only. error: ${problem}`
        errors.push(fieldError.forbidden('metadata.name', detail))
      }
    } else if (value > HIGHEST_USER_PRIORITY) {
      const detail = `maximum allowed value of a user defined priority is ${HIGHEST_USER_PRIORITY}`
      errors.push(fieldError.forbidden('value', detail))
    }
    return [...errors, ...choice(object, 'preemptionPolicy', 'preemptionPolicy', ['PreemptLowerPriority', 'Never'])]
  },
  validateUpdate: (object, old) => [
    ...forbidChanges(object, old, { value: 'may not be changed in an update.' }),
    ...immutable(object.preemptionPolicy, old.preemptionPolicy, 'preemptionPolicy'),
  ],
}

function systemPriorityProblem(name: string, value: number, isDefault: boolean): string | undefined {
  if (!Object.hasOwn(SYSTEM_PRIORITIES, name)) return `${name} is not a known system priority class`
  const known = SYSTEM_PRIORITIES[name]!
  if (value !== known.value) return `value of ${name} PriorityClass must be ${known.value}`
  return isDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined
}

const runtimeClasses: Strategy = {
  noGeneration: true,
  validate(object) {
    const scheduling = record(object, 'scheduling')
    const all = records(scheduling, 'tolerations')
    const again = repeats(
      all.map(toleration => JSON.stringify(['key', 'operator', 'value', 'effect'].map(name => str(toleration, name)))),
    )
    return [
      ...invalidBy(dns1123Label, str(object, 'handler'), 'handler'),
      ...(has(object, 'overhead') ? requirements({ limits: record(object, 'overhead', 'podFixed') }, 'overhead') : []),
      ...validateLabels(record(scheduling, 'nodeSelector') as Record<string, string>, 'scheduling.nodeSelector'),
      ...tolerations(all, 'scheduling.tolerations'),
      ...all.flatMap((toleration, i) =>
        when(again[i]!, () => fieldError.duplicate(`scheduling.tolerations[${i}]`, toleration)),
      ),
    ]
  },
  validateUpdate: (object, old) => immutable(object.handler, old.handler, 'handler'),
  warnings: object =>
    Object.keys(record(object, 'scheduling', 'nodeSelector')).flatMap(label =>
      deprecatedLabel(label, 'scheduling.nodeSelector'),
    ),
}

const STRATEGIES = ['OldestEmulationVersion']

const leases: Strategy = {
  noGeneration: true,
  createOnUpdate: true,
  validate(object) {
    const spec = record(object, 'spec')
    const [duration, transitions] = [num(spec, 'leaseDurationSeconds'), num(spec, 'leaseTransitions')]
    const strategy = str(spec, 'strategy')
    return [
      ...when(has(spec, 'leaseDurationSeconds') && duration <= 0, () =>
        fieldError.invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0'),
      ),
      ...when(transitions < 0, () =>
        fieldError.invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'),
      ),
      // the doubled step is upstream's
      ...(!has(spec, 'strategy')
        ? []
        : strategy.includes('/')
          ? invalidBy(qualifiedName, strategy, 'spec.strategy.strategy')
          : when(!STRATEGIES.includes(strategy), () =>
              fieldError.notSupported('spec.strategy.strategy', strategy, STRATEGIES),
            )),
      ...when(str(spec, 'preferredHolder') !== '' && strategy === '', () =>
        fieldError.forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined'),
      ),
    ]
  },
}

const apiServices = withStatus({
  noGeneration: true,
  nameRule: 'pathSegment',
  statusKeeps: CLIENT_METADATA,
  applyDefaults(object) {
    if (has(object, 'spec', 'service')) setDefault(ensure(ensure(object, 'spec'), 'service'), 'port', 443)
  },
  validate(object) {
    const spec = record(object, 'spec')
    const [group, version, name] = [str(spec, 'group'), str(spec, 'version'), object.metadata.name ?? '']
    const expected = `${version}.${group}`
    const wrongName = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`
    const priority = (field: string, limit: number): FieldError[] =>
      when(num(spec, field) <= 0 || num(spec, field) > limit, () =>
        fieldError.invalid(`spec.${field}`, num(spec, field), `must be positive and less than ${limit}`),
      )
    return [
      ...when(name !== expected, () => fieldError.invalid('metadata.name', name, wrongName)),
      ...when(group === '' && version !== 'v1', () =>
        fieldError.required('spec.group', 'only v1 may have an empty group and it better be legacy kube'),
      ),
      ...optionalName(group, 'spec.group', dns1123Subdomain),
      ...invalidBy(dns1035Label, version, 'spec.version'),
      ...priority('groupPriorityMinimum', 20_000),
      ...priority('versionPriority', 1000),
      ...validateTrust(spec),
    ]
  },
  validateStatusUpdate: object =>
    records(object, 'status', 'conditions').flatMap((condition, i) => {
      const status = str(condition, 'status')
      return when(!STATUSES.includes(status), () =>
        fieldError.notSupported(`status.conditions[${i}].status`, status, STATUSES),
      )
    }),
})
const STATUSES = ['True', 'False', 'Unknown']

export const clusterStrategies: Strategies = {
  'scheduling.k8s.io/priorityclasses': priorityClasses,
  'node.k8s.io/runtimeclasses': runtimeClasses,
  'coordination.k8s.io/leases': leases,
  'apiregistration.k8s.io/apiservices': apiServices,
}

/** How the service of an API is trusted; without one the server itself serves it. */
function validateTrust(spec: Fields): FieldError[] {
  const bundleBytes = Buffer.from(str(spec, 'caBundle'), 'base64').length
  const insecure = spec.insecureSkipTLSVerify === true
  const refused = (detail: string) => fieldError.invalid('spec.insecureSkipTLSVerify', true, detail)
  if (!has(spec, 'service')) {
    return [
      ...when(bundleBytes > 0, () =>
        fieldError.invalid('spec.caBundle', `${bundleBytes} bytes`, 'local APIServices may not have a caBundle'),
      ),
      ...when(insecure, () => refused('local APIServices may not have insecureSkipTLSVerify')),
    ]
  }
  const port = num(spec, 'service', 'port')
  const wrongPort = portNumber(port, '').map(({ detail }) => detail)
  return [
    ...['namespace', 'name'].flatMap(field =>
      when(str(spec, 'service', field) === '', () => fieldError.required(`spec.service.${field}`)),
    ),
    ...wrongPort.map(detail => fieldError.invalid('spec.service.port', port, `port is not valid: ${detail}`)),
    ...when(insecure && bundleBytes > 0, () => refused('may not be true if caBundle is present')),
  ]
}
