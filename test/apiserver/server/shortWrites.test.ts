/** What is written the short way is answered as the long way answers, to the byte; and whatever has a say about a write has it there, too. */
import t from 'tap'
import { CONFIGMAPS, configMap, createSpace, ON_MAIN_THREAD, startTestServer } from '../../support/server.ts'
import { ACCESS, AS_ALICE, codeOf, defineWidgets, grant, lineTo, parsedBy, withoutDate } from './shortSupport.ts'

const JSON_TYPE = 'Content-Type: application/json\r\n'
const MERGE = 'Content-Type: application/merge-patch+json\r\n'
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'
const WRITES = { verbs: ['create', 'patch'], apiGroups: [''], resources: ['configmaps'] }

/** What each write makes anew. */
const withoutNews = (answer: string): string =>
  withoutDate(answer)
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '*')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '*')

const deployment = (replicas: unknown): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: {
    replicas,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
})
const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: {}, odd: 1 }

const bodyOf = (answer: string): string => answer.slice(answer.indexOf('\r\n\r\n'))
const headersOf = (answer: string): string[] =>
  withoutDate(answer).slice(0, withoutDate(answer).indexOf('\r\n\r\n')).toLowerCase().split('\r\n').sort()

type Write = readonly [method: string, path: string, body: string, type?: string]

const text = (value: object): string => JSON.stringify(value)
const patch = (type: string): string => `Content-Type: application/${type}\r\n`

