/** Reads with every option, right and wrong: selectors, continue tokens, versions, forms; and paths that nobody serves. */
import fc from 'fast-check'
import { configMap } from '../../support/server.ts'
import { FIXTURES } from '../fixtures.ts'
import { hostileText, hostileValue, textOf } from '../hostile.ts'
import type { Target } from '../target.ts'
import type { World } from '../world.ts'

const word = fc.constantFrom('app', 'a.b/c', 'x', 'y-1', '', 'in', 'notin', 'metadata.name', 'é', 'a'.repeat(64), '1')
const operator = fc.constantFrom('=', '==', '!=', ' in ', ' notin ', '>', '<', ',', '!', '(', ')', ' ', '\\', '=,')
const selector = fc.oneof(
  fc.array(fc.oneof(word, operator), { maxLength: 12 }).map(parts => parts.join('')),
  fc.constantFrom(
    'app=x',
    'app in (x,y),!z',
    'metadata.name=q-1',
    'metadata.namespace!=default',
    'status.phase=Running',
  ),
  fc.constantFrom('('.repeat(5000), 'a,'.repeat(5000), '!'.repeat(5000), `a in (${'b,'.repeat(5000)})`, 'a=1\\,2\\='),
  hostileText,
)
const number = fc.oneof(
  fc.constantFrom(
    '0',
    '1',
    '-1',
    '5',
    '999999999999999',
    '9999999999999999',
    '99999999999999999999',
    '1e3',
    '0x1',
    ' 1',
    '１',
  ),
  fc.constantFrom('NaN', '', '+1', '1.5', '007'),
  hostileText,
)
const flag = fc.oneof(fc.constantFrom('true', 'false', '1', '0', '', 'TRUE', 'maybe'), hostileText)

/** Tokens of the right form with wrong members; `PAGE` stands for one that the server gave. */
const token = fc.oneof(
  fc.constantFrom('PAGE', 'PAGEx', 'e30', 'bnVsbA', '%%%', 'AAAA'),
  fc
    .record({
      v: fc.constantFrom<unknown>(1, 1, 1, 2, '1', null, 'meta.k8s.io/v1'),
      rv: fc.oneof(fc.constantFrom<unknown>(-1, 0, 1, 1e15, 1.5, -2, '3', null), hostileValue),
      s: fc.oneof(fc.constantFrom<unknown>('root', '*', ''), hostileValue),
      ns: hostileValue,
      n: hostileValue,
      g: fc.oneof(fc.constant<unknown>(''), hostileValue),
      r: fc.oneof(fc.constant<unknown>('configmaps'), hostileValue),
    })
    .map(value => Buffer.from(textOf(value)).toString('base64url')),
)

const OPTIONS: Record<string, fc.Arbitrary<string>> = {
  labelSelector: selector,
  fieldSelector: selector,
  limit: number,
  continue: token,
  resourceVersion: number,
  resourceVersionMatch: fc.oneof(fc.constantFrom('Exact', 'NotOlderThan', ''), hostileText),
  watch: flag,
  allowWatchBookmarks: flag,
  sendInitialEvents: flag,
  timeoutSeconds: number,
  pretty: flag,
  includeObject: fc.oneof(fc.constantFrom('None', 'Object', 'Metadata'), hostileText),
  dryRun: fc.oneof(fc.constantFrom('All', ''), hostileText),
  fieldManager: hostileText,
  fieldValidation: fc.oneof(fc.constantFrom('Strict', 'Warn', 'Ignore'), hostileText),
  force: flag,
  gracePeriodSeconds: number,
  propagationPolicy: fc.oneof(fc.constantFrom('Orphan', 'Foreground', 'Background'), hostileText),
  orphanDependents: flag,
  separator: fc.constantFrom('', '%', '&&', 'watch', '=', '%zz=%zz', 'a=b=c', '#', '?', 'constructor=1', '__proto__=1'),
}
const option = fc
  .constantFrom(...Object.keys(OPTIONS))
  .chain(name => OPTIONS[name]!.map(value => ({ name, value: value.toWellFormed() })))

