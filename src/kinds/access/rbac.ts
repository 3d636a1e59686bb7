/** Roles and bindings. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { ensure, type Fields, has, list, record, records, setIfEmpty, str } from '../../apimachinery/fields.ts'
import { dns1123Subdomain, pathSegment } from '../../apimachinery/names.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { sameMeaning } from '../../apimachinery/values.ts'
import { invalidBy, optionalSelector, requiredName } from '../checks.ts'
import type { Strategies } from '../kind.ts'
import type { Strategy } from '../strategy.ts'

const RBAC = 'rbac.authorization.k8s.io'

const role = (namespaced: boolean): Strategy => ({
  noGeneration: true,
  nameRule: 'pathSegment',
  validate(object) {
    const errors = records(object, 'rules').flatMap((rule, i) => validateRule(rule, `rules[${i}]`, namespaced))
    const field = 'aggregationRule.clusterRoleSelectors'
    const selectors = records(object, 'aggregationRule', 'clusterRoleSelectors')
    if (has(object, 'aggregationRule') && selectors.length === 0) {
      const detail = 'at least one clusterRoleSelector required if aggregationRule is non-nil'
      errors.push(fieldError.required(field, detail))
    }
    for (const [i, selector] of selectors.entries()) {
      const wrong = optionalSelector(selector, `${field}[${i}]`)
      errors.push(...wrong)
      if (wrong.length > 0) errors.push(fieldError.invalid(`${field}[${i}]`, 'null', 'invalid label selector.'))
    }
    return errors
  },
})

const binding = (namespaced: boolean): Strategy => ({
  noGeneration: true,
  nameRule: 'pathSegment',
  applyDefaults(object) {
    setIfEmpty(ensure(object, 'roleRef'), 'apiGroup', RBAC)
    for (const subject of records(object, 'subjects')) {
      if (subject.kind === 'User' || subject.kind === 'Group') setIfEmpty(subject, 'apiGroup', RBAC)
    }
  },
  validate(object) {
    const errors: FieldError[] = []
    const roleRef = record(object, 'roleRef')
    if (roleRef.apiGroup !== RBAC) errors.push(fieldError.notSupported('roleRef.apiGroup', roleRef.apiGroup, [RBAC]))
    const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
    if (!kinds.includes(str(roleRef, 'kind'))) {
      errors.push(fieldError.notSupported('roleRef.kind', str(roleRef, 'kind'), kinds))
    }
    errors.push(...requiredName(str(roleRef, 'name'), 'roleRef.name', pathSegment))
    for (const [i, subject] of records(object, 'subjects').entries()) {
      errors.push(...validateSubject(subject, `subjects[${i}]`, namespaced))
    }
    return errors
  },
  validateUpdate: (object: KubeObject, old: KubeObject) =>
    sameMeaning(object.roleRef, old.roleRef)
      ? []
      : [fieldError.invalid('roleRef', object.roleRef, 'cannot change roleRef')],
})

export const rbacStrategies: Strategies = {
  [`${RBAC}/roles`]: role(true),
  [`${RBAC}/clusterroles`]: role(false),
  [`${RBAC}/rolebindings`]: binding(true),
  [`${RBAC}/clusterrolebindings`]: binding(false),
}

function validateRule(rule: Fields, path: string, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = []
  const [groups, resources, names] = ['apiGroups', 'resources', 'resourceNames'].map(field => list(rule, field).length)
  if (list(rule, 'verbs').length === 0) {
    errors.push(fieldError.required(`${path}.verbs`, 'verbs must contain at least one value'))
  }
  if (list(rule, 'nonResourceURLs').length > 0) {
    const field = `${path}.nonResourceURLs`
    if (namespaced) {
      const detail = 'namespaced rules cannot apply to non-resource URLs'
      errors.push(fieldError.invalid(field, rule.nonResourceURLs, detail))
    }
    if (groups || resources || names) {
      const detail = 'rules cannot apply to both regular resources and non-resource URLs'
      errors.push(fieldError.invalid(field, rule.nonResourceURLs, detail))
    }
    return errors
  }
  if (!groups)
    errors.push(fieldError.required(`${path}.apiGroups`, 'resource rules must supply at least one api group'))
  if (!resources)
    errors.push(fieldError.required(`${path}.resources`, 'resource rules must supply at least one resource'))
  return errors
}

function validateSubject(subject: Fields, path: string, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = []
  const name = str(subject, 'name')
  const group = str(subject, 'apiGroup')
  if (name === '') errors.push(fieldError.required(`${path}.name`))
  if (subject.kind === 'ServiceAccount') {
    if (name !== '') errors.push(...invalidBy(dns1123Subdomain, name, `${path}.name`))
    if (group !== '') errors.push(fieldError.notSupported(`${path}.apiGroup`, group, ['']))
    if (!namespaced && !has(subject, 'namespace')) errors.push(fieldError.required(`${path}.namespace`))
  } else if (subject.kind === 'User' || subject.kind === 'Group') {
    if (group !== RBAC) errors.push(fieldError.notSupported(`${path}.apiGroup`, group, [RBAC]))
  } else {
    errors.push(fieldError.notSupported(`${path}.kind`, str(subject, 'kind'), ['ServiceAccount', 'User', 'Group']))
  }
  return errors
}
