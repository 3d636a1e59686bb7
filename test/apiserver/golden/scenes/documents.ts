/** Paths that name no resource: health, version, discovery, OpenAPI, metrics. */
import { asAlice, get, inTurn, raw, request, type Theme } from '../scene.ts'

const AGGREGATED = 'Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const AGGREGATED_PROTOBUF = AGGREGATED.replace('application/json', 'application/vnd.kubernetes.protobuf')
const YAML = 'Accept: application/yaml'
const PROTOBUF = 'Accept: application/vnd.kubernetes.protobuf'
const WHOLE = { isDocument: true } as const

export const documents: Theme = {
  name: 'documents',
  scenes: [
    ...['/readyz', '/livez/ping', '/healthz', '/readyz/ping', '/livez?exclude=ping', '/readyz/nothing'].map(path =>
      get(path),
    ),
    ...['/livez?verbose', '/readyz?verbose', '/healthz?verbose', '/readyz?verbose&exclude=nothing'].map(path =>
      get(path, [], WHOLE),
    ),
    get('/readyz', ['Accept: application/json']),
    request('HEAD', '/readyz'),
    request('HEAD', '/version'),
    request('HEAD', '/openapi/v3'),
    request('HEAD', '/apis'),
    get('/version'),
    get('/version/'),
    get('/version', [YAML]),
    get('/version', [PROTOBUF]),
    get('/version', ['User-Agent: curl/8']),
    get('/version?pretty=1'),
    get('/metrics', [], WHOLE),
    get('/metrics', ['Accept-Encoding: gzip'], WHOLE),
    get('/statusz', [], WHOLE),
    get('/configz', [], WHOLE),
    ...[
      '/',
      '/api',
      '/apis',
      '/api/v1',
      '/apis/apps',
      '/apis/apps/',
      '/apis/apps/v1',
      '/openapi/v3',
      '/openapi',
      '/openapi/v3/api/v1',
      '/openapi/v3/apis/none/v1',
      '/openapi/v4',
    ].map(path => get(path, [], WHOLE)),
    ...['/api', '/apis', '/apis/apps/v1', '/'].flatMap(path =>
      [YAML, PROTOBUF, 'User-Agent: curl/8', 'Accept: text/html'].map(line => get(path, [line], WHOLE)),
    ),
    ...['/api', '/apis'].flatMap(path =>
      [AGGREGATED, AGGREGATED_PROTOBUF, `${AGGREGATED};profile=nopeer`, AGGREGATED.replace('v2', 'v2beta1')].map(line =>
        get(path, [line], WHOLE),
      ),
    ),
    get('/apis/golden.example.com/v1'),
    get('/apis/golden.example.com'),
    get('/openapi/v3', ['Accept-Encoding: gzip'], WHOLE),
    get('/openapi/v3/apis/apps/v1?hash=OLD', [], WHOLE),
    get('/openapi/v3/apis/golden.example.com/v1', [], WHOLE),
    get('/apis', [asAlice], WHOLE),
    get('/clusters/root:team/apis', [], WHOLE),
    get('/clusters/root:team/version'),
    get('/clusters/root:team/metrics'),
    get('/clusters/root:team/readyz'),
    get('/clusters/*/apis', [], WHOLE),
    get('/clusters/root', [], WHOLE),
    get('/.well-known/openid-configuration'),
    get('/openid/v1/jwks', [], WHOLE),
    get('/debug/api_priority_and_fairness/dump_priority_levels'),
    get('/services/nothing'),
    get('/services/workspaces'),
    get('/services/stream/other'),
    request('POST', '/services/stream/clusters/root', [], ''),
    ...['/api', '/apis', '/api/v1', '/openapi/v3', '/openapi/v3/apis/golden.example.com/v1'].map(path =>
      inTurn(`${path} that is known`, request('HEAD', path), get(path, ['If-None-Match: <etag>'])),
    ),
    ...[AGGREGATED, AGGREGATED_PROTOBUF].map(line =>
      inTurn(
        `/apis that is known | ${line}`,
        request('HEAD', '/apis', [line]),
        get('/apis', [line, 'If-None-Match: <etag>']),
      ),
    ),
    inTurn(
      '/api that is known, by a list of ETags',
      request('HEAD', '/api'),
      get('/api', ['If-None-Match: "a", <etag>'], WHOLE),
    ),
    raw(
      'three documents on one connection',
      ['/version', '/readyz', '/version'].map(path => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`),
      {
        methods: ['GET', 'GET', 'GET'],
      },
    ),
  ],
}
