/** StatefulSets. @see https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/ */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import {
  ensure,
  type Fields,
  has,
  num,
  record,
  records,
  setDefault,
  setDefaults,
  setIfEmpty,
  str,
} from '../../apimachinery/fields.ts'
import { dns1123Label } from '../../apimachinery/names.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { sameMeaning } from '../../apimachinery/values.ts'
import { atMostAll, intOrPercent, invalidBy, MIN_ZERO, nonNegative } from '../checks.ts'
import { type Strategies, withStatus } from '../kind.ts'
import { defaultPodTemplate } from '../pods/podDefaults.ts'
import { choice, when } from '../shapes.ts'
import { validateClaimSpec } from '../volumes/claimValidation.ts'
import { defaultClaim } from '../volumes/volumes.ts'
import { replicaStatus } from './replicaStatus.ts'
import { isNothing, selectorAndTemplate } from './replicaTemplate.ts'

const statefulSets = withStatus(
  {
    applyDefaults(object) {
      const spec = ensure(object, 'spec')
      setIfEmpty(spec, 'podManagementPolicy', 'OrderedReady')
      const strategy = ensure(spec, 'updateStrategy')
      setIfEmpty(strategy, 'type', 'RollingUpdate')
      if (strategy.type === 'RollingUpdate') setDefault(ensure(strategy, 'rollingUpdate'), 'partition', 0)
      setDefaults(ensure(spec, 'persistentVolumeClaimRetentionPolicy'), { whenDeleted: 'Retain', whenScaled: 'Retain' })
      setDefaults(spec, { replicas: 1, revisionHistoryLimit: 10 })
      defaultPodTemplate(ensure(spec, 'template'))
      for (const claim of records(spec, 'volumeClaimTemplates')) {
        Object.assign(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' })
        defaultClaim(claim)
        claim.status = { phase: 'Pending' }
      }
    },
    nameRule: 'dns1123Label',
    warnings: object => when(num(object, 'spec', 'revisionHistoryLimit') < 0, () => NEGATIVE_HISTORY),
    validate(object, old) {
      const spec = record(object, 'spec')
      const errors: FieldError[] = []
      const policy = str(spec, 'podManagementPolicy')
      if (policy !== 'OrderedReady' && policy !== 'Parallel') {
        const detail = "must be 'OrderedReady' or 'Parallel'"
        errors.push(fieldError.invalid('spec.podManagementPolicy', policy, detail))
      }
      errors.push(...validateStatefulStrategy(record(spec, 'updateStrategy')))
      for (const field of ['whenDeleted', 'whenScaled']) {
        const path = `spec.persistentVolumeClaimRetentionPolicy.${field}`
        errors.push(...choice(spec.persistentVolumeClaimRetentionPolicy, field, path, ['Retain', 'Delete']))
      }
      const templates = records(spec, 'volumeClaimTemplates')
      // both came late to upstream, so what is stored may be otherwise
      const [claims, service] = old === undefined ? [templates, str(spec, 'serviceName')] : [[], '']
      return [
        ...errors,
        ...claims.flatMap((claim, i) =>
          validateClaimSpec(record(claim, 'spec'), `spec.volumeClaimTemplates[${i}].spec`),
        ),
        ...nonNegative(spec, 'spec', 'replicas', 'minReadySeconds'),
        ...when(num(spec, 'ordinals', 'start') < 0, () =>
          fieldError.invalid('spec.ordinals.start', num(spec, 'ordinals', 'start'), MIN_ZERO),
        ),
        ...(service === '' ? [] : invalidBy(dns1123Label, service, 'spec.serviceName')),
        ...selectorAndTemplate(withClaimVolumes(spec, templates), 'StatefulSet', 'statefulset', ''),
      ]
    },
    validateUpdate(object, old) {
      const frozen = (spec: Fields) =>
        Object.fromEntries(Object.entries(spec).filter(([field]) => !STATEFUL_SET_MUTABLE.includes(field)))
      if (sameMeaning(frozen(record(object, 'spec')), frozen(record(old, 'spec')))) return []
      const names = STATEFUL_SET_MUTABLE.map(field => `'${field}'`)
      const listed = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
      return [fieldError.forbidden('spec', `updates to statefulset spec for fields other than ${listed} are forbidden`)]
    },
    validateStatusUpdate: replicaStatus({
      counts: ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
      parts: ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
    }),
  },
  () => ({ replicas: 0, availableReplicas: 0 }),
)
const NEGATIVE_HISTORY =
  'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended'
const STATEFUL_SET_MUTABLE: readonly string[] = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]

export const statefulSetStrategies: Strategies = { 'apps/statefulsets': statefulSets }

/** The template as its pods will see it: every claim template becomes a volume of that name. */
function withClaimVolumes(spec: Fields, claims: readonly Fields[]): Fields {
  if (!isRecord(spec.template) || claims.length === 0) return spec
  const podSpec = record(spec.template, 'spec')
  const named = new Set(claims.map(claim => str(claim, 'metadata', 'name')))
  const volumes = [
    ...records(podSpec, 'volumes').filter(volume => !named.has(str(volume, 'name'))),
    ...[...named].map(name => ({ name, persistentVolumeClaim: { claimName: name } })),
  ]
  return { ...spec, template: { ...spec.template, spec: { ...podSpec, volumes } } }
}

function validateStatefulStrategy(strategy: Fields): FieldError[] {
  const path = 'spec.updateStrategy'
  const type = str(strategy, 'type')
  if (type === 'OnDelete') {
    return when(has(strategy, 'rollingUpdate'), () =>
      fieldError.invalid(
        `${path}.rollingUpdate`,
        strategy.rollingUpdate,
        "only allowed for updateStrategy 'RollingUpdate'",
      ),
    )
  }
  if (type !== 'RollingUpdate') {
    return [fieldError.invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'")]
  }
  const rolling = record(strategy, 'rollingUpdate')
  const errors = nonNegative(rolling, `${path}.rollingUpdate`, 'partition')
  if (!has(rolling, 'maxUnavailable')) return errors
  const field = `${path}.rollingUpdate.maxUnavailable`
  return [
    ...errors,
    ...intOrPercent(rolling.maxUnavailable, field),
    ...when(isNothing(rolling.maxUnavailable), () => fieldError.invalid(field, rolling.maxUnavailable, 'cannot be 0')),
    ...atMostAll(rolling.maxUnavailable, field),
  ]
}
