import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import t from 'tap'
import type { StreamBatch, WatchEvent } from '../../../src/client/client.ts'
import { DiscoveryError } from '../../../src/client/discoveryError.ts'
import { type HttpClientOptions, httpClient, httpSpaceClient } from '../../../src/client/http/httpClient.ts'

const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' }

interface Seen {
  line: string
  headers: http.IncomingHttpHeaders
  body: string
}

/** A server with scripted answers, and its requests. */
async function scripted(t: Test, answer: (seen: Seen, response: http.ServerResponse) => void) {
  const seen: Seen[] = []
  const server = http.createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const one = { line: `${request.method} ${request.url}`, headers: request.headers, body }
    seen.push(one)
    answer(one, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clients: { close(): void }[] = []
  t.teardown(() => {
    for (const client of clients) client.close()
    server.closeAllConnections()
    server.close()
  })
  const client = (options: Partial<HttpClientOptions> = {}) => {
    const made = httpClient({ server: url, ...options })
    clients.push(made)
    return made
  }
  return { seen, url, client, server }
}

const json = (response: http.ServerResponse, code: number, body: unknown, headers: http.OutgoingHttpHeaders = {}) =>
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n', resourceVersion: '7' } }
const status = (code: number, reason: string) => ({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  code,
  reason,
  message: reason,
})

t.test('an answer about another object is none', async t => {
  const { client } = await scripted(t, (_, response) => json(response, 200, object))
  const space = client().in('s')
  const mixedUp = { reason: 'InternalError', message: /is about another object, a$/ }
  await t.rejects(space.get(CONFIG_MAPS, { namespace: 'n', name: 'b' }), mixedUp)
  await t.rejects(space.get(CONFIG_MAPS, { namespace: 'm', name: 'a' }), mixedUp)
  t.match(await space.get(CONFIG_MAPS, { namespace: 'n', name: 'a' }), object)
  const b = { ...object, metadata: { ...object.metadata, name: 'b' } }
  await t.rejects(space.create(CONFIG_MAPS, b), mixedUp, 'nor is it the one that was made')
  await t.rejects(space.update(CONFIG_MAPS, b), mixedUp)
  await t.rejects(space.patch(CONFIG_MAPS, { namespace: 'n', name: 'b' }, 'merge', {}), mixedUp)
  const { name: _, ...unnamed } = object.metadata
  t.match(await space.create(CONFIG_MAPS, { ...object, metadata: unnamed }), object, 'the server may choose a name')
})

t.test('an answer without end is left, and what a refusal says is read as far as anybody wants to know', async t => {
  let code = 200
  const left: Promise<unknown>[] = []
  const { client } = await scripted(t, (_, response) => {
    const part = 'x'.repeat(65_536)
    const more = (): void => {
      while (!response.destroyed && response.write(part));
    }
    left.push(once(response, 'close'))
    response.on('drain', more)
    response.writeHead(code)
    more()
  })
  const space = client({ answerLimitBytes: 1_000_000 }).in('s')
  const tooLong = {
    reason: 'RequestEntityTooLarge',
    message: 'GET /clusters/s/api/v1/configmaps?limit=1: the answer has more than 1000000 bytes',
  }
  await t.rejects(space.list(CONFIG_MAPS, { limit: 1 }), tooLong)
  code = 500
  await t.rejects(space.list(CONFIG_MAPS, { limit: 1 }), { code: 500, message: 'x'.repeat(1000) })
  await Promise.all(left)
})

t.test('requests are those of the Kubernetes API below the space', async t => {
  const { seen, client, url } = await scripted(t, (_, response) => json(response, 200, object))
  const space = client({ token: async () => 'secret', userAgent: 'me' }).in('root:a')
  await space.get(CONFIG_MAPS, { namespace: 'n', name: 'a' })
  await space.create(CONFIG_MAPS, object, { fieldManager: 'm' })
  await space.update(DEPLOYMENTS, object, { subresource: 'status' })
  await space.patch(DEPLOYMENTS, { namespace: 'n', name: 'a' }, 'apply', { x: 1 }, { fieldManager: 'm', force: true })
  await space.delete(CONFIG_MAPS, { name: 'a' }, { propagationPolicy: 'Orphan', preconditions: { uid: 'u' } })
  await space.create(CONFIG_MAPS, object, { subresource: 'token' })
  const plain = httpSpaceClient({ server: `${url}/prefix/` })
  await plain.get(CONFIG_MAPS, { name: 'a' })
  plain.close()
  t.strictSame(
    seen.map(s => s.line),
    [
      'GET /clusters/root:a/api/v1/namespaces/n/configmaps/a',
      'POST /clusters/root:a/api/v1/namespaces/n/configmaps?fieldManager=m',
      'PUT /clusters/root:a/apis/apps/v1/namespaces/n/deployments/a/status',
      'PATCH /clusters/root:a/apis/apps/v1/namespaces/n/deployments/a?fieldManager=m&force=true',
      'DELETE /clusters/root:a/api/v1/configmaps/a',
      'POST /clusters/root:a/api/v1/namespaces/n/configmaps/a/token',
      'GET /prefix/api/v1/configmaps/a',
    ],
  )
  t.equal(seen[0]!.headers.authorization, 'Bearer secret')
  t.equal(seen[0]!.headers['user-agent'], 'me')
  t.equal(seen[3]!.headers['content-type'], 'application/apply-patch+yaml')
  t.match(JSON.parse(seen[4]!.body), {
    kind: 'DeleteOptions',
    propagationPolicy: 'Orphan',
    preconditions: { uid: 'u' },
  })
})

t.test('a client in the name of a user says so with each request, and the client itself does not', async t => {
  const { seen, url } = await scripted(t, (_, response) => json(response, 200, object))
  const client = httpSpaceClient({ server: url, token: 'secret' })
  t.teardown(() => client.close())
  await client.as('orrery:space:abc').get(CONFIG_MAPS, { namespace: 'n', name: 'a' })
  await client.get(CONFIG_MAPS, { namespace: 'n', name: 'a' })
  t.same(
    seen.map(({ headers }) => [headers.authorization, headers['impersonate-user']]),
    [
      ['Bearer secret', 'orrery:space:abc'],
      ['Bearer secret', undefined],
    ],
  )
})

t.test('a list tells its version, its continuation and the kind of its items', async t => {
  const { seen, client } = await scripted(t, (_, response) =>
    json(response, 200, {
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '9', continue: 'more' },
      items: [{ metadata: { name: 'a' } }],
    }),
  )
  const list = await client().in('*').list(CONFIG_MAPS, { labelSelector: 'a in (b)', limit: 1, continue: 'c' })
  t.strictSame(list, {
    items: [{ metadata: { name: 'a' }, kind: 'ConfigMap', apiVersion: 'v1' }],
    resourceVersion: '9',
    continue: 'more',
    bytes: 131,
  })
  t.equal(seen[0]!.line, 'GET /clusters/*/api/v1/configmaps?labelSelector=a+in+%28b%29&limit=1&continue=c')
})

