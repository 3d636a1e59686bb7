/** Requests that are refused before they come to an endpoint, or there at once. */
import { asAlice, get, JSON_BODY, named, raw, request, send, type Theme } from '../scene.ts'

const MAPS = '/api/v1/namespaces/golden/configmaps'
const MAP = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'refused' } }
const NOBODY = { asAdmin: false, isPlain: false } as const
const LARGE = 3 * 1024 * 1024 + 1

export const refusals: Theme = {
  name: 'refusals',
  scenes: [
    ...[`${MAPS}/plain`, '/version', '/livez', '/readyz', '/apis', '/metrics', '/nowhere'].map(path => ({
      ...get(path, [], NOBODY),
      name: `nobody: GET ${path}`,
    })),
    get(`${MAPS}/plain`, ['Authorization: Bearer wrong'], { isPlain: false }),
    get(`${MAPS}/plain`, ['Authorization: Bearer'], { isPlain: false }),
    get(`${MAPS}/plain`, ['Authorization: Bearer '], { isPlain: false }),
    get(`${MAPS}/plain`, ['Authorization: Basic YTpi'], { isPlain: false }),
    get(`${MAPS}/plain`, ['Authorization: Bearer wrong', 'Accept: application/yaml'], { isPlain: false }),
    get(`${MAPS}/plain`, [asAlice.replace('Bearer', 'bearer')]),
    get(`${MAPS}/plain`, [asAlice.replace('Authorization', 'aUTHORIZATION')]),
    get(`${MAPS}/plain`, [asAlice, 'Authorization: Bearer wrong'], { isPlain: false }),
    get(`${MAPS}/plain`, ['Authorization: Bearer wrong', asAlice], { isPlain: false }),
    get('/api/v1/secrets', [asAlice]),
    get('/api/v1/secrets?watch=1', [asAlice]),
    get('/api/v1/namespaces/golden/secrets/a', [asAlice]),
    get('/api/v1/namespaces/golden/secrets/a', [asAlice, 'Accept: application/vnd.kubernetes.protobuf']),
    get('/metrics', [asAlice]),
    get('/apis', [asAlice], { isDocument: true }),
    send('POST', MAPS, MAP, [asAlice, JSON_BODY]),
    send('PUT', `${MAPS}/refused`, MAP, [asAlice, JSON_BODY]),
    send('PATCH', `${MAPS}/refused`, {}, [asAlice, 'Content-Type: application/merge-patch+json']),
    request('DELETE', `${MAPS}/plain`, [asAlice]),
    request('DELETE', MAPS, [asAlice]),
    get(`${MAPS}/plain`, ['Impersonate-User: alice']),
    get('/api/v1/secrets', ['Impersonate-User: alice']),
    get(`${MAPS}/plain`, ['Impersonate-User: ann', 'Impersonate-Group: dev', 'Impersonate-Group: ops']),
    get(`${MAPS}/plain`, ['Impersonate-User: ann', 'Impersonate-Group: system:masters', 'Impersonate-Extra-Scopes: a']),
    get(`${MAPS}/plain`, ['Impersonate-Group: dev']),
    get(`${MAPS}/plain`, ['Impersonate-User: bob'].concat(asAlice)),
    send('POST', `${MAPS}?dryRun=All`, MAP, ['Impersonate-User: alice', JSON_BODY]),
    send('POST', `${MAPS}/plain`, MAP),
    send('PUT', MAPS, MAP),
    send('PATCH', MAPS, {}, ['Content-Type: application/merge-patch+json']),
    send('POST', '/version', {}),
    send('PUT', '/apis', {}),
    send('POST', '/nowhere', {}),
    request('DELETE', '/livez'),
    send('POST', MAPS, MAP, ['Content-Type: text/plain']),
    send('POST', MAPS, MAP, ['Content-Type: application/xml; charset=utf-8']),
    named('POST without a Content-Type', send('POST', MAPS, MAP, [])),
    send('PATCH', `${MAPS}/plain`, {}),
    named('PATCH without a Content-Type', send('PATCH', `${MAPS}/plain`, {}, [])),
    send('POST', MAPS, '{'),
    send('POST', MAPS, ''),
    send('POST', MAPS, 'null'),
    send('POST', MAPS, '[]'),
    send('POST', MAPS, '"text"'),
    send('POST', MAPS, '{"kind":"Secret","apiVersion":"v1"}'),
    send('POST', MAPS, '{"kind":"ConfigMap","apiVersion":"v2"}'),
    send('POST', MAPS, '{"metadata":{"name":1}}'),
    named('POST with 20,000 brackets', send('POST', MAPS, '['.repeat(20_000))),
    named('POST with 11,000 levels', send('POST', MAPS, `${'{"a":'.repeat(11_000)}1${'}'.repeat(11_000)}`)),
    send('POST', MAPS, 'a: [', ['Content-Type: application/yaml']),
    raw(
      'POST of 3 MiB and a byte, by its length',
      `POST ${MAPS} HTTP/1.1\r\nHost: x\r\n${JSON_BODY}\r\nContent-Length: ${LARGE}\r\n\r\n{`,
      { methods: ['POST'] },
    ),
    // without its end: a request that is whole when it is refused keeps its connection
    raw(
      'POST of 3 MiB and a byte, in chunks',
      `POST ${MAPS} HTTP/1.1\r\nHost: x\r\n${JSON_BODY}\r\nTransfer-Encoding: chunked\r\n\r\n${(LARGE + 1).toString(16)}\r\n${' '.repeat(LARGE)}`,
      { methods: ['POST'] },
    ),
    raw(
      'POST of 3 MiB and a byte, by alice',
      `POST ${MAPS} HTTP/1.1\r\nHost: x\r\n${asAlice}\r\n${JSON_BODY}\r\nContent-Length: ${LARGE}\r\n\r\n{`,
      { methods: ['POST'], asAdmin: false, isLeft: true },
    ),
    send('POST', MAPS, MAP, [JSON_BODY, 'Content-Encoding: gzip']),
    send('POST', MAPS, MAP, [JSON_BODY, 'Origin: https://elsewhere.example.com']),
    send('POST', MAPS, MAP, [JSON_BODY, 'Sec-Fetch-Site: cross-site']),
    get(`${MAPS}/plain`, ['Origin: https://elsewhere.example.com']),
    ...['/nowhere', '/api/v2', '/apis/none.example.com', '/apis/none.example.com/v1/things', '/api/v1/things'].map(
      path => get(path),
    ),
    ...['/api/v1/namespaces/golden/configmaps/plain/status', '/api/v1/namespaces/golden/pods/a/exec'].map(path =>
      get(path),
    ),
    ...['/clusters/A', '/clusters/root:', '/clusters/root:team:nope/api', '/clusters/%zz/api', '/clusters'].map(path =>
      get(path),
    ),
    get('/clusters/root:nope/api', [asAlice]),
    get('/clusters/root:team/api', [asAlice]),
  ],
}
