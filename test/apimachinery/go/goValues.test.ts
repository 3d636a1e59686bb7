import t from 'tap'
import { type FieldError, fieldError, formatFieldError } from '../../../src/apimachinery/fieldErrors.ts'
import { valuesAsGo } from '../../../src/apimachinery/go/goValues.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { readProtobufFields } from '../../../src/program/dataFiles.ts'

const { types } = loadCatalog()

function told(kind: string, ...errors: FieldError[]): string[] {
  const schema = types.find(type => type.kind === kind)?.schema
  if (schema === undefined) throw new Error(`no ${kind}`)
  return errors.map(valuesAsGo(schema, readProtobufFields)).map(formatFieldError)
}

const IMMUTABLE = 'field is immutable'

t.test('a struct is shown with all fields, under their names in Go and in their order', async t => {
  const roleRef = { kind: 'Role', name: 'y', apiGroup: 'rbac.authorization.k8s.io' }
  t.same(told('RoleBinding', fieldError.invalid('roleRef', roleRef, 'cannot change roleRef')), [
    'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"y"}: cannot change roleRef',
  ])
  t.same(told('Service', fieldError.duplicate('spec.ports[1]', { port: 80, protocol: 'TCP' })), [
    'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
  ])
  const strategy = { type: 'Nope', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } }
  t.same(told('Deployment', fieldError.notSupported('spec.strategy', strategy, ['Recreate'])), [
    'spec.strategy: Unsupported value: {"Type":"Nope","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"25%"}}: supported values: "Recreate"',
  ])
})

t.test('metadata and label selectors look as in the API, also inside of other structs', async t => {
  const selector = { matchExpressions: [{ operator: 'Exists', key: 'a' }], matchLabels: { b: '1', a: '2' } }
  t.same(told('Deployment', fieldError.invalid('spec.selector', selector, IMMUTABLE)), [
    'spec.selector: Invalid value: {"matchLabels":{"a":"2","b":"1"},"matchExpressions":[{"key":"a","operator":"Exists"}]}: field is immutable',
  ])
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [] } }
  const [shown = ''] = told('Job', fieldError.invalid('spec.template', template, IMMUTABLE))
  t.match(shown, 'spec.template: Invalid value: {"labels":{"a":"b"},"Spec":{"Volumes":null,"InitContainers":null,')
})

t.test('maps are shown with sorted keys', async t => {
  t.same(told('Pod', fieldError.invalid('spec.nodeSelector', { b: '1', a: '2', ä: '3' }, 'x')), [
    'spec.nodeSelector: Invalid value: {"a":"2","b":"1","ä":"3"}: x',
  ])
})

t.test('what a field is in may be shown instead of it', async t => {
  const profile = { type: 'Unconfined', localhostProfile: 'a' }
  const field = 'spec.containers[0].securityContext.seccompProfile.localhostProfile'
  t.same(told('Pod', fieldError.invalid(field, profile, 'x')), [
    `${field}: Invalid value: {"Type":"Unconfined","LocalhostProfile":"a"}: x`,
  ])
})

t.test('texts, numbers and lists of them stay as they are, and so does what fits nowhere', async t => {
  t.same(told('Pod', fieldError.invalid('spec.nodeName', 'a', 'x')), ['spec.nodeName: Invalid value: "a": x'])
  t.same(told('Pod', fieldError.invalid('spec.nowhere[0].x', { nothing: 1 }, 'x')), [
    'spec.nowhere[0].x: Invalid value: {"nothing":1}: x',
  ])
  t.same(told('Role', fieldError.invalid('rules[0].verbs', ['get'], 'x')), [
    'rules[0].verbs: Invalid value: ["get"]: x',
  ])
})