const COLLECTIONS = [...new Set(FIXTURES.map(({ path }) => path))]
const segment = fc.oneof(
  fc.constantFrom(
    'api',
    'apis',
    'v1',
    'namespaces',
    'default',
    'configmaps',
    'watch',
    'status',
    'scale',
    'log',
    'exec',
  ),
  fc.constantFrom(
    '..',
    '.',
    '',
    '%2e%2e',
    '%2f',
    'q-1',
    'clusters',
    '*',
    'root',
    'services',
    'stream',
    'apps',
    'proxy',
    'token',
  ),
  hostileText.map(text => encodeURIComponent(text.toWellFormed()).slice(0, 400)),
)
const path = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...COLLECTIONS) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '/api/v1/namespaces/default/configmaps/q-1',
      '/api/v1/configmaps',
      '/api/v1/watch/configmaps',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '/apis',
      '/api',
      '/openapi/v2',
      '/openapi/v3',
      '/openapi/v3/apis/apps/v1',
      '/metrics',
      '/version',
      '/livez/etcd',
      '/readyz?verbose&exclude=etcd',
      '/logs',
      '/openid/v1/jwks',
      '/.well-known/openid-configuration',
    ),
  },
  { weight: 2, arbitrary: fc.array(segment, { maxLength: 8 }).map(parts => `/${parts.join('/')}`) },
)
const accept = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
      'application/vnd.kubernetes.protobuf',
      'application/yaml',
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
      'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
      ',,,;;;q=,*/*;q=NaN',
      'text/html',
      'application/json;as=Table;v=v9;g=x',
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 40 }) },
)

const cases = fc.record({
  method: fc.oneof(
    { weight: 8, arbitrary: fc.constant('GET') },
    { weight: 2, arbitrary: fc.constantFrom('DELETE', 'HEAD', 'POST', 'PUT', 'PATCH', 'OPTIONS') },
  ),
  space: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('/clusters/ONE', '/clusters/*', '/clusters/root:queries') },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '',
        '/services/stream/clusters/ONE',
        '/clusters/',
        '/clusters/root:nope',
        '/clusters/%zz',
        '/clusters/:',
      ),
    },
  ),
  path,
  options: fc.array(option, { maxLength: 5 }),
  accept,
  headers: fc.oneof(
    { weight: 6, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Record<string, string>>(
        { 'Accept-Encoding': 'gzip' },
        { 'Impersonate-User': 'x' },
        { 'Impersonate-Uid': 'x' },
        { 'Impersonate-Extra-%zz': '1', 'Impersonate-User': 'y' },
        { Authorization: 'Bearer a.b.c' },
        { 'If-None-Match': '*' },
      ),
    },
  ),
})

async function play(world: World, one: typeof cases extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  const prefix = one.space.replace('ONE', world.spaces.queries)
  const first = await world.ask({
    method: 'GET',
    path: `/clusters/${world.spaces.queries}/api/v1/namespaces/default/configmaps?limit=1`,
  })
  const page = String((first.body.metadata as { continue?: string }).continue ?? '')
  const texts = one.options.map(({ name, value }) =>
    name === 'separator' ? value : `${name}=${encodeURIComponent(value.replace('PAGE', page))}`,
  )
  const target = prefix + one.path
  const url = texts.length === 0 ? target : `${target}${target.includes('?') ? '&' : '?'}${texts.join('&')}`
  await world.ask({
    method: one.method,
    path: url,
    headers: {
      ...one.headers,
      ...(one.accept !== undefined && { accept: one.accept.replaceAll(/[^\x20-\x7e]/g, '') }),
    },
    peekMs: 30,
  })
}

export const queries: Target = {
  name: 'queries',
  runs: 250,
  async prepare(world) {
    const collection = `/clusters/${world.spaces.queries}/api/v1/namespaces/default/configmaps`
    for (const name of ['q-1', 'q-2', 'q-3'])
      await world.api.post(collection, configMap(name, { a: 'b' }, { labels: { app: 'x' } }))
  },
  property: world => fc.asyncProperty(cases, one => play(world, one)) as ReturnType<Target['property']>,
}