t.test('errors are Status errors, whatever the body; a dead server is ServiceUnavailable', async t => {
  const bodies: [number, string][] = [
    [409, JSON.stringify({ ...status(409, 'AlreadyExists'), details: { name: 'a' } })],
    [502, 'bad gateway'],
    [404, ''],
  ]
  const { client, server } = await scripted(t, (_, response) => {
    const [code, body] = bodies.shift()!
    response.writeHead(code).end(body)
  })
  const space = client().in('s')
  await t.rejects(space.create(CONFIG_MAPS, object), {
    name: 'StatusError',
    reason: 'AlreadyExists',
    code: 409,
    details: { name: 'a' },
  })
  await t.rejects(space.get(CONFIG_MAPS, { name: 'a' }), {
    name: 'StatusError',
    reason: 'InternalError',
    message: 'bad gateway',
  })
  await t.rejects(space.get(CONFIG_MAPS, { name: 'a' }), { name: 'StatusError', reason: 'NotFound' })
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
  await t.rejects(space.get(CONFIG_MAPS, { name: 'a' }), { name: 'StatusError', reason: 'ServiceUnavailable' })
})

t.test('credentials that cannot be had are a StatusError too, and nothing is sent', async t => {
  const { seen, client } = await scripted(t, (_, response) => json(response, 200, object))
  const space = client({ token: () => Promise.reject(new Error('plugin failed')) }).in('s')
  const expected = { name: 'StatusError', reason: 'ServiceUnavailable', message: /plugin failed/ }
  await t.rejects(space.get(CONFIG_MAPS, { name: 'a' }), expected)
  t.equal(seen.length, 0)
})

