/** Patches that cannot be read, do not apply, or make something invalid. */
import { configMap } from '../../support/server.ts'
import { APPLY, type BadCase, CM, DEPLOYMENTS, JSON_PATCH, MERGE, STRATEGIC } from './badCase.ts'

type Rest = Omit<BadCase, 'name' | 'method' | 'path' | 'body' | 'type'> & { path?: string }
const patch =
  (type: string, path: string) =>
  (name: string, body: unknown, rest: Rest): BadCase => ({ name, method: 'PATCH', path, type, body, ...rest })
const json = patch(JSON_PATCH, `${CM}/bad-a`)
const merge = patch(MERGE, `${CM}/bad-a`)
const strategic = patch(STRATEGIC, `${DEPLOYMENTS}/bad-d`)
const apply = patch(APPLY, `${CM}/bad-a?fieldManager=me`)
const applyOwned = patch(APPLY, `${CM}/bad-owned?fieldManager=two`)
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
const PATCH_CAUSE = ['patch: FieldValueInvalid']
const WAS_500 = 'it says 500'
const OF_TYPE = 'it speaks of the version alone'

export const patchCases: readonly BadCase[] = [
  merge(
    'a content type that is no patch',
    {},
    { code: 415, reason: 'UnsupportedMediaType', message: /Unsupported Media Type|application\/merge-patch\+json/ },
  ),
  merge('half a document', '{', bad(/json parse error/, WAS_500)),
  merge(
    'a list',
    '[]',
    bad(
      'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
      'it says 422',
    ),
  ),
  strategic('a text', '"x"', bad('json: cannot unmarshal string into Go value of type map[string]interface {}')),
  merge(
    'what does not exist',
    { data: {} },
    { code: 404, reason: 'NotFound', message: 'configmaps "bad-nope" not found', path: `${CM}/bad-nope` },
  ),
  merge(
    'a value of the wrong type',
    { data: { k: 5 } },
    invalid(/^ "" is invalid: patch: Invalid value: /, PATCH_CAUSE),
  ),
  merge('another kind', { kind: 'Secret' }, invalid(/^ "" is invalid: patch: Invalid value: /, PATCH_CAUSE)),
  merge('another version', { apiVersion: 'v2' }, invalid(/^ "" is invalid: patch: Invalid value: /, PATCH_CAUSE)),
  merge(
    'another name',
    { metadata: { name: 'zz' } },
    bad('the name of the object (zz) does not match the name on the URL (bad-a)'),
  ),
  merge(
    'a bad label',
    { metadata: { labels: { 'a b': 'c' } } },
    invalid(
      /^ConfigMap "bad-a" is invalid: metadata\.labels: Invalid value: "a b": name part must consist of/,
      ['metadata.labels: FieldValueInvalid'],
      'it tells each cause four times',
    ),
  ),
  merge(
    'a stale resourceVersion',
    { metadata: { resourceVersion: '1' } },
    {
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "bad-a": the object has been modified; please apply your changes to the latest version and try again',
    },
  ),
  merge(
    'another uid',
    { metadata: { uid: 'x' } },
    invalid(
      'ConfigMap "bad-a" is invalid: metadata.uid: Invalid value: "x": field is immutable',
      ['metadata.uid: FieldValueInvalid'],
      'it tells the cause twice',
    ),
  ),
  merge(
    'force where nothing can be forced',
    {},
    {
      ...invalid('PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch', [
        'force: FieldValueForbidden',
      ]),
      path: `${CM}/bad-a?force=true`,
    },
  ),
  {
    ...merge(
      'a collection',
      {},
      {
        code: 405,
        reason: 'MethodNotAllowed',
        message: 'the server does not allow this method on the requested resource',
      },
    ),
    path: CM,
  },
  json('half a document', '{', bad(/JSON|json/)),
  json(
    'an object',
    '{}',
    bad(/cannot unmarshal object into Go value of type (jsonpatch\.Patch|\[\]handlers\.jsonPatchOp)/),
  ),
  json('a test that fails', [{ op: 'test', path: '/data/k', value: 'no' }], {
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
  }),
  json('removal of what is not there', [{ op: 'remove', path: '/data/nope' }], {
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
  }),
  {
    ...json(
      'an unknown operation',
      [{ op: 'frobnicate', path: '/data' }],
      bad('invalid operation {"op":"frobnicate","path":"/data"}: unsupported operation'),
    ),
    unlikeKube120: '1.36: the operations are read before they are tried',
  },
  json(
    'a value of the wrong type',
    [{ op: 'replace', path: '/data', value: 'text' }],
    invalid(/^ "" is invalid: patch: Invalid value: /, PATCH_CAUSE),
  ),
  strategic(
    'a list element without its key',
    { spec: { template: { spec: { containers: [{ image: 'x' }] } } } },
    bad(/ does not contain declared merge key: name$/, WAS_500),
  ),
  strategic(
    'an unknown directive',
    { spec: { $patch: 'explode' } },
    bad(/^unknown patch type: explode in map: /, WAS_500),
  ),
  strategic(
    'text for a list',
    { spec: { template: { spec: { containers: 'x' } } } },
    invalid(/^ "" is invalid: patch: Invalid value: /, PATCH_CAUSE),
  ),
  strategic(
    'an invalid outcome',
    { spec: { replicas: -4 } },
    {
      ...invalid(
        'Deployment.apps "bad-d" is invalid: spec.replicas: Invalid value: -4: must be greater than or equal to 0',
        ['spec.replicas: FieldValueInvalid'],
      ),
      details: { name: 'bad-d', group: 'apps', kind: 'Deployment' },
    },
  ),
  apply('no manager', configMap('bad-a'), {
    ...invalid('PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch', [
      'fieldManager: FieldValueRequired',
    ]),
    path: `${CM}/bad-a`,
  }),
  apply(
    'another name',
    configMap('other'),
    bad('the name of the object (other) does not match the name on the URL (bad-a)', 'another wording'),
  ),
  apply('no version', { metadata: { name: 'bad-a' } }, bad('invalid object type: /, Kind=', OF_TYPE)),
  apply(
    'another version',
    { ...configMap('bad-a'), apiVersion: 'v3' },
    bad('invalid object type: /v3, Kind=ConfigMap', OF_TYPE),
  ),
  apply(
    'another kind',
    { ...configMap('bad-a'), kind: 'Secret' },
    bad('invalid object type: /v1, Kind=Secret', WAS_500),
  ),
  apply(
    'its own managedFields',
    configMap(
      'bad-a',
      {},
      { managedFields: [{ manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }] },
    ),
    bad('metadata.managedFields must be nil'),
  ),
  apply(
    'an unknown field',
    { ...configMap('bad-a'), nonsense: 1 },
    bad(/^failed to create typed patch object .*: \.nonsense: field not declared in schema$/, WAS_500),
  ),
  apply(
    'a value of the wrong type',
    configMap('bad-a', { x: [] as never }),
    bad(/^failed to create typed patch object .*: \.data\.x: expected string, got /, WAS_500),
  ),
  apply('a stale resourceVersion', configMap('bad-a', {}, { resourceVersion: '1' }), {
    code: 409,
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on configmaps "bad-a": the object has been modified; please apply your changes to the latest version and try again',
  }),
  apply("somebody's field", configMap('bad-owned', { k: 'x' }), {
    code: 409,
    reason: 'Conflict',
    message: 'Apply failed with 1 conflict: conflict with "one": .data.k',
    causes: ['.data.k: FieldManagerConflict'],
    path: `${CM}/bad-owned?fieldManager=two`,
  }),
  applyOwned("two of somebody's fields", configMap('bad-owned', { k: 'x', l: '3' }), {
    code: 409,
    reason: 'Conflict',
    message: 'Apply failed with 2 conflicts: conflicts with "one":\n- .data.k\n- .data.l',
    causes: ['.data.k: FieldManagerConflict', '.data.l: FieldManagerConflict'],
  }),
].map(row => (row.name === 'a content type that is no patch' ? { ...row, type: 'application/json' } : row))
