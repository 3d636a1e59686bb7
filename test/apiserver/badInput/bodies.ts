/** Bodies that cannot be read, or that are not what their URL says, or not valid. */
import { configMap } from '../../support/server.ts'
import { type BadCase, CM, DECODER, DEPLOYMENTS, deployment } from './badCase.ts'

const cm = (metadata: unknown, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata,
  ...more,
})
const post = (
  name: string,
  body: unknown,
  rest: Omit<BadCase, 'name' | 'method' | 'path' | 'body'> & { path?: string },
): BadCase => ({
  name,
  method: 'POST',
  path: CM,
  body,
  ...rest,
})
const put = (
  name: string,
  path: string,
  body: unknown,
  rest: Omit<BadCase, 'name' | 'method' | 'path' | 'body'>,
): BadCase => ({
  name,
  method: 'PUT',
  path,
  body,
  ...rest,
})
const bad = (message: string | RegExp, unlikeKube120?: string) => ({
  code: 400,
  reason: 'BadRequest',
  message,
  ...(unlikeKube120 && { unlikeKube120 }),
})
const invalid = (message: string | RegExp, causes: string[], unlikeKube120?: string) => ({
  code: 422,
  reason: 'Invalid',
  message,
  causes,
  ...(unlikeKube120 && { unlikeKube120 }),
})
const unread =
  "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const CANNOT = /^ConfigMap in version "v1" cannot be handled as a ConfigMap: /

