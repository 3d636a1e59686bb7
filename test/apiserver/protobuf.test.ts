/** Answers in protobuf, which Go controllers ask for: what they say is what JSON says. Media type rules are kube-apiserver's. */
import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { WebSocket } from 'ws'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { PROTOBUF_MEDIA_TYPE, protobufCodec, type WireObject } from '../../src/apimachinery/protobuf/protobufCodec.ts'
import { FrameCache } from '../../src/apiserver/exchange/answers/frames.ts'
import { protobufForm } from '../../src/apiserver/exchange/answers/protobufForms.ts'
import { negotiate } from '../../src/apiserver/http/negotiate.ts'
import { readProtobufFields } from '../../src/program/dataFiles.ts'
import { samples } from '../kinds/samples.ts'
import type { Api } from '../support/api.ts'
import { CONFIGMAPS, configMap, ON_MAIN_THREAD, startTestServer } from '../support/server.ts'

const P = PROTOBUF_MEDIA_TYPE
const META = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
const META_LIST = 'as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
const TABLE = 'as=Table;g=meta.k8s.io;v=v1'
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'
const codec = protobufCodec(readProtobufFields)

t.test('one server', async t => {
  const { api, server, faults } = await startTestServer(t)
  t.after(() => {
    if (faults.length > 0) throw new Error(faults.join('\n'))
  })
  const types = server.services.types.in('root')
  await api.ok(api.post(CONFIGMAPS, configMap('one', { answer: '<yes>' }, { labels: { a: 'b' } })))
  await defineWidgets(api)
  await api.ok(api.post(WIDGETS, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } }))

  t.test('objects and lists of every kind are the same in protobuf and in JSON', async t => {
    for (const [name, fields] of Object.entries(samples)) {
      const [apiVersion = '', resource = ''] = name.split(' ')
      const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
      const type = types.find(group!, version!, resource)!
      const root = group === '' ? `/api/${version}` : `/apis/${apiVersion}`
      const path = `${root}${type.namespaced ? '/namespaces/default' : ''}/${resource}`
      if (!type.verbs.includes('get')) continue
      const metadata = { name: resource === 'customresourcedefinitions' ? 'x.example.com' : 'sample' }
      const made = await api.post(path, { apiVersion, kind: type.kind, metadata, ...fields })
      if (made.code !== 201) continue // Some samples lack what only a whole server asks for.
      for (const at of [path, `${path}/sample`]) {
        // Objects of one state: a controller may write in between.
        let before: KubeObject
        let answer: Awaited<ReturnType<typeof get>>
        let after: KubeObject
        do {
          before = (await api.get(at)).body
          answer = await get(api, at, P)
          after = (await api.get(at)).body
        } while (before.metadata.resourceVersion !== after.metadata.resourceVersion)
        t.equal(answer.type, P, at)
        t.strictSame(tidy(codec.decode(answer.bytes)), tidy(after), at)
      }
    }
    const stateful = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'sent' },
      ...samples['apps/v1 statefulsets'],
    }
    const path = '/apis/apps/v1/namespaces/default/statefulsets'
    t.equal((await exchange(api, 'POST', path, { body: codec.encode(stateful), type: P })).code, 201)
    const claims = (await api.get(`${path}/sent`)).body.spec as { volumeClaimTemplates: object[] }
    t.match(claims.volumeClaimTemplates, [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'v' } }])
  })

  t.test('the form is chosen as kube-apiserver chooses it', async t => {
    const cases: [path: string, accept: string, code: number, type: string][] = [
      [`${CONFIGMAPS}/one`, `${P},application/json`, 200, P],
      [`${CONFIGMAPS}/one`, `application/json,${P}`, 200, 'application/json'],
      [`${CONFIGMAPS}/one`, `${P}, */*`, 200, P],
      [`${CONFIGMAPS}/one`, `*/*, ${P}`, 200, P],
      [`${CONFIGMAPS}/one`, `${P};q=0.1,application/json`, 200, 'application/json'],
      [`${CONFIGMAPS}/one`, `application/json;q=0.1,${P}`, 200, P],
      [`${CONFIGMAPS}/one`, `application/json;q=bad,${P}`, 200, P],
      [`${CONFIGMAPS}/one`, `text/html,${P}`, 200, P],
      [`${CONFIGMAPS}/one`, `${P};charset=utf-8`, 200, P],
      [`${CONFIGMAPS}?pretty=1`, P, 200, P],
      [`${CONFIGMAPS}/one`, `${P};${TABLE}`, 406, 'application/json'],
      [CONFIGMAPS, `${P};${TABLE},${P}`, 200, P],
      [`${CONFIGMAPS}/one`, `${P};${META}`, 200, P],
      [CONFIGMAPS, `${P};${META_LIST}`, 200, P],
      [`${CONFIGMAPS}/one`, `${P};${META_LIST}`, 406, 'application/json'],
      [`${CONFIGMAPS}/none`, P, 404, P],
      [`${CONFIGMAPS}/none`, `${P};${META},application/json`, 404, 'application/json'],
      [`${CONFIGMAPS}?watch=1`, `${P};${TABLE}`, 406, 'application/json'],
      [WIDGETS, P, 406, P],
      [`${WIDGETS}/none`, P, 406, P],
      [`${WIDGETS}?watch=1`, P, 406, P],
      [WIDGETS, `${P},application/json`, 200, 'application/json'],
      [WIDGETS, `${P}, */*`, 200, 'application/json'],
      [`${WIDGETS}/none`, `${P},application/json`, 404, P],
      [WIDGETS, `${P};${META_LIST}`, 200, P],
      [`${WIDGETS}/w`, `${P};${META}`, 200, P],
      ['/apis/edge.kubestellar.io/v2alpha1/edgeplacements', P, 406, P],
      ['/apis/edge.kubestellar.io/v2alpha1/edgeplacements', `${P},application/json`, 200, 'application/json'],
      ['/api', P, 200, P],
      ['/apis', P, 200, P],
      ['/apis/apps/v1', `${P}, */*`, 200, P],
      ['/apis/apps', P, 200, P],
      ['/version', P, 406, P],
      ['/version', `${P},application/json`, 200, 'application/json'],
    ]
    for (const [path, accept, code, type] of cases) {
      const answer = await get(api, path, accept)
      t.match({ code: answer.code, type: answer.type }, { code, type }, `${path} as ${accept}`)
      if (code < 400) continue
      const status = type === P ? codec.decode(answer.bytes) : (JSON.parse(answer.bytes.toString()) as WireObject)
      t.match(status, { kind: 'Status', code })
    }
    const refused = codec.decode((await get(api, WIDGETS, P)).bytes)
    t.equal(refused.message, `only the following media types are accepted: application/json, application/yaml, ${P}`)
    const yaml = await get(api, `${CONFIGMAPS}?watch=1`, 'application/yaml')
    t.match(yaml.bytes.toString(), `application/json;stream=watch, ${P};stream=watch`)
  })

  t.test('metadata alone, of any kind and in both versions of it', async t => {
    for (const version of ['v1', 'v1beta1']) {
      const answer = await get(api, `${WIDGETS}/w`, `${P};${META.replace('v=v1', `v=${version}`)}`)
      t.match(codec.decode(answer.bytes), {
        apiVersion: `meta.k8s.io/${version}`,
        kind: 'PartialObjectMetadata',
        metadata: { name: 'w', uid: String },
      })
    }
    const list = codec.decode((await get(api, CONFIGMAPS, `${P};${META_LIST}`)).bytes)
    t.match(list, { kind: 'PartialObjectMetadataList', metadata: { resourceVersion: /^\d+$/ } })
    t.match((list.items as KubeObject[])[0], { metadata: { name: 'one', labels: { a: 'b' } } })
  })

  t.test('discovery is the same in protobuf and in JSON', async t => {
    for (const path of ['/api', '/apis', '/api/v1', '/apis/apps', '/apis/apps/v1']) {
      const { apiVersion: _, ...proto } = codec.decode((await get(api, path, P)).bytes)
      const { apiVersion: __, ...json } = (await api.get(path)).body
      t.match(proto, json, path)
    }
  })

  t.test('what is no stored object: statuses, reviews, scale, pages', async t => {
    const send = { headers: { Accept: P } }
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' }
    const spec = { resourceAttributes: { verb: 'get', resource: 'pods' } }
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    const answered = await exchange(api, 'POST', path, { ...send, body: codec.encode({ ...review, spec }), type: P })
    t.equal(answered.code, 201)
    t.match(codec.decode(answered.bytes), { ...review, status: { allowed: true } })
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      ...samples['apps/v1 deployments'],
    }
    const deployments = '/apis/apps/v1/namespaces/default/deployments'
    const made = await exchange(api, 'POST', deployments, { ...send, body: codec.encode(deployment), type: P })
    t.match({ code: made.code, ...codec.decode(made.bytes) }, { code: 201, metadata: { name: 'd', uid: String } })
    const scale = codec.decode((await get(api, `${deployments}/d/scale`, P)).bytes)
    t.match(scale, { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 1 } })
    const body = codec.encode({ ...scale, spec: { replicas: 4 } })
    const scaled = await exchange(api, 'PUT', `${deployments}/d/scale`, { ...send, body, type: P })
    t.match(codec.decode(scaled.bytes), { spec: { replicas: 4 } })
    const gone = await exchange(api, 'DELETE', `${deployments}/d`, send)
    t.match(codec.decode(gone.bytes), { kind: 'Status', status: 'Success', details: { name: 'd', group: 'apps' } })
    await api.ok(api.post(CONFIGMAPS, configMap('two')))
    const page = codec.decode((await get(api, `${CONFIGMAPS}?limit=2`, P)).bytes)
    t.match(page.metadata, { continue: /.+/, remainingItemCount: 1 })
    const next = (page.metadata as { continue: string }).continue
    const rest = codec.decode((await get(api, `${CONFIGMAPS}?limit=2&continue=${next}`, P)).bytes)
    t.match(rest.items, [{ metadata: { name: 'two' } }])
  })

  t.test('a watch: initial objects, the bookmark behind them, changes, an error at the end', async t => {
    const { resourceVersion } = (await api.get(CONFIGMAPS)).body.metadata
    const list = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1'
    const watch = await follow(api, `${CONFIGMAPS}?watch=1&${list}&fieldSelector=metadata.name=one`, `${P}, */*`)
    t.equal(watch.type, `${P};stream=watch`)
    t.match(await watch.next(), { type: 'ADDED', object: { kind: 'ConfigMap', data: { answer: '<yes>' } } })
    t.match(await watch.next(), {
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    })
    await api.ok(api.patch(`${CONFIGMAPS}/one`, 'merge', { data: { answer: 'no' } }))
    t.match(await watch.next(), { type: 'MODIFIED', object: { data: { answer: 'no' } } })
    await api.ok(api.delete(`${CONFIGMAPS}/one`))
    t.match(await watch.next(), { type: 'DELETED', object: { metadata: { name: 'one' } } })
    watch.close()
    const short = await follow(api, `${CONFIGMAPS}?watch=1&timeoutSeconds=1&resourceVersion=${resourceVersion}`, P)
    t.match([await short.next(), await short.next()], [{ type: 'MODIFIED' }, { type: 'DELETED' }])
    t.equal(await short.next(), undefined, 'ends as every watch')
  })

  t.test('a watch of metadata, of a kind that has no protobuf form', async t => {
    const watch = await follow(api, `${WIDGETS}?watch=1`, `${P};${META},application/json;${META}`)
    t.match(await watch.next(), { type: 'ADDED', object: { kind: 'PartialObjectMetadata', metadata: { name: 'w' } } })
    watch.close()
  })

  t.test('a watch over WebSocket: each event a binary message', async t => {
    const { ca, cert, key, url } = api.access
    const path = '/api/v1/namespaces?watch=1&fieldSelector=metadata.name=default'
    const socket = new WebSocket(url.replace('https', 'wss') + path, { ca, cert, key, headers: { Accept: P } })
    const [data, isBinary] = (await once(socket, 'message')) as [Buffer, boolean]
    t.equal(isBinary, true)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(data.length)
    t.match(codec.decodeWatchFrame(Buffer.concat([length, data])), {
      type: 'ADDED',
      object: { kind: 'Namespace', metadata: { name: 'default' } },
    })
    socket.close()
    await once(socket, 'close')
  })

  t.test('large lists come with their length, compressed for clients that take it', async t => {
    const text = 'some words that repeat. '.repeat(9000)
    for (let i = 0; i < 4; i++) await api.ok(api.post(CONFIGMAPS, configMap(`big-${i}`, { text })))
    const plain = await get(api, CONFIGMAPS, P)
    t.equal(Number(plain.headers['content-length']), plain.bytes.length)
    t.strictSame(tidy(codec.decode(plain.bytes)), tidy((await api.get(CONFIGMAPS)).body))
    const zipped = await exchange(api, 'GET', CONFIGMAPS, { headers: { Accept: P, 'Accept-Encoding': 'gzip' } })
    t.equal(zipped.headers['content-encoding'], 'gzip')
    t.equal(zipped.type, P)
    t.strictSame(gunzipSync(zipped.bytes), plain.bytes)
  })

  t.test('the data of a ControllerRevision comes back as it was written, byte by byte', async t => {
    const raw =
      '{"spec":{"template":{"$patch":"replace","creationTimestamp":null,"args":["a \\u0026\\u0026 b \\u003c c"]}}}'
    const revision = { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'r' }, revision: 1 }
    const path = '/apis/apps/v1/namespaces/default/controllerrevisions'
    const body = codec.encode({ ...revision, data: JSON.parse(raw) as object })
    t.equal((await exchange(api, 'POST', path, { body, type: P })).code, 201)
    t.ok((await get(api, `${path}/r`, P)).bytes.includes(raw))
    t.ok((await api.get(`${path}/r`)).text.includes(raw), 'in JSON as well')
  })

  t.test('JSON inside of a message may not be nested without end either', async t => {
    const deep = `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`
    const data = JSON.parse(deep) as object
    const revision = {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { name: 'deep' },
      revision: 1,
      data,
    }
    const path = '/apis/apps/v1/namespaces/default/controllerrevisions'
    const answer = await exchange(api, 'POST', path, { body: codec.encode(revision), type: P })
    t.match({ code: answer.code, ...JSON.parse(answer.bytes.toString()) }, { code: 400, message: /nested more than/ })
  })
})