t.test('a proxy named by the environment is used', async t => {
  const proxy = await scripted(t, (_, response) => json(response, 200, object))
  const before = process.env.HTTP_PROXY
  process.env.HTTP_PROXY = proxy.url
  const client = httpSpaceClient({ server: 'http://api.example.com:6443' })
  if (before === undefined) delete process.env.HTTP_PROXY
  else process.env.HTTP_PROXY = before
  t.teardown(() => client.close())
  await client.get(CONFIG_MAPS, { name: 'a' })
  t.strictSame(
    proxy.seen.map(s => s.line),
    ['GET http://api.example.com:6443/api/v1/configmaps/a'],
  )
})

t.test('Retry-After is heeded: 429 for every method, 503 only where repeating is harmless', async t => {
  let refusals = 2
  let code = 429
  const { seen, client } = await scripted(t, (_, response) => {
    if (refusals-- > 0) json(response, code, status(code, 'TooManyRequests'), { 'retry-after': '0' })
    else json(response, 200, object)
  })
  const space = client().in('s')
  await space.create(CONFIG_MAPS, object)
  t.equal(seen.length, 3)
  code = 503
  refusals = 1
  await space.get(CONFIG_MAPS, { name: 'a' })
  t.equal(seen.length, 5)
  refusals = 1
  await t.rejects(space.create(CONFIG_MAPS, object), { code: 429 })
  t.equal(seen.length, 6)
  refusals = 100
  await t.rejects(space.get(CONFIG_MAPS, { name: 'a' }), { code: 429 })
  t.equal(seen.length, 11, 'not for ever')
})

t.test('a watch gives events and bookmarks, and ends with the error that the server tells', async t => {
  const { seen, client } = await scripted(t, (_, response) => {
    response.writeHead(200)
    const lines = [
      { type: 'ADDED', object },
      { type: 'BOOKMARK', object: { kind: 'ConfigMap', metadata: { resourceVersion: '8' } } },
      { type: 'ERROR', object: status(410, 'Expired') },
    ]
    response.end(lines.map(line => `${JSON.stringify(line)}\n`).join(''))
  })
  const { signal } = new AbortController()
  const events: WatchEvent[] = []
  const read = async () => {
    for await (const batch of client().in('s').watch(CONFIG_MAPS, { resourceVersion: '6', namespace: 'n', signal })) {
      events.push(...batch)
    }
  }
  await t.rejects(read(), { name: 'StatusError', reason: 'Expired', code: 410 })
  t.strictSame(events, [
    { type: 'ADDED', object },
    { type: 'BOOKMARK', resourceVersion: '8' },
  ])
  t.equal(
    seen[0]!.line,
    'GET /clusters/s/api/v1/namespaces/n/configmaps?watch=1&allowWatchBookmarks=true&resourceVersion=6',
  )
})

t.test('what is no object is in no list and no watch', async t => {
  let answer = ''
  const { client } = await scripted(t, (_, response) => response.writeHead(200).end(answer))
  const space = client().in('s')
  const { signal } = new AbortController()
  const nothings = [null, 7, {}, { metadata: null }, { metadata: {} }, { metadata: { name: 7 } }]
  for (const nothing of nothings) {
    answer = JSON.stringify({ kind: 'ConfigMapList', metadata: {}, items: [object, nothing] })
    await t.rejects(space.list(CONFIG_MAPS), { name: 'StatusError', reason: 'InternalError' }, answer)
    answer = `${JSON.stringify({ type: 'MODIFIED', object: nothing })}\n`
    const read = async () => {
      for await (const batch of space.watch(CONFIG_MAPS, { resourceVersion: '6', signal })) t.same(batch, [])
    }
    await t.rejects(read(), { name: 'StatusError', reason: 'InternalError' }, answer)
  }
})