export const bodyCases: readonly BadCase[] = [
  post('no body', undefined, bad(`${unread}unexpected end of JSON input (<empty>)`)),
  post('an empty body', '', bad(`${unread}unexpected end of JSON input (<empty>)`)),
  post(
    'half a JSON document',
    '{"apiVersion":"v1"',
    bad(/^the object provided is unrecognized \(must be of type ConfigMap\): .* \(\{"apiVersion":"v1"\)$/),
  ),
  post('JSON that is a list', '[]', bad(/^the object provided is unrecognized \(must be of type ConfigMap\): /)),
  post('JSON that is a number', '3', bad(/^the object provided is unrecognized \(must be of type ConfigMap\): /)),
  post('malformed YAML', 'a: b: c', {
    ...bad(/^the object provided is unrecognized \(must be of type ConfigMap\): /),
    type: 'application/yaml',
  }),
  post('an unknown content type', 'x', {
    code: 415,
    reason: 'UnsupportedMediaType',
    message:
      /^the body of the request was in an unknown format - accepted media types include: application\/json, application\/yaml/,
    type: 'text/plain',
  }),
  post('JSON nested too deeply', `{"kind":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_001)}`, bad(/nested|max depth/)),
  post(
    'another kind than the URL says',
    { ...cm({ name: 'x' }), kind: 'Secret' },
    bad(/^Secret in version "v1" cannot be handled as a ConfigMap: /),
  ),
  post(
    'an unknown kind',
    { ...cm({ name: 'x' }), kind: 'Nonsense' },
    bad(/^Nonsense in version "v1" cannot be handled as a ConfigMap: /),
  ),
  post(
    'another version than the URL says',
    { ...deployment('x'), apiVersion: 'extensions/v1beta1' },
    {
      ...bad('the API version in the data (extensions/v1beta1) does not match the expected API version (apps/v1)'),
      path: DEPLOYMENTS,
    },
  ),
  post(
    'an apiVersion of three parts',
    { ...cm({ name: 'x' }), apiVersion: 'a/b/c' },
    bad(/apiVersion "a\/b\/c"/, DECODER),
  ),
  post('an apiVersion that is a number', { ...cm({ name: 'x' }), apiVersion: 1 }, bad(/apiVersion/)),
  post('metadata that is text', cm('x'), bad(CANNOT)),
  post('metadata that is a list', cm([]), bad(CANNOT)),
  post('a name that is a number', cm({ name: 5 }), bad(CANNOT)),
  post('a label that is a number', cm({ name: 'x', labels: { a: 1 } }), bad(CANNOT)),
  post('an annotation that is a boolean', cm({ name: 'x', annotations: { a: true } }), bad(CANNOT)),
  post('finalizers that are text', cm({ name: 'x', finalizers: 'y' }), bad(CANNOT)),
  post(
    'a timestamp that is none',
    cm({ name: 'x', creationTimestamp: 'yesterday' }),
    bad(/parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"/),
  ),
  post('data of the wrong type', configMap('x', { a: 1 as never }), bad(CANNOT)),
  post('data that is a list', configMap('x', ['a'] as never), bad(CANNOT)),
  post('text for a number', deployment('x', { replicas: 'three' }), {
    ...bad(/^Deployment in version "v1" cannot be handled as a Deployment: .*replicas/i),
    path: DEPLOYMENTS,
  }),
  post('a fraction for a whole number', deployment('x', { replicas: 1.5 }), {
    ...bad(/^Deployment in version "v1" cannot be handled as a Deployment: .*replicas/i),
    path: DEPLOYMENTS,
  }),
  post(
    'a Secret whose data is not base64',
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, data: { a: '***' } },
    {
      ...bad(/^Secret in version "v1" cannot be handled as a Secret: .*illegal base64 data at input byte 0/),
      path: '/api/v1/namespaces/default/secrets',
    },
  ),
  post('a name in upper case', cm({ name: 'Bad' }), {
    ...invalid(`ConfigMap "Bad" is invalid: metadata.name: Invalid value: "Bad": ${SUBDOMAIN}`, [
      'metadata.name: FieldValueInvalid',
    ]),
    details: { name: 'Bad', kind: 'ConfigMap' },
  }),
  post(
    'a name that is too long',
    cm({ name: 'a'.repeat(254) }),
    invalid(/must be no more than 253 characters$/, ['metadata.name: FieldValueInvalid']),
  ),
  post('no name at all', cm({}), {
    ...invalid('ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required', [
      'metadata.name: FieldValueRequired',
    ]),
    details: { kind: 'ConfigMap' },
  }),
  post(
    'a Namespace with a dot',
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a.b' } },
    {
      ...invalid(
        'Namespace "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots',
        ['metadata.name: FieldValueInvalid'],
        'newer wording',
      ),
      path: '/api/v1/namespaces',
    },
  ),
  post(
    'a bad label',
    cm({ name: 'x', labels: { a: 'c d' } }),
    invalid(/^ConfigMap "x" is invalid: metadata\.labels: Invalid value: "c d": a valid label must be/, [
      'metadata.labels: FieldValueInvalid',
    ]),
  ),
  post(
    'several errors at once',
    cm({ name: 'Bad_', labels: { 'a b': 'c d' } }),
    invalid(/^ConfigMap "Bad_" is invalid: \[metadata\.name: .*, metadata\.labels: .*\]$/, [
      'metadata.name: FieldValueInvalid',
      'metadata.labels: FieldValueInvalid',
      'metadata.labels: FieldValueInvalid',
    ]),
  ),
  post(
    'a finalizer without a domain',
    cm({ name: 'x', finalizers: ['x'] }),
    invalid(
      'ConfigMap "x" is invalid: metadata.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
      ['metadata.finalizers[0]: FieldValueInvalid'],
    ),
  ),
  post(
    'an owner without uid',
    cm({ name: 'x', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p' }] }),
    invalid(/metadata\.ownerReferences\.uid: Invalid value: "": (uid )?must not be empty$/, [
      'metadata.ownerReferences.uid: FieldValueInvalid',
    ]),
  ),
  post(
    'annotations beyond 256 KiB',
    cm({ name: 'x', annotations: { a: 'x'.repeat(270_000) } }),
    invalid(
      /^ConfigMap "x" is invalid: metadata\.annotations: Too long: (must have at most|may not be more than) 262144 bytes$/,
      ['metadata.annotations: FieldValueTooLong'],
    ),
  ),
  post(
    'a ConfigMap beyond 1 MiB',
    configMap('x', { a: 'x'.repeat(1024 * 1024 + 1) }),
    invalid(/^ConfigMap "x" is invalid: \[\]: Too long: (must have at most|may not be more than) 1048576 bytes$/, [
      '[]: FieldValueTooLong',
    ]),
  ),
  post(
    'a data key with a space',
    configMap('x', { 'a b': 'c' }),
    invalid(/^ConfigMap "x" is invalid: data\[a b\]: Invalid value: "a b": a valid config key must consist of/, [
      'data[a b]: FieldValueInvalid',
    ]),
  ),
  post('negative replicas', deployment('x', { replicas: -1 }), {
    ...invalid('Deployment.apps "x" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0', [
      'spec.replicas: FieldValueInvalid',
    ]),
    path: DEPLOYMENTS,
    details: { name: 'x', group: 'apps', kind: 'Deployment' },
  }),
  post('a selector that misses its template', deployment('x', { selector: { matchLabels: { z: 'b' } } }), {
    ...invalid(/`selector` does not match template `labels`$/, ['spec.template.metadata.labels: FieldValueInvalid']),
    path: DEPLOYMENTS,
  }),
  post('a name that is taken', configMap('bad-a'), {
    code: 409,
    reason: 'AlreadyExists',
    message: 'configmaps "bad-a" already exists',
    details: { name: 'bad-a', kind: 'configmaps' },
  }),
  post(
    'a resourceVersion at creation',
    cm({ name: 'x', resourceVersion: '3' }),
    bad('resourceVersion should not be set on objects to be created', 'it says 500'),
  ),
  post(
    'another namespace than the URL says',
    cm({ name: 'x', namespace: 'other' }),
    bad('the namespace of the provided object does not match the namespace sent on the request'),
  ),
  post('a namespace that does not exist', configMap('x'), {
    code: 404,
    reason: 'NotFound',
    message: 'namespaces "nowhere" not found',
    details: { name: 'nowhere', kind: 'namespaces' },
    path: '/api/v1/namespaces/nowhere/configmaps',
  }),
  post('more than 3 MiB', configMap('x', { a: 'x'.repeat(3 * 1024 * 1024) }), {
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: 'Request entity too large: limit is 3145728',
  }),
  put(
    'another name than the URL says',
    `${CM}/bad-a`,
    configMap('bad-b'),
    bad('the name of the object (bad-b) does not match the name on the URL (bad-a)'),
  ),
  put(
    'no name',
    `${CM}/bad-a`,
    cm({}),
    bad('the name of the object (bad-a based on URL) was undeterminable: name must be provided'),
  ),
  put(
    'another namespace',
    `${CM}/bad-a`,
    cm({ name: 'bad-a', namespace: 'other' }),
    bad(
      'the namespace of the provided object does not match the namespace sent on the request',
      'it words it otherwise than for a POST',
    ),
  ),
  put('what does not exist', `${CM}/bad-nope`, configMap('bad-nope'), {
    code: 404,
    reason: 'NotFound',
    message: 'configmaps "bad-nope" not found',
    details: { name: 'bad-nope', kind: 'configmaps' },
  }),
  put('a stale resourceVersion', `${CM}/bad-a`, cm({ name: 'bad-a', resourceVersion: '1' }), {
    code: 409,
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on configmaps "bad-a": the object has been modified; please apply your changes to the latest version and try again',
    details: { name: 'bad-a', kind: 'configmaps' },
  }),
  put('the uid of another object', `${CM}/bad-a`, cm({ name: 'bad-a', uid: 'abc' }), {
    code: 409,
    reason: 'Conflict',
    message:
      /^Operation cannot be fulfilled on configmaps "bad-a": .*Precondition failed: UID in precondition: abc, UID in object meta: /,
  }),
  put(
    'a change of what is immutable',
    `${DEPLOYMENTS}/bad-d`,
    deployment('bad-d', {
      selector: { matchLabels: { app: 'y' } },
      template: { metadata: { labels: { app: 'y' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    }),
    invalid(/^Deployment\.apps "bad-d" is invalid: spec\.selector: Invalid value: .*: field is immutable$/, [
      'spec.selector: FieldValueInvalid',
    ]),
  ),
  put(
    'a negative scale',
    `${DEPLOYMENTS}/bad-d/scale`,
    {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'bad-d', namespace: 'default' },
      spec: { replicas: -1 },
    },
    {
      ...invalid(
        'Scale.autoscaling "bad-d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
        ['spec.replicas: FieldValueInvalid'],
      ),
      details: { name: 'bad-d', group: 'autoscaling', kind: 'Scale' },
    },
  ),
  put(
    'a stale scale',
    `${DEPLOYMENTS}/bad-d/scale`,
    {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'bad-d', namespace: 'default', resourceVersion: '1' },
      spec: { replicas: 2 },
    },
    {
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on deployments.apps "bad-d": the object has been modified; please apply your changes to the latest version and try again',
      details: { name: 'bad-d', group: 'apps', kind: 'deployments' },
    },
  ),
  put(
    'the finalizers of another Namespace',
    '/api/v1/namespaces/default/finalize',
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } },
    bad('the name of the object (other) does not match the name on the URL (default)'),
  ),
  ...[
    ['labels that are a text', { metadata: { name: 'default', labels: 'abc' } }, 'ObjectMeta.metadata.labels'],
    ['annotations that are a list', { metadata: { name: 'default', annotations: ['a'] } }, 'metadata.annotations'],
    ['finalizers that are a text', { spec: { finalizers: 'kubernetes' } }, 'spec.finalizers'],
    ['a spec that is a text', { spec: 'kubernetes' }, 'Namespace.spec'],
  ].map(([name, part, field]) =>
    put(
      `a finalize with ${name}`,
      '/api/v1/namespaces/default/finalize',
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' }, ...(part as object) },
      bad(new RegExp(`json: cannot unmarshal \\w+ into Go struct field .*${field} of type`), DECODER),
    ),
  ),
]