t.test('history that is gone ends a watch with a Status in a frame', async t => {
  const { api, server } = await startTestServer(t)
  await api.ok(api.post(CONFIGMAPS, configMap('one')))
  await api.ok(api.post(CONFIGMAPS, configMap('two')))
  await server.store.compact(server.store.revision)
  const watch = await follow(api, `${CONFIGMAPS}?watch=1&resourceVersion=1`, P)
  t.match(await watch.next(), { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })
  t.equal(await watch.next(), undefined)
})

t.test('many watchers share one encoding; what they do not want costs nothing', async t => {
  const { server, api } = await startTestServer(t)
  await api.ok(api.post(CONFIGMAPS, configMap('one')))
  const type = server.services.types.in('root').find('', 'v1', 'configmaps')!
  const stored = await server.services.reader.get('root', type, 'default', 'one')
  let encoded = 0
  const encodePart = (object: WireObject): Buffer => {
    encoded++
    return codec.encodePart(object)
  }
  const services = { frames: new FrameCache(), protobuf: { ...codec, encodePart } }
  const watcher = () => protobufForm(services, type, { format: 'protobuf', as: undefined, version: 'v1' })
  t.equal(watcher().frame('ADDED', stored), watcher().frame('ADDED', stored), 'the same bytes')
  const modified = codec.decodeWatchFrame(watcher().frame('MODIFIED', stored))
  t.match(modified, { type: 'MODIFIED', object: { metadata: { name: 'one' } } })
  t.ok(watcher().part(stored).equals(codec.encodePart(modified.object)), 'a GET has its part of it')
  t.equal(encoded, 1)
  const never = (): boolean => t.fail('asked whether there is a protobuf form')
  t.equal(negotiate('application/json, */*', never).format, 'json')
  t.equal(negotiate('application/json;as=Table;v=v1;g=meta.k8s.io,application/json', never).as, 'Table')
})

