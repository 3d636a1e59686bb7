/** FlowSchemas. @see https://kubernetes.io/docs/concepts/cluster-administration/flow-control/ */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import {
  ensure,
  type Fields,
  has,
  list,
  num,
  record,
  records,
  setIfEmpty,
  str,
  strings,
} from '../../apimachinery/fields.ts'
import { dns1123Label, dns1123Subdomain } from '../../apimachinery/names.ts'
import { invalidBy, requiredName } from '../checks.ts'
import { type Strategies, withStatus } from '../kind.ts'
import { when } from '../shapes.ts'
import { CLIENT_METADATA } from '../strategy.ts'
import { conditionTypes, fixedValue } from './priorityLevels.ts'

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']
const DISTINGUISHERS = ['ByNamespace', 'ByUser']
const LAST_PRECEDENCE = 10_000

/** Schemas that are there for the server's own sake; nobody changes them. */
const FIXED_SCHEMAS: Readonly<Record<string, Fields>> = {
  exempt: {
    matchingPrecedence: 1,
    priorityLevelConfiguration: { name: 'exempt' },
    rules: [everything([{ kind: 'Group', group: { name: 'system:masters' } }])],
  },
  'catch-all': {
    matchingPrecedence: LAST_PRECEDENCE,
    priorityLevelConfiguration: { name: 'catch-all' },
    distinguisherMethod: { type: 'ByUser' },
    rules: [
      everything([
        { kind: 'Group', group: { name: 'system:unauthenticated' } },
        { kind: 'Group', group: { name: 'system:authenticated' } },
      ]),
    ],
  },
}

const flowSchemas = withStatus({
  statusKeeps: CLIENT_METADATA,
  applyDefaults: object => setIfEmpty(ensure(object, 'spec'), 'matchingPrecedence', 1000),
  validate(object) {
    const spec = record(object, 'spec')
    const { name = '' } = object.metadata
    const precedence = num(spec, 'matchingPrecedence')
    const invalid = (detail: string) => fieldError.invalid('spec.matchingPrecedence', precedence, detail)
    const level = str(spec, 'priorityLevelConfiguration', 'name')
    return [
      ...when(precedence <= 0, () => invalid('must be a positive value')),
      ...when(precedence > LAST_PRECEDENCE, () => invalid(`must not be greater than ${LAST_PRECEDENCE}`)),
      ...when(precedence === 1 && name !== 'exempt', () =>
        invalid("only the schema named 'exempt' may have matchingPrecedence 1"),
      ),
      ...when(
        has(spec, 'distinguisherMethod') && !DISTINGUISHERS.includes(str(spec, 'distinguisherMethod', 'type')),
        () => fieldError.notSupported('spec.distinguisherMethod.type', spec.distinguisherMethod, DISTINGUISHERS),
      ),
      ...(level === ''
        ? [fieldError.required('spec.priorityLevelConfiguration.name', 'must reference a priority level')]
        : invalidBy(dns1123Subdomain, level, 'spec.priorityLevelConfiguration.name')),
      ...records(spec, 'rules').flatMap((rule, i) => validateRules(rule, `spec.rules[${i}]`)),
      ...fixedValue(FIXED_SCHEMAS, object, spec => spec, ''),
    ]
  },
  validateStatusUpdate: conditionTypes,
})

export const flowSchemaStrategies: Strategies = { 'flowcontrol.apiserver.k8s.io/flowschemas': flowSchemas }

function everything(subjects: readonly Fields[]): Fields {
  const resources = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }
  return { subjects, resourceRules: [resources], nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] }
}

function validateRules(rule: Fields, path: string): FieldError[] {
  const subjects = records(rule, 'subjects')
  const [resources, others] = [records(rule, 'resourceRules'), records(rule, 'nonResourceRules')]
  return [
    ...when(subjects.length === 0, () =>
      fieldError.required(`${path}.subjects`, 'subjects must contain at least one value'),
    ),
    ...subjects.flatMap((subject, i) => validateSubject(subject, `${path}.subjects[${i}]`)),
    ...when(resources.length + others.length === 0, () =>
      fieldError.required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty'),
    ),
    ...resources.flatMap((each, i) => validateResourceRule(each, `${path}.resourceRules[${i}]`)),
    ...others.flatMap((each, i) => validateUrlRule(each, `${path}.nonResourceRules[${i}]`)),
  ]
}

