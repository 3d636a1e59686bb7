/** Watches and streams of spaces, as chunks and over WebSocket. */
import { asAlice, get, raw, request, type Scene, type Theme } from '../scene.ts'

const MAPS = '/api/v1/namespaces/golden/configmaps'
const ONE = 'watch=1&fieldSelector=metadata.name%3Dplain'
const INITIAL = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
const TABLE = 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io'
const PARTIAL = 'Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const PROTOBUF = 'Accept: application/vnd.kubernetes.protobuf;stream=watch'
const STREAM = '/services/stream/clusters'
const WIDGETS = '/apis/golden.example.com/v1/namespaces/golden/widgets'
const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
]
const FIRST = { lines: 1 } as const
const BEARER = `base64url.bearer.authorization.k8s.io.${Buffer.from('token-of-alice').toString('base64url')}`

/** `frames`: so many are read; absent: it is refused. */
function socket(path: string, headers: readonly string[] = [], frames?: number, asAdmin = true): Scene {
  const options = { isPlain: false, lines: frames, ...(!asAdmin && { asAdmin }) }
  const scene = get(path, [...UPGRADE, ...headers], options)
  return { ...scene, name: [`WebSocket ${path}`, ...headers, ...(asAdmin ? [] : ['nobody'])].join(' | ') }
}