const WRITES_TRIED: readonly Write[] = [
  ['POST', CONFIGMAPS, text(configMap('new'))],
  ['POST', CONFIGMAPS, text(configMap('plain'))],
  ['POST', CONFIGMAPS, text(configMap('Not A Name'))],
  ['POST', CONFIGMAPS, text({ ...configMap('new'), odd: 1 })],
  ['POST', CONFIGMAPS, text({ ...configMap('new'), data: { a: 'ä€😀' } })],
  ['POST', CONFIGMAPS, text({ metadata: { name: 'new', namespace: 'other' } })],
  ['POST', CONFIGMAPS, text({ kind: 'Secret', apiVersion: 'v1', metadata: { name: 'new' } })],
  ['POST', CONFIGMAPS, '{"metadata":{"name":"new"},"data":{"a":"1","a":"2"}}'],
  ['POST', CONFIGMAPS, '{"metadata":'],
  ['POST', CONFIGMAPS, '[]'],
  ['POST', CONFIGMAPS, text({ ...configMap('new'), data: { a: 'x'.repeat(20_000) } })],
  ['POST', '/api/v1/namespaces/nowhere/configmaps', text({ metadata: { name: 'new' } })],
  ['POST', `${CONFIGMAPS}/plain`, text(configMap('plain'))],
  ['POST', '/api/v1/namespaces', text({ metadata: { name: 'made' } })],
  ['POST', DEPLOYMENTS, text(deployment(1))],
  ['POST', DEPLOYMENTS, text(deployment('one'))],
  ['POST', WIDGETS, text(widget)],
  ['POST', '/api/v1/namespaces/default/endpoints', text({ metadata: { name: 'e' } })],
  ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', text({ spec: {} })],
  ['POST', '/apis/nowhere/v1/things', '{}'],
  ['POST', '/livez', '{}'],
  ['PUT', `${CONFIGMAPS}/plain`, text({ ...configMap('plain'), data: { a: 'b' } })],
  ['PUT', `${CONFIGMAPS}/plain`, text({ ...configMap('plain'), metadata: { name: 'plain', resourceVersion: '1' } })],
  ['PUT', `${CONFIGMAPS}/plain`, text(configMap('other'))],
  ['PUT', `${CONFIGMAPS}/nope`, text(configMap('nope'))],
  ['PUT', CONFIGMAPS, text(configMap('plain'))],
  ['PUT', `${DEPLOYMENTS}/d/status`, text({ ...deployment(1), status: { replicas: 3 } })],
  ['PUT', `${DEPLOYMENTS}/d/scale`, text({ metadata: { name: 'd' }, spec: { replicas: 3 } })],
  ['PATCH', `${CONFIGMAPS}/plain`, text({ data: { b: 'c' } }), MERGE],
  ['PATCH', `${CONFIGMAPS}/large`, text({ metadata: { labels: { a: 'b' } } }), MERGE],
  ['PATCH', `${CONFIGMAPS}/plain`, text({ data: { b: 1 } }), MERGE],
  ['PATCH', `${CONFIGMAPS}/nope`, text({ data: { b: 'c' } }), MERGE],
  ['PATCH', `${CONFIGMAPS}/plain`, text([{ op: 'add', path: '/data/c', value: 'd' }]), patch('json-patch+json')],
  ['PATCH', `${CONFIGMAPS}/plain`, text([{ op: 'test', path: '/data/c', value: 'd' }]), patch('json-patch+json')],
  ['PATCH', `${DEPLOYMENTS}/d`, text({ spec: { replicas: 3 } }), patch('strategic-merge-patch+json')],
  ['PATCH', `${WIDGETS}/w`, text({ spec: {} }), patch('strategic-merge-patch+json')],
  ['PATCH', `${CONFIGMAPS}/plain`, text({ data: { b: 'c' } }), JSON_TYPE],
  [
    'PATCH',
    `${CONFIGMAPS}/a?fieldManager=m`,
    text({ ...configMap('a'), apiVersion: 'v1', kind: 'ConfigMap' }),
    patch('apply-patch+yaml'),
  ],
  ['PATCH', `${CONFIGMAPS}/a`, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n', patch('apply-patch+yaml')],
  [
    'PATCH',
    `${CONFIGMAPS}/a?fieldManager=m&force=true`,
    'apiVersion: v1\nkind: ConfigMap\ndata: {a: b, a: c}\n',
    patch('apply-patch+yaml'),
  ],
]

const FORMS = [
  '',
  'Accept: application/json, */*\r\nAccept-Encoding: gzip\r\n',
  'User-Agent: curl/8\r\n',
  'Accept: application/yaml\r\n',
  'Accept: application/vnd.kubernetes.protobuf\r\n',
  'Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json\r\n',
  'Accept: text/html\r\n',
  'Impersonate-User: alice\r\n',
]

t.test('both ways answer the same', async t => {
  const { api } = await startTestServer(t, ON_MAIN_THREAD)
  await api.ok(api.post(CONFIGMAPS, { ...configMap('plain'), data: { a: 'a' } }))
  await api.ok(api.post(CONFIGMAPS, { ...configMap('large'), data: { a: 'x'.repeat(200_000) } }))
  await api.ok(api.post(DEPLOYMENTS, deployment(1)))
  await defineWidgets(api, { type: 'object', properties: { spec: { type: 'object' } } })
  await api.ok(api.post(WIDGETS, widget))
  await grant(api, 'writer', [ACCESS, WRITES])
  const parsed = parsedBy(t)
  let short = 0
  for (const asAdmin of [true, false]) {
    for (const form of asAdmin ? FORMS : FORMS.slice(0, 1)) {
      // the query decides before the form of the answer does
      for (const validation of form === '' ? ['', '&fieldValidation=Strict', '&dryRun=Some'] : ['']) {
        const [same, other] = [await lineTo(t, api, asAdmin), await lineTo(t, api, asAdmin)]
        let turn = 0
        for (const [method, path, body, type = JSON_TYPE] of WRITES_TRIED) {
          // in pieces that nobody knows the length of
          if (path.endsWith('/large') && form.includes('yaml')) continue
          const url = `${path}${path.includes('?') ? '&' : '?'}dryRun=All${validation}`
          const headers = `${asAdmin ? '' : AS_ALICE}${form}${type}`
          const ask = async (): Promise<[answer: string, expected: string]> => {
            // nothing is known of a head that never comes again
            const expected = await other.send(method, url, body, `${headers}X-Turn: ${turn++}\r\n`)
            parsed.length = 0
            const answer = await same.send(method, url, body, headers)
            if (parsed.length === 0) short++
            return [withoutNews(answer), withoutNews(expected)]
          }
          await same.send(method, url, body, headers)
          let [answer, expected] = await ask()
          // protobuf has times as numbers: not all in one second
          if (answer !== expected) [answer, expected] = await ask()
          t.equal(answer, expected, `${method} ${url} ${body.slice(0, 100)} ${headers}`)
        }
      }
    }
  }
  t.ok(short > 150, `${short} went the short way`)
})

t.test(
  'what a syncer says of its cluster goes the short way, and its connection is kept as long as on the long way',
  async t => {
    for (const more of [ON_MAIN_THREAD, { more: { apiThreads: 1 } }]) {
      const { api } = await startTestServer(t, more)
      const mailbox = await createSpace(api.in('root:espw'), 'abc123-mb-01234567-89ab-cdef-0123-456789abcdef')
      const path = `/clusters/${mailbox}/apis/edge.kubestellar.io/v2alpha1/syncerconfigs/the-one/outcome`
      const form = { kind: 'SyncerOutcome', apiVersion: 'edge.kubestellar.io/v2alpha1', metadata: { name: 'the-one' } }
      const report = (number: number): string =>
        text({ ...form, spec: { session: 's', number, whole: true, epoch: '', compared: false, processed: 0 } })
      const parsed = parsedBy(t)
      // connections enough that the thread has some
      const lines = await Promise.all(Array.from({ length: 6 }, () => lineTo(t, api)))
      for (const [i, line] of lines.entries()) {
        const long = await line.send('PUT', path, report(1), JSON_TYPE)
        t.match(long, /^HTTP\/1.1 200 [^{]*Keep-Alive: timeout=420\r\n/i, long)
        // where it crosses, its head is known over there from the next one on
        await line.send('PUT', path, report(1), JSON_TYPE)
        parsed.length = 0
        const short = await line.send('PUT', path, report(2), JSON_TYPE)
        t.strictSame(parsed, [])
        t.strictSame(headersOf(short), headersOf(long))
        t.equal(bodyOf(short), bodyOf(long))
        const other = await line.send('PUT', `${path}/${i}`, report(3), JSON_TYPE)
        t.equal(codeOf(other), 404)
      }
    }
  },
)

t.test('what is written the short way is stored', async t => {
  const { api } = await startTestServer(t, ON_MAIN_THREAD)
  const line = await lineTo(t, api)
  const parsed = parsedBy(t)
  await line.send('POST', CONFIGMAPS, text(configMap('first')), JSON_TYPE)
  await line.send('PUT', `${CONFIGMAPS}/first`, text({ ...configMap('first'), data: { n: '0' } }), JSON_TYPE)
  await line.send('PATCH', `${CONFIGMAPS}/first`, text({ data: { m: '0' } }), MERGE)
  parsed.length = 0
  for (let n = 1; n < 30; n++) {
    const name = `c-${n}`
    const path = `${CONFIGMAPS}/${name}`
    t.equal(codeOf(await line.send('POST', CONFIGMAPS, text(configMap(name)), JSON_TYPE)), 201)
    t.equal(codeOf(await line.send('PUT', path, text({ ...configMap(name), data: { n: `${n}` } }), JSON_TYPE)), 200)
    t.equal(codeOf(await line.send('PATCH', path, text({ data: { m: 'x'.repeat(n) } }), MERGE)), 200)
    t.equal(codeOf(await line.send('POST', CONFIGMAPS, text(configMap(name)), JSON_TYPE)), 409)
  }
  t.strictSame(parsed, [])
  for (let n = 1; n < 30; n++) {
    const { data } = await api.ok(api.get(`${CONFIGMAPS}/c-${n}`))
    t.strictSame(data, { n: `${n}`, m: 'x'.repeat(n) })
  }
})

t.test('rights that are taken are gone at once', async t => {
  const { api } = await startTestServer(t, ON_MAIN_THREAD)
  await grant(api, 'writer', [ACCESS, WRITES])
  const line = await lineTo(t, api, false)
  const parsed = parsedBy(t)
  let n = 0
  const create = async (): Promise<number> =>
    codeOf(await line.send('POST', CONFIGMAPS, text(configMap(`c-${n++}`)), `${AS_ALICE}${JSON_TYPE}`))
  t.equal(await create(), 201)
  parsed.length = 0
  t.equal(await create(), 201)
  t.strictSame(parsed, [])
  const binding = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/writer'
  for (let round = 0; round < 20; round++) {
    const { metadata: _, ...rest } = await api.ok(api.get(binding))
    await api.ok(api.delete(binding))
    t.equal(await create(), 403)
    await api.ok(api.post(binding.slice(0, -'/writer'.length), { ...rest, metadata: { name: 'writer' } }))
    t.equal(await create(), 201)
  }
})

t.test('a body that comes later than its head, or behind another request', async t => {
  const { api } = await startTestServer(t, ON_MAIN_THREAD)
  const line = await lineTo(t, api)
  const parsed = parsedBy(t)
  const wire = (name: string): string => {
    const body = text(configMap(name))
    return `POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}Content-Length: ${body.length}\r\n\r\n${body}`
  }
  const send = async (...pieces: string[]): Promise<void> => {
    for (const piece of pieces) await new Promise<void>(resolve => line.socket.write(piece, () => resolve()))
  }
  await send(wire('known'))
  t.equal(codeOf(await line.answer()), 201)
  for (const at of [1, 20, 120, 150, 180]) {
    const late = wire(`late-${at}`)
    await send(late.slice(0, at))
    for (let turns = 0; turns < 20; turns++) await new Promise(resolve => setImmediate(resolve))
    await send(late.slice(at))
    t.equal(codeOf(await line.answer()), 201, `${at}`)
  }
  parsed.length = 0
  await send([1, 2, 3, 4].map(n => wire(`many-${n}`)).join(''))
  for (let n = 1; n < 5; n++) t.match(await line.answer(), `"name":"many-${n}"`)
  t.strictSame(parsed, [])
})

t.test('who goes leaves no request behind, and all are counted', async t => {
  const { api } = await startTestServer(t, ON_MAIN_THREAD)
  const line = await lineTo(t, api)
  const figures = async (): Promise<{ running: number; created: number }> => {
    const { text } = await api.get('/metrics')
    const of = (pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0)
    return {
      running: of(/apiserver_current_inflight_requests\{request_kind="mutating"\} (\d+)/),
      created: of(/apiserver_request_total\{verb="POST",group="",resource="configmaps",code="201"\} (\d+)/),
    }
  }
  const before = await figures()
  const parsed = parsedBy(t)
  for (let n = 0; n < 10; n++) await line.send('POST', CONFIGMAPS, text(configMap(`c-${n}`)), JSON_TYPE)
  t.equal(parsed.length, 1)
  t.strictSame(await figures(), { running: 0, created: before.created + 10 })
  const body = text(configMap('last'))
  line.socket.write(
    `POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}Content-Length: ${body.length}\r\n\r\n${body}`,
  )
  line.socket.destroySoon()
  while ((await api.get(`${CONFIGMAPS}/last`)).code !== 200) await new Promise(resolve => setImmediate(resolve))
  while ((await figures()).running > 0) await new Promise(resolve => setImmediate(resolve))
})

t.test('a server that drains refuses', async t => {
  const { api, server } = await startTestServer(t, ON_MAIN_THREAD)
  const line = await lineTo(t, api)
  for (const name of ['a', 'b'])
    t.equal(codeOf(await line.send('POST', CONFIGMAPS, text(configMap(name)), JSON_TYPE)), 201)
  await server.store.close()
  t.equal(codeOf(await line.send('POST', CONFIGMAPS, text(configMap('c')), JSON_TYPE)), 503)
})
