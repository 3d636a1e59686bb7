/** Objects that are created, replaced, patched and deleted. */
import { asAlice, get, inTurn, JSON_BODY, named, raw, request, type Scene, send, type Theme } from '../scene.ts'

const MAPS = '/api/v1/namespaces/golden/configmaps'
const SECRETS = '/api/v1/namespaces/golden/secrets'
const WIDGETS = '/apis/golden.example.com/v1/namespaces/golden/widgets'
const BETA = '/apis/golden.example.com/v1beta1/namespaces/golden/widgets'
const SERVICES = '/api/v1/namespaces/golden/services'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const AGENT = 'User-Agent: kubectl/v1.36.0 (linux/amd64)'
const UNKNOWN_UID = '00000000-0000-4000-8000-000000000000'

const map = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { a: 'b' },
  ...more,
})
const widget = (name: string, spec: object, more: object = {}) => ({
  apiVersion: 'golden.example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
  ...more,
})

const PATCHES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const

function patch(kind: keyof typeof PATCHES, path: string, body: unknown, headers: readonly string[] = []): Scene {
  return send('PATCH', path, body, [`Content-Type: ${PATCHES[kind]}`, ...headers])
}

/** A ConfigMap `name` with its data `a: b` as protobuf. */
function inProtobuf(name: string): string {
  const field = (tag: number, bytes: string): string => String.fromCharCode((tag << 3) | 2, bytes.length) + bytes
  const object = field(1, field(1, name)) + field(2, field(1, 'a') + field(2, 'b'))
  return `k8s\0${field(1, field(1, 'v1') + field(2, 'ConfigMap'))}${field(2, object)}`
}

const chunked = (body: string): string =>
  `${(body.match(/[\s\S]{1,20}/g) ?? []).map(part => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`

const LONG = JSON.stringify(map('long', { data: { a: 'x'.repeat(300_000) } }))