t.test('lists at a time share what each encodes, a few megabytes at a time', async t => {
  const { server, api } = await startTestServer(t, ON_MAIN_THREAD)
  const megabyte = 'x'.repeat(2 ** 20)
  for (const name of ['one', 'two']) await api.ok(api.post(CONFIGMAPS, { ...configMap(name), data: { a: megabyte } }))
  const type = server.services.types.in('root').find('', 'v1', 'configmaps')!
  const one = await server.services.reader.get('root', type, 'default', 'one')
  let encoded = 0
  const encodePart = (object: WireObject): Buffer => {
    encoded++
    return codec.encodePart(object)
  }
  const services = { frames: new FrameCache(), protobuf: { ...codec, encodePart } }
  const form = () => protobufForm(services, type, { format: 'protobuf', as: undefined, version: 'v1' })
  const part = form().part(one)
  t.equal(form().part(one), part, 'the same bytes for the next')
  t.equal(encoded, 1)
  for (let i = 0; i < 40; i++) form().part({ ...one })
  t.equal(encoded, 41, 'others are others')
  t.equal(form().partLength(one), part.length)
  t.equal(encoded, 42, 'what was not asked for lately is let go')
  for (let i = 0; i < 40; i++) form().part({ ...one })
  t.equal(form().partLength(one), part.length)
  t.equal(encoded, 82, 'the length of something long is known all the same')
  const metadata = protobufForm(services, type, { format: 'protobuf', as: 'PartialObjectMetadata', version: 'v1' })
  t.equal(metadata.partLength(one), metadata.part(one).length)
  t.not(metadata.partLength(one), part.length, 'in each form its own')

  const own = server.services.protobuf
  encoded = 0
  own.encodePart = object => {
    encoded++
    return codec.encodePart(object)
  }
  const lists = await Promise.all(Array.from({ length: 4 }, () => get(api, CONFIGMAPS, P)))
  for (const { bytes } of lists) t.ok(bytes.equals(lists[0]!.bytes))
  t.equal(encoded, 2, 'four lists of two, each longer than what it keeps for itself')
})

