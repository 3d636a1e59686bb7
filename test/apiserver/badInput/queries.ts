/** Wrong paths, verbs and query values, and deletions that must not happen. */
import { configMap } from '../../support/server.ts'
import { type BadCase, CM, DEPLOYMENTS, MERGE } from './badCase.ts'

type Rest = Omit<BadCase, 'name' | 'method' | 'path'>
const get = (name: string, path: string, rest: Rest): BadCase => ({ name, method: 'GET', path, ...rest })
const list = (name: string, query: string, rest: Rest): BadCase => get(name, `${CM}?${query}`, rest)
const del = (name: string, path: string, rest: Rest): BadCase => ({ name, method: 'DELETE', path, ...rest })
const create = (name: string, query: string, rest: Rest): BadCase => ({
  name,
  method: 'POST',
  path: `${CM}?${query}`,
  body: configMap('bad-m'),
  ...rest,
})
const bad = (message: string | RegExp, unlikeKube120?: string): Rest => ({
  code: 400,
  reason: 'BadRequest',
  message,
  ...(unlikeKube120 && { unlikeKube120 }),
})
const invalid = (message: string | RegExp, causes: string[], unlikeKube120?: string): Rest => ({
  code: 422,
  reason: 'Invalid',
  message,
  causes,
  ...(unlikeKube120 && { unlikeKube120 }),
})
const gone: Rest = { code: 404, reason: 'NotFound', message: 'the server could not find the requested resource' }
const notAllowed: Rest = {
  code: 405,
  reason: 'MethodNotAllowed',
  message: 'the server does not allow this method on the requested resource',
}
const future: Rest = {
  code: 504,
  reason: 'Timeout',
  message: /^Timeout: Too large resource version: 999999999, current: \d+$/,
  causes: ['undefined: ResourceVersionTooLarge'],
}
const options = (verb: string): string => `${verb}Options.meta.k8s.io "" is invalid: `
const NUMBER = 'strconv.ParseInt: parsing "x": invalid syntax'
const RV = 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax'
const HUGE = '99999999999999999999'
const WAS_500 = 'it says 500'