const SUBJECTS: Readonly<Record<string, string>> = { Group: 'group', ServiceAccount: 'serviceAccount', User: 'user' }

function validateSubject(subject: Fields, path: string): FieldError[] {
  const kind = str(subject, 'kind')
  const member = SUBJECTS[kind]
  if (member === undefined) return [fieldError.notSupported(`${path}.kind`, kind, Object.keys(SUBJECTS))]
  const errors = has(subject, member)
    ? validateNamed(record(subject, member), `${path}.${member}`, kind)
    : [fieldError.required(`${path}.${member}`, `${member} is required when subject kind is '${kind}'`)]
  for (const [other, field] of Object.entries(SUBJECTS)) {
    if (other === kind || !has(subject, field)) continue
    errors.push(fieldError.forbidden(`${path}.${field}`, `${field} is forbidden when subject kind is not '${other}'`))
  }
  return errors
}

function validateNamed(subject: Fields, path: string, kind: string): FieldError[] {
  const name = str(subject, 'name')
  if (kind !== 'ServiceAccount') return when(name === '', () => fieldError.required(`${path}.name`))
  const namespace = str(subject, 'namespace')
  return [
    ...(name === '*' ? [] : requiredName(name, `${path}.name`, dns1123Subdomain)),
    ...(namespace === ''
      ? [fieldError.required(`${path}.namespace`, 'must specify namespace for service account')]
      : invalidBy(dns1123Label, namespace, `${path}.namespace`)),
  ]
}

function alone(values: readonly unknown[], field: string, what: string): FieldError[] {
  return when(values.length > 1 && values.includes('*'), () =>
    fieldError.invalid(field, values, `if '*' is present, must not specify other ${what}`),
  )
}

function validateVerbs(rule: Fields, path: string): FieldError[] {
  const verbs = strings(rule, 'verbs')
  const field = `${path}.verbs`
  if (verbs.length === 0) return [fieldError.required(field, 'verbs must contain at least one value')]
  if (verbs.includes('*')) return alone(verbs, field, 'verbs')
  return when(!verbs.every(verb => VERBS.includes(verb)), () => fieldError.notSupported(field, verbs, VERBS))
}

function validateResourceRule(rule: Fields, path: string): FieldError[] {
  const namespaces = strings(rule, 'namespaces')
  const needs = (field: string, one: string, others: string): FieldError[] => [
    ...when(list(rule, field).length === 0, () =>
      fieldError.required(`${path}.${field}`, `resource rules must supply at least one ${one}`),
    ),
    ...alone(list(rule, field), `${path}.${field}`, others),
  ]
  return [
    ...validateVerbs(rule, path),
    ...needs('apiGroups', 'api group', 'api groups'),
    ...needs('resources', 'resource', 'resources'),
    ...when(namespaces.length === 0 && rule.clusterScope !== true, () =>
      fieldError.required(
        `${path}.namespaces`,
        'resource rules that are not cluster scoped must supply at least one namespace',
      ),
    ),
    ...(namespaces.includes('*')
      ? alone(namespaces, `${path}.namespaces`, 'namespaces')
      : namespaces.flatMap((namespace, i) =>
          dns1123Label(namespace).map(message =>
            fieldError.invalid(
              `${path}.namespaces[${i}]`,
              namespace,
              `each member of this list must be '*' or a DNS-1123 label; ${message}`,
            ),
          ),
        )),
  ]
}

function validateUrlRule(rule: Fields, path: string): FieldError[] {
  const urls = strings(rule, 'nonResourceURLs')
  const field = `${path}.nonResourceURLs`
  return [
    ...validateVerbs(rule, path),
    ...when(urls.length === 0, () => fieldError.required(field, 'nonResourceURLs must contain at least one value')),
    ...(urls.includes('*')
      ? alone(urls, field, 'non-resource URLs')
      : urls.flatMap((url, i) => {
          const problem = urlProblem(url)
          return problem === undefined ? [] : [fieldError.invalid(`${field}[${i}]`, url, problem)]
        })),
  ]
}

function urlProblem(path: string): string | undefined {
  if (path === '') return 'must not be empty'
  if (path === '/') return undefined
  if (!path.startsWith('/')) return 'must start with slash'
  if (path.includes(' ')) return 'must not contain white-space'
  if (path.includes('//')) return 'must not contain double slash'
  const stars = path.split('*').length - 1
  return stars > 1 || (stars === 1 && !path.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined
}