interface Raw {
  code: number
  type: string | undefined
  headers: IncomingHttpHeaders
  bytes: Buffer
}

function get(api: Api, path: string, accept: string): Promise<Raw> {
  return exchange(api, 'GET', path, { headers: { Accept: accept } })
}

async function exchange(
  api: Api,
  method: string,
  path: string,
  { headers = {}, body, type }: { headers?: Record<string, string>; body?: Buffer; type?: string } = {},
): Promise<Raw> {
  const response = await open(api, method, path, {
    headers: { ...headers, ...(type && { 'Content-Type': type }) },
    ...(body && { body }),
  })
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part as Buffer)
  const { statusCode = 0, headers: answered } = response
  return { code: statusCode, type: answered['content-type'], headers: answered, bytes: Buffer.concat(parts) }
}

async function open(
  api: Api,
  method: string,
  path: string,
  { headers, body }: { headers: Record<string, string>; body?: Buffer },
): Promise<IncomingMessage> {
  const { url, ca, cert, key } = api.access
  const sent = request(url + path, { method, ca, cert, key, headers, agent: false })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}

/** A watch, frame by frame. */
async function follow(api: Api, path: string, accept: string) {
  const response = await open(api, 'GET', path, { headers: { Accept: accept } })
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let waiting = Buffer.alloc(0)
  return {
    type: response.headers['content-type'],
    /** `undefined` once the server has ended the watch. */
    async next() {
      while (waiting.length < 4 || waiting.length < 4 + waiting.readUInt32BE(0)) {
        const { value, done } = await chunks.next()
        if (done) return undefined
        waiting = Buffer.concat([waiting, value])
      }
      const end = 4 + waiting.readUInt32BE(0)
      const frame = waiting.subarray(0, end)
      waiting = waiting.subarray(end)
      return codec.decodeWatchFrame(frame)
    },
    close: () => void response.destroy(),
  }
}

/** Lists of objects whose kind is known from where they are: protobuf does not say it. */
const LISTS = new Set(['items', 'volumeClaimTemplates'])

/** Without what says nothing, which Go writes for structs, and without what protobuf leaves out. */
function tidy(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) {
    const items = LISTS.has(name) ? value.map(({ apiVersion: _, kind: __, ...item }: KubeObject) => item) : value
    return items.length === 0 ? undefined : items.map(item => tidy(item))
  }
  if (typeof value !== 'object' || value === null) return value || undefined
  const members = Object.entries(value)
    .map(([name, member]) => [name, tidy(member, name)] as const)
    .filter(([, member]) => member !== undefined)
  return members.length === 0 ? undefined : Object.fromEntries(members)
}

async function defineWidgets(api: Api): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const spec = {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [{ name: 'v1', served: true, storage: true, schema }],
  }
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const made = await api.ok(
    api.post(path, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec,
    }),
  )
  const watch = await api.watch(`${path}?watch=1&resourceVersion=${made.metadata.resourceVersion}`)
  await watch.until(({ object }) => established(object))
  watch.close()
}

function established({ status }: KubeObject): boolean {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] }
  return conditions.some(({ type, status }) => type === 'Established' && status === 'True')
}
