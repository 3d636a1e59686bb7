/** Versions of custom resources: stored in one, served in all, converted by apiVersion alone or by a webhook. */
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { Answer, Api } from '../support/api.ts'
import { type Review, startConverter } from '../support/converter.ts'
import { crdsIn } from '../support/crds.ts'
import { createSpace, startTestServer, WEBHOOKS_HERE } from '../support/server.ts'

const { api, server, faults } = await startTestServer(t, WEBHOOKS_HERE)
const GROUP = 'stable.example.com'
const v1 = `/apis/${GROUP}/v1/namespaces/default/crontabs`
const v2 = `/apis/${GROUP}/v2/namespaces/default/crontabs`

const text = { type: 'string' }
const V1 = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { hostPort: { ...text, pattern: ':' }, mode: text } } },
}
const V2 = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['host'],
      properties: { host: text, port: text, mode: { ...text, default: 'tcp' }, note: text },
    },
  },
}
const version = (name: string, schema: object, more: object = {}) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: schema },
  ...more,
})
const definition = (conversion: object | undefined, versions: object[] = [version('v1', V1), version('v2', V2)]) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `crontabs.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'crontabs', kind: 'CronTab' },
    versions,
    ...(conversion && { conversion }),
  },
})
const webhook = (clientConfig: object, conversionReviewVersions = ['v1', 'v1beta1']) => ({
  strategy: 'Webhook',
  webhook: { clientConfig, conversionReviewVersions },
})
const tab = (apiVersion: string, name: string, spec: object, metadata: object = {}) => ({
  apiVersion: `${GROUP}/${apiVersion}`,
  kind: 'CronTab',
  metadata: { name, ...metadata },
  spec,
})

/** v1 says `hostPort: h:p`, v2 says `host: h` and `port: p`. */
function hostPorts(object: KubeObject, apiVersion: string): KubeObject {
  const spec = { ...(object.spec as Record<string, string>) }
  if (apiVersion.endsWith('/v2')) {
    const [host = '', port = ''] = (spec.hostPort ?? '').split(':')
    delete spec.hostPort
    Object.assign(spec, { host, port })
  } else {
    spec.hostPort = `${spec.host}:${spec.port ?? ''}`
    delete spec.host
    delete spec.port
  }
  return { ...object, apiVersion, spec }
}
const ids = new Map<Api, string>()
const spaceOf = async (name: string): Promise<Api> => {
  const id = await createSpace(api, name)
  const space = api.in(id)
  ids.set(space, id)
  return space
}
const stored = async (of: Api, name: string): Promise<KubeObject> => {
  const space = ids.get(of)!
  const found = await server.store.get({ space, group: GROUP, resource: 'crontabs', namespace: 'default', name })
  return JSON.parse(found!.bytes.toString())
}

t.test('a webhook converts between versions', async t => {
  const converter = await startConverter(t, hostPorts)
  const space = await spaceOf('hooked')
  const crds = crdsIn(space)
  await crds.define(definition(webhook(converter.clientConfig)))

  const made = await api.ok(space.post(v2, tab('v2', 'a', { host: 'h', port: '1', note: 'x' })))
  t.match(
    made,
    { apiVersion: `${GROUP}/v2`, spec: { host: 'h', port: '1', mode: 'tcp' } },
    'defaults are those of its version',
  )
  t.match(
    await stored(space, 'a'),
    { apiVersion: `${GROUP}/v1`, spec: { hostPort: 'h:1', mode: 'tcp' } },
    'stored in the storage version',
  )
  t.notOk('note' in ((await stored(space, 'a')).spec as object), 'and pruned by its schema')
  t.match(await api.ok(space.get(`${v1}/a`)), { apiVersion: `${GROUP}/v1`, spec: { hostPort: 'h:1' } })
  t.match(await api.ok(space.get(`${v2}/a`)), { apiVersion: `${GROUP}/v2`, spec: { host: 'h', port: '1' } })

  t.match(await space.post(v2, tab('v2', 'bad', { port: '1' })), {
    code: 422,
    body: { message: 'CronTab.stable.example.com "bad" is invalid: spec.host: Required value' },
  })

  t.test('patch, apply and update work in the version of the request', async t => {
    const patched = await api.ok(space.patch(`${v2}/a`, 'merge', { spec: { port: '2' } }))
    t.match(patched, { apiVersion: `${GROUP}/v2`, spec: { host: 'h', port: '2' }, metadata: { generation: 2 } })
    t.match((await stored(space, 'a')).spec, { hostPort: 'h:2' })
    const applied = await api.ok(
      space.patch(`${v2}/a?fieldManager=me&force=true`, 'apply', tab('v2', 'a', { host: 'g', port: '3' })),
    )
    t.match(applied, { apiVersion: `${GROUP}/v2`, spec: { host: 'g', port: '3' } })
    t.match(
      applied.metadata.managedFields?.find(entry => entry.manager === 'me'),
      {
        operation: 'Apply',
        apiVersion: `${GROUP}/v2`,
        fieldsV1: { 'f:spec': { 'f:host': {}, 'f:port': {} } },
      },
    )
    const { spec: _, ...rest } = await api.ok(space.get(`${v1}/a`))
    t.match(await api.ok(space.put(`${v1}/a`, { ...rest, spec: { hostPort: 'z:9' } })), { spec: { hostPort: 'z:9' } })
    t.match(await api.ok(space.get(`${v2}/a`)), { spec: { host: 'z', port: '9' } })
    const { resourceVersion } = (await api.ok(space.patch(`${v2}/a`, 'merge', { spec: { mode: 'udp' } }))).metadata
    await api.ok(space.patch(`${v2}/a`, 'merge', { spec: { port: '9' } }))
    t.equal(
      (await api.ok(space.get(`${v2}/a`))).metadata.resourceVersion,
      resourceVersion,
      'nothing new, nothing written',
    )
    t.match(await api.ok(space.patch(`${v2}/a?dryRun=All`, 'merge', { spec: { port: '7' } })), { spec: { port: '7' } })
  })

  t.test('a list and a batch of events are one request', async t => {
    for (const name of ['b', 'c', 'd']) await api.ok(space.post(v1, tab('v1', name, { hostPort: `${name}:1` })))
    converter.reviews.length = 0
    const list = await api.ok(space.get(v2))
    t.strictSame(
      list.items.map(item => (item.spec as { host: string }).host),
      ['z', 'b', 'c', 'd'],
    )
    t.strictSame(new Set(list.items.map(item => item.apiVersion)), new Set([`${GROUP}/v2`]))
    t.ok(converter.reviews.length <= 1, 'what was converted before need not be converted again')
    const watch = await space.watch(`${v2}?watch=1`)
    const first = await watch.take(4)
    t.match(
      first.map(event => [event.type, event.object.spec]),
      [
        ['ADDED', { host: 'z' }],
        ['ADDED', { host: 'b' }],
        ['ADDED', { host: 'c' }],
        ['ADDED', { host: 'd' }],
      ],
    )
    await api.ok(space.patch(`${v1}/b`, 'merge', { spec: { hostPort: 'bb:2' } }))
    await api.ok(space.delete(`${v1}/d`))
    t.match(await watch.take(2), [
      { type: 'MODIFIED', object: { apiVersion: `${GROUP}/v2`, spec: { host: 'bb', port: '2' } } },
      { type: 'DELETED', object: { apiVersion: `${GROUP}/v2`, spec: { host: 'd' } } },
    ])
    watch.close()
    const columns = await api.ok(space.get(v2, { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }))
    t.equal((columns as unknown as { rows: unknown[] }).rows.length, 3)
  })

  t.test('the webhook sees a ConversionReview', async t => {
    converter.reviews.length = 0
    await api.ok(space.post(v2, tab('v2', 'seen', { host: 'h', port: '1' })))
    t.match(converter.reviews[0], {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      request: {
        uid: /^[0-9a-f-]{36}$/,
        desiredAPIVersion: `${GROUP}/v1`,
        objects: [{ apiVersion: `${GROUP}/v2`, spec: { host: 'h' } }],
      },
    })
  })

  t.test('what a webhook may not do', async t => {
    const failure = 'Internal error occurred: conversion webhook for stable.example.com/v2, Kind=CronTab '
    const cases: [convert: Parameters<typeof startConverter>[1], message: string][] = [
      [
        o => ({ ...o, apiVersion: `${GROUP}/v3` }),
        'returned invalid object at index 0: invalid groupVersion (expected stable.example.com/v1, received stable.example.com/v3)',
      ],
      [
        (o, a) => ({ ...o, apiVersion: a, kind: 'X' }),
        'returned invalid object at index 0: invalid kind (expected CronTab, received X)',
      ],
      [
        (o, a) => ({ ...o, apiVersion: a, metadata: { ...o.metadata, name: 'y' } }),
        'returned invalid object: must have the same name: x != y',
      ],
      [
        (o, a) => ({ ...o, apiVersion: a, metadata: undefined as never }),
        'returned invalid object: must have the same name: x != ',
      ],
      [
        (o, a) => ({ ...o, apiVersion: a, metadata: { ...o.metadata, labels: { a: 1 } as never } }),
        'returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object',
      ],
      [
        () => {
          throw new Error('no way')
        },
        'failed: no way',
      ],
    ]
    for (const [convert, message] of cases) {
      converter.convert = convert
      t.match(
        await space.post(v2, tab('v2', 'x', { host: 'h', port: '1' })),
        { code: 500, body: { reason: 'InternalError', message: failure + message } },
        message,
      )
    }
    converter.convert = (o, a) => {
      const converted = hostPorts(o, a)
      return {
        ...converted,
        metadata: { ...converted.metadata, labels: { added: 'yes' }, finalizers: ['a/b'], generation: 77 },
      }
    }
    await api.ok(space.post(v2, tab('v2', 'meta', { host: 'h', port: '1' })))
    const kept = await stored(space, 'meta')
    t.match(kept.metadata, { labels: { added: 'yes' }, generation: 1 }, 'labels and annotations are its to change')
    t.notOk(kept.metadata.finalizers, 'and nothing else')
    converter.convert = hostPorts
  })

  t.test('answers that are none', async t => {
    const failure = 'Internal error occurred: conversion webhook for stable.example.com/v2, Kind=CronTab failed: '
    const post = (): Promise<Answer> => space.post(v2, tab('v2', 'x', { host: 'h', port: '1' }))
    const cases: [answer: (review: Review) => unknown, message: string | RegExp][] = [
      [r => ({ ...r, response: undefined }), `${failure}no response provided`],
      [
        r => ({ ...r, response: { uid: 'other', result: { status: 'Success' } } }),
        /failed: expected response\.uid="[0-9a-f-]+", got another$/,
      ],
      [
        r => ({ ...r, response: { uid: r.request.uid, result: {} } }),
        `${failure}response.result.status was '', not 'Success'`,
      ],
      [
        r => ({ ...r, apiVersion: 'x/v1', response: {} }),
        `${failure}expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview`,
      ],
      [
        r => ({
          ...r,
          response: { uid: r.request.uid, result: { status: 'Success' }, convertedObjects: [] },
        }),
        'Internal error occurred: conversion webhook for stable.example.com/v2, Kind=CronTab returned 0 objects, expected 1',
      ],
    ]
    for (const [answer, message] of cases) {
      converter.answer = answer
      t.match(await post(), { code: 500, body: { message } })
    }
    converter.answer = undefined
    await api.ok(post())
  })
})

t.test('v1beta1 reviews, and webhooks that cannot be asked', async t => {
  const converter = await startConverter(t, hostPorts)
  const space = await spaceOf('older')
  const crds = crdsIn(space)
  await crds.define(definition(webhook(converter.clientConfig, ['v7', 'v1beta1'])))
  await api.ok(space.post(v2, tab('v2', 'a', { host: 'h', port: '1' })))
  t.equal(converter.reviews[0]!.apiVersion, 'apiextensions.k8s.io/v1beta1')
  t.match((await stored(space, 'a')).spec, { hostPort: 'h:1' })

  const { url } = converter.clientConfig
  await crds.change(definition(webhook({ url })))
  t.match(await space.get(`${v2}/a`), {
    code: 500,
    body: {
      message: `Internal error occurred: conversion webhook for stable.example.com/v1, Kind=CronTab failed: Post "${url}?timeout=30s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
    },
  })
  t.equal((await space.get(`${v1}/a`)).code, 200, 'the storage version needs no webhook')
  await crds.change(
    definition(webhook({ service: { namespace: 'x', name: 'y' }, caBundle: converter.clientConfig.caBundle })),
  )
  t.match(await space.get(v2), {
    code: 500,
    body: { message: /failed: Post "https:\/\/y\.x\.svc:443\/\?timeout=30s": service "y" not found$/ },
  })
  t.match(await space.post(v2, tab('v2', 'b', { host: 'h' })), { code: 500 })
  await crds.change(definition(webhook({ url: 'https://example.com:99999/x' })))
  t.match(await space.get(v2), {
    code: 500,
    body: { message: /failed: Post "https:\/\/example\.com:99999\/x": there can/ },
  })
  t.equal((await space.delete(`${v2}/a`)).code, 200, 'a deletion converts nothing')
})