t.test('a watch ends quietly with its signal or with the server, loudly when it breaks or falls silent', async t => {
  const answers: ((response: http.ServerResponse) => void)[] = []
  const { client } = await scripted(t, (_, response) => {
    response.writeHead(200).write(`${JSON.stringify({ type: 'ADDED', object })}\n`)
    answers.shift()!(response)
  })
  const follow = async (idleMs: number, stop = new AbortController()) => {
    const space = client({ watchIdleMs: idleMs }).in('s')
    let count = 0
    for await (const batch of space.watch(CONFIG_MAPS, { resourceVersion: '1', signal: stop.signal })) {
      count += batch.length
      if (answers.length === 3) stop.abort()
    }
    return count
  }
  answers.push(
    () => {},
    response => response.end(),
    response => setImmediate(() => response.destroy()),
    () => {},
  )
  t.equal(await follow(10_000), 1, 'aborted')
  t.equal(await follow(10_000), 1, 'ended by the server')
  await t.rejects(follow(10_000), { name: 'StatusError', reason: 'ServiceUnavailable' }, 'broken off')
  await t.rejects(follow(30), { name: 'StatusError', reason: 'ServiceUnavailable', message: /no word/ }, 'silent')
})

t.test('a syncer takes nothing of a center that names no protocol that it can', async t => {
  const { client } = await scripted(t, ({ line: asked }, response) => {
    const event = { type: 'ADDED', space: 'x', group: '', version: 'v1', resource: 'configmaps', revision: 3 }
    const first = { type: 'BOOKMARK', revision: 0, ...(asked.includes('/newer') && { protocol: 3 }) }
    const lines = asked.includes('/silent') ? [event] : [first, event]
    response.writeHead(200).end(lines.map(line => `${JSON.stringify({ ...line, object: {} })}\n`).join(''))
  })
  const { signal } = new AbortController()
  for (const [space, spoken] of [
    ['silent', 1],
    ['older', 1],
    ['newer', 3],
  ] as const) {
    const taken: StreamBatch[] = []
    const read = async () => {
      const protocols = { oldest: 2, newest: 2 }
      for await (const batch of client().stream({ space, protocols, signal })) taken.push(batch)
    }
    const way = spoken === 1 ? 'new' : 'old'
    const remedy = way === 'new' ? 'upgrade the center, or install an older release' : 'install a newer release'
    await t.rejects(read(), {
      reason: 'NotAcceptable',
      message:
        `this syncer is too ${way} for its center: it speaks protocol 2, the center protocol ${spoken}; ` +
        `${remedy} of the syncer. The cluster keeps what it holds`,
    })
    t.same(taken, [], space)
  }
})

t.test('a space stream gives lazily parsed events, cursors and the end of the snapshot', async t => {
  const deployment = { metadata: { name: 'd', namespace: 'n', annotations: { note: ',"object":' } } }
  const { seen, client } = await scripted(t, (_, response) => {
    const event = { type: 'ADDED', space: 'x', group: 'apps', version: 'v1', resource: 'deployments', revision: 3 }
    const lines = [
      { ...event, object: deployment },
      { type: 'BOOKMARK', revision: 5, synced: true },
      { type: 'QUESTION', question: { id: 'q' } },
      { ...event, type: 'DELETED', revision: 6, namespace: 'n', name: 'e', object: {} },
      { type: 'BOOKMARK', revision: 9 },
    ]
    response.writeHead(200).end(lines.map(line => `${JSON.stringify(line)}\n`).join(''))
  })
  const batches: StreamBatch[] = []
  const resources = [DEPLOYMENTS, CONFIG_MAPS]
  const { signal } = new AbortController()
  const options = { space: '*', resources, session: 's', after: 2, signal }
  for await (const batch of client().stream(options)) batches.push(batch)
  const query = 'resourceVersion=2&resources=deployments.apps%2Cconfigmaps&session=s'
  t.equal(seen[0]!.line, `GET /services/stream/clusters/*?${query}`)
  t.strictSame(
    batches.map(b => [b.events.length, b.revision, b.synced]),
    [
      [1, 3, false],
      [0, 5, true],
      [0, 5, false],
      [1, 6, false],
      [0, 9, false],
    ],
  )
  const [added] = batches[0]!.events
  t.same(batches[2]!.question, { id: 'q' }, 'what is asked has no place in the order')
  const [deleted] = batches[3]!.events
  t.match(added, { type: 'ADDED', space: 'x', resource: DEPLOYMENTS, namespace: 'n', name: 'd', revision: 3 })
  t.strictSame(added!.object, deployment)
  t.equal(added!.object, added!.object, 'parsed once')
  t.ok(added!.mentions('"annotations"'))
  t.notOk(added!.mentions('"revision"'), 'the header is not part of the object')
  t.match(deleted, { type: 'DELETED', namespace: 'n', name: 'e' })
})