export const writes: Theme = {
  name: 'writes',
  isStateful: true,
  scenes: [
    send('POST', MAPS, map('made')),
    named('POST of what is there', send('POST', MAPS, map('made'))),
    send('POST', MAPS, map('made-fully'), [JSON_BODY, AGENT, 'Accept: application/json, */*', 'Accept-Encoding: gzip']),
    send('POST', MAPS, map('made-by-curl'), [JSON_BODY, 'User-Agent: curl/8']),
    send('POST', MAPS, map('made-for-yaml'), [JSON_BODY, 'Accept: application/yaml']),
    send('POST', MAPS, map('made-for-protobuf'), [JSON_BODY, `Accept: ${PROTOBUF}`]),
    send('POST', MAPS, map('made-for-table'), [JSON_BODY, 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io']),
    send('POST', MAPS, map('made-for-html'), [JSON_BODY, 'Accept: text/html']),
    send('POST', MAPS, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: made-in-yaml\ndata: {a: b}\n', [
      'Content-Type: application/yaml',
    ]),
    named(
      'POST in protobuf',
      send('POST', MAPS, inProtobuf('made-in-protobuf'), [`Content-Type: ${PROTOBUF}`, `Accept: ${PROTOBUF}`]),
    ),
    named(
      'POST in protobuf, answered in JSON',
      send('POST', MAPS, inProtobuf('made-in-protobuf-for-json'), [`Content-Type: ${PROTOBUF}`]),
    ),
    send('POST', MAPS, 'k8s\0garbage', [`Content-Type: ${PROTOBUF}`]),
    named('POST in JSON that says protobuf', send('POST', MAPS, map('wrong'), [`Content-Type: ${PROTOBUF}`])),
    send('POST', MAPS, map('made-with-charset'), ['Content-Type: application/json; charset=utf-8']),
    send('POST', MAPS, map('made-with-letters'), ['content-type: Application/JSON']),
    send('POST', MAPS, { data: { a: 'b' }, metadata: { name: 'made-without-kind' } }),
    send('POST', MAPS, { ...map('made-with-text'), data: { a: 'ä€😀' } }),
    raw(
      'POST in chunks',
      `POST ${MAPS} HTTP/1.1\r\nHost: x\r\n${JSON_BODY}\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(JSON.stringify(map('made-in-chunks')))}`,
      { methods: ['POST'] },
    ),
    raw(
      'POST with Expect: 100-continue',
      `POST ${MAPS} HTTP/1.1\r\nHost: x\r\n${JSON_BODY}\r\nExpect: 100-continue\r\nContent-Length: ${JSON.stringify(map('made-expecting')).length}\r\n\r\n${JSON.stringify(map('made-expecting'))}`,
      { methods: ['POST'] },
    ),
    raw(
      'POST with Connection: close',
      `POST ${MAPS} HTTP/1.1\r\nHost: x\r\n${JSON_BODY}\r\nConnection: close\r\nContent-Length: ${JSON.stringify(map('made-at-last')).length}\r\n\r\n${JSON.stringify(map('made-at-last'))}`,
      { methods: ['POST'] },
    ),
    raw(
      'two POSTs at once',
      ['at-once-a', 'at-once-b']
        .map(name => JSON.stringify(map(name)))
        .map(
          body => `POST ${MAPS} HTTP/1.1\r\nHost: x\r\n${JSON_BODY}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        )
        .join(''),
      { methods: ['POST', 'POST'] },
    ),
    raw(
      'a PUT, a GET and a DELETE one after the other',
      [
        `PUT ${MAPS}/at-once-a HTTP/1.1\r\nHost: x\r\n${JSON_BODY}\r\nContent-Length: ${JSON.stringify(map('at-once-a')).length}\r\n\r\n${JSON.stringify(map('at-once-a'))}`,
        `GET ${MAPS}/at-once-a HTTP/1.1\r\nHost: x\r\n\r\n`,
        `DELETE ${MAPS}/at-once-a HTTP/1.1\r\nHost: x\r\n\r\n`,
      ],
      { methods: ['PUT', 'GET', 'DELETE'] },
    ),
    send('POST', MAPS, { metadata: { generateName: 'made-' } }),
    send('POST', MAPS, { metadata: {} }),
    send('POST', MAPS, map('Wrong_Name')),
    send('POST', MAPS, map('a', { metadata: { name: 'a', namespace: 'default' } })),
    send('POST', MAPS, map('a', { metadata: { name: 'a', resourceVersion: '1' } })),
    send('POST', MAPS, map('a', { metadata: { name: 'a', uid: 'x', creationTimestamp: 'never' } })),
    send('POST', MAPS, map('a', { metadata: { name: 'a', labels: { 'b c': 'd' } } })),
    send('POST', '/api/v1/namespaces/nowhere/configmaps', map('a')),
    send('POST', `${MAPS}?dryRun=All`, map('dry')),
    send('POST', `${MAPS}?dryRun=Some`, map('dry')),
    send('POST', `${MAPS}?dryRun=`, map('dry-empty')),
    send('POST', `${MAPS}?fieldManager=golden`, map('managed')),
    send('POST', `${MAPS}?fieldManager=${'m'.repeat(129)}`, map('managed-long')),
    send('POST', `${MAPS}?fieldManager=%07`, map('managed-bell')),
    ...['', 'Ignore', 'Warn', 'Strict', 'Wrong'].flatMap(validation => [
      send('POST', `${MAPS}?dryRun=All&fieldValidation=${validation}`, map('v', { wrong: 1, other: { a: 2 } })),
      send('POST', `${WIDGETS}?dryRun=All&fieldValidation=${validation}`, widget('v', { size: 1, wrong: 1 })),
      send(
        'POST',
        `${MAPS}?dryRun=All&fieldValidation=${validation}`,
        '{"metadata":{"name":"twice"},"data":{"a":"1","a":"2"},"data":{"b":"3"}}',
      ),
    ]),
    send('POST', `${MAPS}?dryRun=All&fieldValidation=Strict`, 'metadata: {name: y}\ndata: {a: b, a: c}\nwrong: 1\n', [
      'Content-Type: application/yaml',
    ]),
    named('POST of a Widget', send('POST', WIDGETS, widget('made', { size: 1 }))),
    send('POST', WIDGETS, widget('large', { size: 10 })),
    send('POST', WIDGETS, widget('typed', { size: 'x' })),
    send('POST', WIDGETS, { metadata: { name: 'bare' } }),
    send('POST', BETA, { ...widget('beta', { size: 1 }), apiVersion: 'golden.example.com/v1beta1' }),
    send('POST', BETA, { ...widget('beta-large', { size: 10 }), apiVersion: 'golden.example.com/v1beta1' }),
    send('POST', SECRETS, { metadata: { name: 'secret' }, stringData: { a: 'secret' } }),
    send('POST', SERVICES, { metadata: { name: 'none' }, spec: { ports: [] } }),
    named('POST of 300,000 bytes', send('POST', `${MAPS}?dryRun=All`, LONG)),
    named(
      'POST of 300,000 bytes, in gzip',
      send('POST', `${MAPS}?dryRun=All`, LONG, [JSON_BODY, 'Accept-Encoding: gzip']),
    ),
    named(
      'POST of 300,000 bytes, in YAML',
      send('POST', `${MAPS}?dryRun=All`, LONG, [JSON_BODY, 'Accept: application/yaml']),
    ),

    named('PUT that changes', send('PUT', `${MAPS}/made`, map('made', { data: { a: 'c' } }))),
    named('PUT that changes nothing', send('PUT', `${MAPS}/made`, map('made', { data: { a: 'c' } }))),
    send('PUT', `${MAPS}/made`, map('made', { data: { a: 'd' } }), [JSON_BODY, AGENT, `Accept: ${PROTOBUF}, */*`]),
    send('PUT', `${MAPS}/made`, map('made', { metadata: { name: 'made', resourceVersion: '1' } })),
    send('PUT', `${MAPS}/made`, map('made', { metadata: { name: 'made', resourceVersion: 'x' } })),
    send('PUT', `${MAPS}/made`, map('made', { metadata: { name: 'made', uid: UNKNOWN_UID } })),
    send('PUT', `${MAPS}/made`, map('other')),
    send('PUT', `${MAPS}/made`, map('made', { metadata: { name: 'made', namespace: 'other' } })),
    send('PUT', `${MAPS}/nope`, map('nope')),
    send('PUT', `${MAPS}/made?dryRun=All`, map('made', { data: { a: 'dry' } })),
    send('PUT', `${MAPS}/made?fieldValidation=Strict`, map('made', { wrong: 1 })),
    send('PUT', `${MAPS}/made`, '{"metadata":{"name":"made"},"wrong":1,"data":{"a":"1","a":"2"}}'),
    send('PUT', `${MAPS}/made`, 'metadata: {name: made}\ndata: {a: e}\n', ['Content-Type: application/yaml']),
    named(
      'PUT in protobuf',
      send('PUT', `${MAPS}/made-in-protobuf`, inProtobuf('made-in-protobuf'), [`Content-Type: ${PROTOBUF}`]),
    ),
    send('PUT', `${WIDGETS}/made`, widget('made', { size: 2 })),
    send('PUT', `${WIDGETS}/made`, widget('made', { size: 2 }, { metadata: { name: 'made', resourceVersion: '1' } })),
    send('PUT', '/api/v1/namespaces/golden', { metadata: { name: 'golden', labels: { a: 'b' } } }),

    patch('merge', `${MAPS}/made`, { data: { b: 'c', a: null } }),
    patch('merge', `${MAPS}/made`, { data: { b: 'c' } }),
    patch('merge', `${MAPS}/made`, { data: { b: 'd' } }, [AGENT, 'Accept: application/yaml']),
    patch('merge', `${MAPS}/made`, { data: { b: 1 } }),
    patch('merge', `${MAPS}/made`, { wrong: 1 }),
    patch('merge', `${MAPS}/made?fieldValidation=Strict`, { wrong: 1 }),
    patch('merge', `${MAPS}/made`, { metadata: { resourceVersion: '1' } }),
    patch('merge', `${MAPS}/made`, { metadata: { name: 'other' } }),
    patch('merge', `${MAPS}/made`, '[1]'),
    patch('merge', `${MAPS}/made`, '{"data":'),
    patch('merge', `${MAPS}/made?dryRun=All`, { data: { b: 'dry' } }),
    patch('merge', `${MAPS}/made?fieldManager=golden`, { data: { b: 'e' } }),
    patch('merge', `${MAPS}/made?force=true`, { data: { b: 'f' } }),
    patch('merge', `${MAPS}/nope`, { data: {} }),
    patch('merge', `${WIDGETS}/made`, { spec: { size: 10 } }),
    patch('merge', `${WIDGETS}/made`, { spec: { size: 4 } }),
    patch('merge', `${BETA}/made`, { spec: { size: 5 } }),
    patch('json', `${MAPS}/made`, [{ op: 'add', path: '/data/c', value: 'd' }]),
    patch('json', `${MAPS}/made`, [{ op: 'test', path: '/data/c', value: 'wrong' }]),
    patch('json', `${MAPS}/made`, [{ op: 'remove', path: '/data/nothing' }]),
    patch('json', `${MAPS}/made`, [{ op: 'fly', path: '/data/c' }]),
    patch('json', `${MAPS}/made`, []),
    patch('json', `${MAPS}/made`, {}),
    patch('strategic', `${MAPS}/made`, { data: { e: 'f' } }),
    patch('strategic', `${MAPS}/made`, { metadata: { labels: { $patch: 'replace', x: 'y' } } }),
    patch('strategic', `${MAPS}/made`, { data: { $patch: 'wrong' } }),
    patch('strategic', `${WIDGETS}/made`, { spec: { size: 4 } }),
    patch('apply', `${MAPS}/applied?fieldManager=golden`, map('applied')),
    patch(
      'apply',
      `${MAPS}/applied?fieldManager=golden`,
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {a: c}\n',
    ),
    patch('apply', `${MAPS}/applied?fieldManager=other`, map('applied', { data: { a: 'd' } })),
    patch('apply', `${MAPS}/applied?fieldManager=other&force=true`, map('applied', { data: { a: 'd' } })),
    patch('apply', `${MAPS}/applied?force=true`, map('applied')),
    patch('apply', `${MAPS}/applied?fieldManager=golden`, map('other')),
    patch('apply', `${MAPS}/applied?fieldManager=golden`, { data: {} }),
    patch('apply', `${MAPS}/applied?fieldManager=golden`, ''),
    patch('apply', `${MAPS}/applied?fieldManager=golden&fieldValidation=Strict`, map('applied', { wrong: 1 })),
    patch('apply', `${WIDGETS}/applied?fieldManager=golden`, widget('applied', { size: 1 })),
    ...['application/cbor', 'text/plain', 'application/merge-patch+json; charset=utf-8', 'application/yaml'].map(type =>
      send('PATCH', `${MAPS}/made`, {}, [`Content-Type: ${type}`]),
    ),

    inTurn(
      'PUT of the newest, twice',
      get(`${MAPS}/made`),
      send(
        'PUT',
        `${MAPS}/made`,
        map('made', { metadata: { name: 'made', uid: '<its uid>', resourceVersion: '<revision>' } }),
      ),
      send('PUT', `${MAPS}/made`, map('made', { metadata: { name: 'made', resourceVersion: '<revision>' }, data: {} })),
    ),
    inTurn(
      'PUT of a status of the newest',
      get(`${WIDGETS}/w`),
      send(
        'PUT',
        `${WIDGETS}/w/status`,
        widget('w', {}, { metadata: { name: 'w', resourceVersion: '<revision>' }, status: { note: 'b' } }),
      ),
    ),
    inTurn(
      'DELETE of the newest',
      send('POST', MAPS, map('brief')),
      send('DELETE', `${MAPS}/brief`, { preconditions: { uid: '<its uid>', resourceVersion: '<revision>' } }),
    ),
    request('DELETE', `${MAPS}/nope`),
    request('DELETE', `${MAPS}/made?dryRun=All`),
    send('DELETE', `${MAPS}/made`, { preconditions: { uid: UNKNOWN_UID } }),
    send('DELETE', `${MAPS}/made`, { preconditions: { resourceVersion: '1' } }),
    send('DELETE', `${MAPS}/made`, { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'] }),
    send('DELETE', `${MAPS}/made`, { kind: 'Wrong', apiVersion: 'v1' }),
    send('DELETE', `${MAPS}/made`, '{'),
    send('DELETE', `${MAPS}/made`, { wrong: 1 }, [JSON_BODY, asAlice]),
    send('DELETE', `${MAPS}/made`, {}, ['Content-Type: text/plain']),
    request('DELETE', `${MAPS}/made?propagationPolicy=Foreground`),
    patch('merge', `${MAPS}/made`, { metadata: { finalizers: null } }),
    request('DELETE', `${MAPS}/made-fully?gracePeriodSeconds=x`),
    request('DELETE', `${MAPS}/made-fully`, ['Accept: application/yaml']),
    request('DELETE', `${MAPS}/made-by-curl`, ['User-Agent: curl/8']),
    send('DELETE', `${MAPS}/made-for-yaml`, { gracePeriodSeconds: 0 }),
    named(
      'DELETE with options in YAML',
      send('DELETE', `${MAPS}/made-for-protobuf`, 'gracePeriodSeconds: 0\n', ['Content-Type: application/yaml']),
    ),
    request('DELETE', `${WIDGETS}/made`),
    request('DELETE', `${BETA}/beta`),
    request('DELETE', `${SECRETS}/secret`),
  ],
}