t.test('a webhook behind a Service of the space is found through it', async t => {
  const converter = await startConverter(t, hostPorts)
  const { url, caBundle } = converter.clientConfig
  const space = await spaceOf('serving')
  await api.ok(
    space.post('/api/v1/namespaces/default/services', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'converter' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    }),
  )
  const service = { namespace: 'default', name: 'converter', path: '/convert', port: Number(new URL(url).port) }
  await crdsIn(space).define(definition(webhook({ service, caBundle })))
  await api.ok(space.post(v2, tab('v2', 'a', { host: 'h', port: '1' })))
  t.match((await stored(space, 'a')).spec, { hostPort: 'h:1' })
})

t.test('without a webhook only the version is exchanged', async t => {
  const space = await spaceOf('plain')
  const crds = crdsIn(space)
  const loose = { type: 'object', properties: { spec: { type: 'object', properties: { host: text, hostPort: text } } } }
  await crds.define(definition(undefined, [version('v1', loose), version('v2', V2)]))
  await api.ok(space.post(v1, tab('v1', 'a', { hostPort: 'h:1', host: 'h' })))
  const read = await api.ok(space.get(`${v2}/a`))
  t.strictSame(
    [read.apiVersion, read.spec],
    [`${GROUP}/v2`, { host: 'h' }],
    'what its schema does not know is not shown',
  )

  t.test('the storage version changes, what is stored stays until it is written', async t => {
    const crd = await crds.change(
      definition(undefined, [version('v1', loose, { storage: false }), version('v2', V2, { storage: true })]),
    )
    t.strictSame((crd.status as { storedVersions: string[] }).storedVersions, ['v1', 'v2'])
    t.equal((await stored(space, 'a')).apiVersion, `${GROUP}/v1`)
    t.match(await api.ok(space.get(`${v2}/a`)), { apiVersion: `${GROUP}/v2`, spec: { host: 'h' } })
    await api.ok(space.post(v2, tab('v2', 'b', { host: 'h' })))
    t.equal((await stored(space, 'b')).apiVersion, `${GROUP}/v2`)
    t.strictSame(
      (await api.ok(space.get(v1))).items.map(item => item.apiVersion),
      [`${GROUP}/v1`, `${GROUP}/v1`],
    )
    await api.ok(space.put(`${v2}/a`, await api.ok(space.get(`${v2}/a`))))
    t.equal((await stored(space, 'a')).apiVersion, `${GROUP}/v2`, 'a write that changes nothing else migrates it')
  })

  t.test('a version that may be stored stays in the definition', async t => {
    const only = definition(undefined, [version('v2', V2, { storage: true })])
    const current = await api.ok(space.get(crds.path(`crontabs.${GROUP}`)))
    t.match(await space.put(crds.path(`crontabs.${GROUP}`), { ...current, spec: only.spec }), {
      code: 422,
      body: {
        message:
          'CustomResourceDefinition.apiextensions.k8s.io "crontabs.stable.example.com" is invalid: status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
      },
    })
    const statusPath = `${crds.path(`crontabs.${GROUP}`)}/status`
    t.match(await space.patch(statusPath, 'merge', { status: { storedVersions: ['v1'] } }), {
      code: 422,
      body: { message: /must have the storage version v2/ },
    })
    await api.ok(space.patch(statusPath, 'merge', { status: { storedVersions: ['v2'] } }))
    const crd = await crds.change(only)
    t.strictSame((crd.status as { storedVersions: string[] }).storedVersions, ['v2'])
    t.equal((await space.get(v1)).code, 404)
  })

  t.test('deprecated versions are served with a warning', async t => {
    const versions = [version('v1', loose, { storage: false, deprecated: true }), version('v2', V2, { storage: true })]
    await crds.change(definition(undefined, versions))
    t.match(
      (await space.get(v1)).headers.warning,
      'stable.example.com/v1 CronTab is deprecated; use stable.example.com/v2 CronTab',
    )
    t.notOk((await space.get(v2)).headers.warning)
  })
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