t.test('an expired cursor is told as such, as an answer and within the stream', async t => {
  let inside = false
  const { client } = await scripted(t, (_, response) => {
    if (!inside) json(response, 410, status(410, 'Expired'))
    else response.writeHead(200).end(`${JSON.stringify({ type: 'ERROR', object: status(410, 'Expired') })}\n`)
  })
  for (inside of [false, true]) {
    const read = async () => {
      for await (const _ of client().stream({ space: '*', after: 1, signal: new AbortController().signal })) t.fail()
    }
    await t.rejects(read(), { name: 'StatusError', reason: 'Expired' })
  }
})

t.test('discovery: aggregated and classic say the same, a failed group is never an empty one', async t => {
  const resource = (name: string, kind: string, verbs: string[]) => ({ name, kind, namespaced: true, verbs })
  const classic: Record<string, unknown> = {
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/api/v1': { resources: [resource('pods', 'Pod', ['get']), resource('pods/status', 'Pod', ['get'])] },
    '/apis': {
      kind: 'APIGroupList',
      groups: [
        {
          name: 'g',
          versions: [{ groupVersion: 'g/v1beta1' }, { groupVersion: 'g/v1' }],
          preferredVersion: { groupVersion: 'g/v1' },
        },
        { name: 'bad', versions: [{ groupVersion: 'bad/v1' }] },
      ],
    },
    '/apis/g/v1': { resources: [resource('as', 'A', ['list'])] },
    '/apis/g/v1beta1': { resources: [resource('as', 'A', ['list']), resource('bs', 'B', ['list'])] },
  }
  const entry = (plural: string, kind: string, verbs: string[], subresources?: object[]) => ({
    resource: plural,
    responseKind: { group: '', version: '', kind },
    scope: 'Namespaced',
    verbs,
    subresources,
  })
  const aggregated: Record<string, unknown> = {
    '/api': {
      kind: 'APIGroupDiscoveryList',
      items: [
        { versions: [{ version: 'v1', resources: [entry('pods', 'Pod', ['get'], [{ subresource: 'status' }])] }] },
      ],
    },
    '/apis': {
      kind: 'APIGroupDiscoveryList',
      items: [
        {
          metadata: { name: 'g' },
          versions: [
            { version: 'v1', resources: [entry('as', 'A', ['list'])], freshness: 'Current' },
            { version: 'v1beta1', resources: [entry('as', 'A', ['list']), entry('bs', 'B', ['list'])] },
          ],
        },
        { metadata: { name: 'bad' }, versions: [{ version: 'v1', resources: [], freshness: 'Stale' }] },
      ],
    },
  }
  for (const documents of [classic, aggregated]) {
    const { client } = await scripted(t, ({ line }, response) => {
      const path = line.replace('GET /clusters/s', '')
      if (documents[path]) json(response, 200, documents[path])
      else json(response, 503, status(503, 'ServiceUnavailable'))
    })
    const error = await client()
      .in('s')
      .discover()
      .catch(thrown => thrown)
    t.ok(error instanceof DiscoveryError)
    t.match(error.failed, [{ group: 'bad', version: 'v1' }])
    t.strictSame(error.resources, [
      {
        group: '',
        version: 'v1',
        resource: 'pods',
        kind: 'Pod',
        namespaced: true,
        verbs: ['get'],
        subresources: ['status'],
        versions: ['v1'],
      },
      {
        group: 'g',
        version: 'v1',
        resource: 'as',
        kind: 'A',
        namespaced: true,
        verbs: ['list'],
        subresources: [],
        versions: ['v1', 'v1beta1'],
      },
      {
        group: 'g',
        version: 'v1beta1',
        resource: 'bs',
        kind: 'B',
        namespaced: true,
        verbs: ['list'],
        subresources: [],
        versions: ['v1beta1'],
      },
    ])
  }
})

t.test('through a host cluster there are spaces, and no streams of them', async t => {
  const client = httpClient({ server: 'https://127.0.0.1:1/apis/tenancy.kcp.io/v1alpha1/spaces', insecure: true })
  t.teardown(() => client.close())
  const stream = client.stream({ space: 'root:a', signal: AbortSignal.timeout(1000) })
  const refused = {
    reason: 'MethodNotAllowed',
    message: /leads through a host cluster, which carries no space streams/,
  }
  await t.rejects(stream[Symbol.asyncIterator]().next(), refused)
})