export const queryCases: readonly BadCase[] = [
  get('what does not exist', `${CM}/bad-nope`, {
    code: 404,
    reason: 'NotFound',
    message: 'configmaps "bad-nope" not found',
    details: { name: 'bad-nope', kind: 'configmaps' },
  }),
  get('what does not exist in a group', `${DEPLOYMENTS}/bad-nope`, {
    code: 404,
    reason: 'NotFound',
    message: 'deployments.apps "bad-nope" not found',
    details: { name: 'bad-nope', group: 'apps', kind: 'deployments' },
  }),
  get('an unknown resource', '/api/v1/namespaces/default/nonsense', gone),
  get('an unknown version', '/api/v7/namespaces/default/configmaps', gone),
  get('an unknown group', '/apis/nope/v1/namespaces/default/configmaps', {
    ...gone,
    unlikeKube120: 'it answers plain text',
  }),
  get('an unknown sub-resource', `${CM}/bad-a/status`, gone),
  get('a scale of what has none', `${CM}/bad-a/scale`, gone),
  get('a cluster-scoped resource in a namespace', '/api/v1/namespaces/default/nodes', gone),
  get('a namespaced object without its namespace', '/api/v1/configmaps/bad-a', gone),
  list(
    'a label selector without values',
    'labelSelector=a%20in%20x',
    bad("unable to parse requirement: found 'x' expected: '('"),
  ),
  list(
    'a label selector without key',
    'labelSelector=%3D%3D',
    bad("found '==', expected: !, identifier, or 'end of string'"),
  ),
  list('a label selector with two words', 'labelSelector=a=b%20c', bad("found 'c', expected: ',' or 'end of string'")),
  list(
    'a field selector without operator',
    'fieldSelector=nonsense',
    bad("invalid selector: 'nonsense'; can't understand 'nonsense'"),
  ),
  list(
    'a field that is not selectable',
    'fieldSelector=spec.x=1',
    bad('"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"'),
  ),
  get(
    'a field of pods that is not selectable',
    '/api/v1/pods?fieldSelector=spec.x=1',
    bad('field label not supported: spec.x'),
  ),
  list('a limit that is no number', 'limit=x', bad(NUMBER)),
  list('an empty limit', 'limit=', bad('strconv.ParseInt: parsing "": invalid syntax')),
  list('a limit beyond 64 bits', `limit=${HUGE}`, bad(`strconv.ParseInt: parsing "${HUGE}": value out of range`)),
  list('a timeout that is no number', 'watch=1&timeoutSeconds=x', bad(NUMBER)),
  list(
    'a continue token from nowhere',
    'continue=garbage',
    bad(/^invalid continue token: continue key is not valid: /),
  ),
  list(
    'a continue token of another version',
    'limit=1&continue=e30',
    bad('invalid continue token: continue key is not valid: server does not recognize this encoded version ""'),
  ),
  list('a resourceVersion that is no number', 'resourceVersion=abc', bad(RV, WAS_500)),
  list('a watch from what is no number', 'watch=1&resourceVersion=abc', bad(RV, WAS_500)),
  get('a GET at what is no number', `${CM}/bad-a?resourceVersion=abc`, bad(RV, WAS_500)),
  list(
    'a resourceVersion beyond 64 bits',
    `resourceVersion=${HUGE}`,
    bad(`resourceVersion: Invalid value: "${HUGE}": strconv.ParseUint: parsing "${HUGE}": value out of range`, WAS_500),
  ),
  list('a resourceVersion of the future', 'resourceVersion=999999999', future),
  list('the last resourceVersion of all', 'resourceVersion=18446744073709551615', {
    ...future,
    message: /^Timeout: Too large resource version: 18446744073709551615, current: \d+$/,
  }),
  list('exactly a resourceVersion of the future', 'resourceVersion=999999999&resourceVersionMatch=Exact', {
    ...future,
    unlikeKube120: WAS_500,
  }),
  get('a GET from the future', `${CM}/bad-a?resourceVersion=999999999`, {
    ...future,
    unlikeKube120: 'it makes one wait 3 seconds',
  }),
  list(
    'a match without version',
    'resourceVersionMatch=Exact',
    invalid(
      `${options('List')}resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`,
      ['resourceVersionMatch: FieldValueForbidden'],
    ),
  ),
  list(
    'exactly version 0',
    'resourceVersionMatch=Exact&resourceVersion=0',
    invalid(
      `${options('List')}resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
      ['resourceVersionMatch: FieldValueForbidden'],
    ),
  ),
  list(
    'an unknown match',
    'resourceVersionMatch=Nope&resourceVersion=1',
    invalid(
      `${options('List')}resourceVersionMatch: Unsupported value: "Nope": supported values: "Exact", "NotOlderThan", ""`,
      ['resourceVersionMatch: FieldValueNotSupported'],
    ),
  ),
  list(
    'a watch with a match',
    'watch=1&resourceVersion=1&resourceVersionMatch=Exact',
    invalid(/resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch/, [
      'resourceVersionMatch: FieldValueForbidden',
    ]),
  ),
  list(
    'initial events without a match',
    'watch=1&sendInitialEvents=true',
    invalid(
      /^ListOptions\.meta\.k8s\.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan$/,
      ['resourceVersionMatch: FieldValueForbidden'],
      'it does not know them',
    ),
  ),
  create(
    'an unknown dryRun',
    'dryRun=Some',
    invalid(
      /^CreateOptions\.meta\.k8s\.io "" is invalid: dryRun: Unsupported value: .*"Some".*: supported values: "All"$/,
      ['dryRun: FieldValueNotSupported'],
    ),
  ),
  create(
    'a field manager that is too long',
    `fieldManager=${'x'.repeat(129)}`,
    invalid(/^CreateOptions\.meta\.k8s\.io "" is invalid: fieldManager: Too long: /, [
      'fieldManager: FieldValueTooLong',
    ]),
  ),
  create(
    'a field manager that cannot be printed',
    'fieldManager=a%00b',
    invalid(/fieldManager: Invalid value: .*: invalid character U\+0000 \(at position 1\)$/, [
      'fieldManager: FieldValueInvalid',
    ]),
  ),
  create(
    'an unknown fieldValidation',
    'fieldValidation=Loose',
    invalid(
      'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Loose": supported values: "", "Ignore", "Strict", "Warn"',
      ['fieldValidation: FieldValueNotSupported'],
      'it does not know it',
    ),
  ),
  {
    ...create(
      'an unknown dryRun of an update',
      'x',
      invalid(/^UpdateOptions\.meta\.k8s\.io "" is invalid: dryRun: /, ['dryRun: FieldValueNotSupported']),
    ),
    method: 'PUT',
    path: `${CM}/bad-a?dryRun=Some`,
    body: configMap('bad-a'),
  },
  {
    ...create(
      'an unknown dryRun of a patch',
      'x',
      invalid(/^PatchOptions\.meta\.k8s\.io "" is invalid: dryRun: /, ['dryRun: FieldValueNotSupported']),
    ),
    method: 'PATCH',
    path: `${CM}/bad-a?dryRun=Some`,
    body: {},
    type: MERGE,
  },
  del(
    'an unknown dryRun of a deletion',
    `${CM}/bad-a?dryRun=Some`,
    invalid(/^DeleteOptions\.meta\.k8s\.io "" is invalid: dryRun: /, ['dryRun: FieldValueNotSupported']),
  ),
  del('deletion of what does not exist', `${CM}/bad-nope`, {
    code: 404,
    reason: 'NotFound',
    message: 'configmaps "bad-nope" not found',
  }),
  del(
    'an unknown propagation',
    `${CM}/bad-a?propagationPolicy=Sometimes`,
    invalid(
      `${options('Delete')}propagationPolicy: Unsupported value: "Sometimes": supported values: "Foreground", "Background", "Orphan", "nil"`,
      ['propagationPolicy: FieldValueNotSupported'],
    ),
  ),
  del('two propagations', `${CM}/bad-a`, {
    ...invalid(
      `${options('Delete')}propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set`,
      ['propagationPolicy: FieldValueInvalid'],
    ),
    body: { propagationPolicy: 'Orphan', orphanDependents: true },
  }),
  del('deletion of another uid', `${CM}/bad-a`, {
    code: 409,
    reason: 'Conflict',
    message:
      /^Operation cannot be fulfilled on ConfigMap "bad-a": the UID in the precondition \(x\) does not match the UID in record \(.*\)\. The object might have been deleted and then recreated$/,
    body: { preconditions: { uid: 'x' } },
  }),
  del('deletion of another version', `${CM}/bad-a`, {
    code: 409,
    reason: 'Conflict',
    message:
      /^Operation cannot be fulfilled on ConfigMap "bad-a": the ResourceVersion in the precondition \(1\) does not match the ResourceVersion in record \(\d+\)\. The object might have been modified$/,
    body: { preconditions: { resourceVersion: '1' } },
  }),
  del('deletion with half a document', `${CM}/bad-a`, { ...bad(/json parse error/, WAS_500), body: '{' }),
  del('deletion with the object itself', `${CM}/bad-a`, {
    ...bad(/^no kind "ConfigMap" is registered for version "v1"/, WAS_500),
    body: configMap('bad-a'),
  }),
  del('a grace period that is no number', `${CM}/bad-a?gracePeriodSeconds=x`, bad(NUMBER)),
  del('deletion of a protected namespace', '/api/v1/namespaces/default', {
    code: 403,
    reason: 'Forbidden',
    message: 'namespaces "default" is forbidden: this namespace may not be deleted',
    details: { name: 'default', kind: 'namespaces' },
  }),
  del(
    'deletion of a selection that cannot be read',
    `${CM}?labelSelector=%3D`,
    bad("found '=', expected: !, identifier, or 'end of string'"),
  ),
  del('deletion across all namespaces', '/api/v1/configmaps', notAllowed),
  del('deletion of all namespaces', '/api/v1/namespaces', notAllowed),
  del('deletion of a scale', `${DEPLOYMENTS}/bad-d/scale`, notAllowed),
  {
    name: 'creation without a namespace',
    method: 'POST',
    path: '/api/v1/configmaps',
    body: configMap('x'),
    ...notAllowed,
  },
  { name: 'creation at an object', method: 'POST', path: `${CM}/bad-a`, body: configMap('bad-a'), ...notAllowed },
  { name: 'replacement of a collection', method: 'PUT', path: CM, body: configMap('bad-a'), ...notAllowed },
  { name: 'creation of a status', method: 'POST', path: `${DEPLOYMENTS}/bad-d/status`, body: {}, ...notAllowed },
  {
    ...get('an answer as HTML', CM, {
      code: 406,
      reason: 'NotAcceptable',
      message: /Not Acceptable|only the following media types are accepted: /,
    }),
    headers: { Accept: 'text/html' },
  },
]