export const streams: Theme = {
  name: 'streams',
  scenes: [
    ...[
      [],
      [TABLE],
      [PARTIAL],
      ['Accept: application/yaml'],
      ['Accept-Encoding: gzip'],
      ['User-Agent: curl/8'],
      [asAlice],
    ].map(headers => get(`${MAPS}?${ONE}`, headers, FIRST)),
    get(`${MAPS}?${ONE}`, ['Connection: close'], FIRST),
    get(`${MAPS}?${ONE}&resourceVersion=0`, [], FIRST),
    get(`${MAPS}?${ONE}&pretty=1`, [], FIRST),
    get(`${MAPS}?watch=true&labelSelector=size%3Dtext`, [], FIRST),
    get(`/api/v1/watch/namespaces/golden/configmaps/plain`, [], FIRST),
    get(`/api/v1/namespaces/golden/configmaps?${INITIAL}&fieldSelector=metadata.name%3Dplain`, [], { lines: 2 }),
    get(`/api/v1/namespaces/golden/configmaps?${INITIAL}&fieldSelector=metadata.name%3Dplain`, [TABLE], { lines: 2 }),
    get(`/api/v1/namespaces/golden/configmaps?${INITIAL}&fieldSelector=metadata.name%3Dnothing`, [], FIRST),
    get(`${WIDGETS}?${INITIAL}&fieldSelector=metadata.name%3Dw`, [], { lines: 2 }),
    get(
      `/apis/golden.example.com/v1beta1/namespaces/golden/widgets?watch=1&fieldSelector=metadata.name%3Dw`,
      [],
      FIRST,
    ),
    get(`${MAPS}?watch=1&resourceVersion=1`, [], FIRST),
    get(`${MAPS}?watch=1&resourceVersion=x`),
    get(`${MAPS}?watch=1&resourceVersion=999999999`),
    get(`${MAPS}?watch=1&timeoutSeconds=x`),
    get(`${MAPS}?watch=1&labelSelector=%3D`),
    get(`${MAPS}?watch=1&fieldSelector=spec.a%3Db`),
    get(`${MAPS}?watch=1&sendInitialEvents=true`),
    get(`${MAPS}?watch=1&resourceVersionMatch=NotOlderThan`),
    get(`${MAPS}?watch=1`, ['Accept: text/html']),
    get(`${MAPS}?watch=1`, ['Impersonate-User: ann']),
    get('/api/v1/namespaces/golden/gadgets?watch=1'),
    request('HEAD', `${MAPS}?watch=1`),
    get(`${MAPS}?${ONE}&timeoutSeconds=1`),
    get(`${MAPS}?${ONE}&timeoutSeconds=1&allowWatchBookmarks=true`, [PROTOBUF]),
    raw(
      'a watch with a request behind it',
      `GET ${MAPS}?${ONE}&timeoutSeconds=1 HTTP/1.1\r\nHost: x\r\n\r\nGET /readyz HTTP/1.1\r\nHost: x\r\n\r\n`,
      {
        methods: ['GET', 'GET'],
      },
    ),
    raw('a watch in HTTP/1.0', `GET ${MAPS}?${ONE}&timeoutSeconds=1 HTTP/1.0\r\nHost: x\r\n\r\n`),

    get(`${STREAM}/root?resources=widgets.golden.example.com`, [], { lines: 2 }),
    get(`${STREAM}/root?resources=widgets.golden.example.com&brief=true&protocol=1-2`, [], { lines: 2 }),
    get(`${STREAM}/root:team?resources=pods`, [], FIRST),
    get('/services/stream?resources=pods', [], FIRST),
    get(`${STREAM}/root?resources=pods`, ['Accept-Encoding: gzip'], FIRST),
    get(`${STREAM}/root?resourceVersion=x`),
    get(`${STREAM}/root?resourceVersion=999999999`),
    get(`${STREAM}/root?resourceVersion=1&epoch=wrong`),
    get(`${STREAM}/root?protocol=x`, [], FIRST),
    get(`${STREAM}/root`, [asAlice]),
    get(`${STREAM}/root:nope`),
    get(`${STREAM}/*`, [asAlice]),
    get(`${STREAM}/root/api`),

    socket(`${MAPS}?${ONE}`, [], 1),
    socket(`${MAPS}?${ONE}`, ['Sec-WebSocket-Protocol: v1.example.com, other'], 1),
    socket(`${MAPS}?${ONE}`, [PROTOBUF], 1),
    socket(`${MAPS}?${ONE}`, [asAlice], 1),
    socket(`${MAPS}?${ONE}`, [`Sec-WebSocket-Protocol: ${BEARER}, v1`], 1, false),
    socket(`${MAPS}?${ONE}`, ['Origin: https://elsewhere.example.com']),
    socket(`${MAPS}?${ONE}`, [], undefined, false),
    socket(`${MAPS}?${ONE}`, ['Authorization: Bearer wrong']),
    socket(`${MAPS}?watch=1&resourceVersion=x`),
    socket('/api/v1/secrets?watch=1', [asAlice]),
    socket('/api/v1/nonsense?watch=1'),
    socket('/api/v1/namespaces/golden/configmaps/plain?watch=1'),
    socket(`${STREAM}/root?resources=pods`, [], 1),
    socket(`${STREAM}/root?resourceVersion=x`),
    socket(`${STREAM}/root:nope`),
    socket(MAPS.replace('configmaps', 'pods')),
    raw(
      'WebSocket of another version',
      `GET ${MAPS}?${ONE} HTTP/1.1\r\nHost: x\r\n${UPGRADE.slice(0, 3).join('\r\n')}\r\nSec-WebSocket-Version: 7\r\n\r\n`,
    ),
    raw(
      'WebSocket without a key',
      `GET ${MAPS}?${ONE} HTTP/1.1\r\nHost: x\r\n${UPGRADE.slice(0, 2).join('\r\n')}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    ),
    raw(
      'WebSocket by POST',
      `POST ${MAPS}?${ONE} HTTP/1.1\r\nHost: x\r\n${UPGRADE.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`,
      { methods: ['POST'] },
    ),
    raw(
      'WebSocket with two Host lines',
      `GET ${MAPS}?${ONE} HTTP/1.1\r\nHost: x\r\nHost: y\r\n${UPGRADE.join('\r\n')}\r\n\r\n`,
    ),
    raw('WebSocket in HTTP/1.0', `GET ${MAPS}?${ONE} HTTP/1.0\r\nHost: x\r\n${UPGRADE.join('\r\n')}\r\n\r\n`, {
      isLeft: true,
    }),
  ],
}
