/** OpenAPI of a space against the space itself: what is served is documented, and what is documented is served. */
import t from 'tap'
import { crdsIn } from '../../support/crds.ts'
import { createSpace, startTestServer } from '../../support/server.ts'
import { type DocumentedOperation, operationsOfV2, operationsOfV3 } from './documentedClient.ts'
import { definitionOf } from './servedDefinition.ts'

const { api, faults } = await startTestServer(t)
const space = api.in(await createSpace(api, 'served'))
const bare = api.in(await createSpace(api, 'bare'))
const NAMESPACED = '/api/v1/namespaces/default'
await crdsIn(space).define(definitionOf('things', 'Namespaced', ['v1', 'v2beta1']))
await crdsIn(space).define(definitionOf('places', 'Cluster', ['v1']))
const pod = { containers: [{ name: 'c', image: 'i' }] }
await create(`${NAMESPACED}/pods`, 'v1', 'Pod', { spec: pod })
await create(`${NAMESPACED}/services`, 'v1', 'Service', { spec: { ports: [{ port: 80 }] } })
await create('/api/v1/nodes', 'v1', 'Node', {})
const v2 = await operationsOfV2(space)
const v3 = await operationsOfV3(space)

async function create(path: string, apiVersion: string, kind: string, more: object): Promise<void> {
  await space.ok(space.post(path, { apiVersion, kind, metadata: { name: 'x' }, ...more }))
}

/** As a path of a request for what is named `x` in the namespace `default`. */
function filled(path: string): string {
  return path.replace('{namespace}', 'default').replace(/\{\w+\}/g, 'x')
}

/** Code and message. */
async function asked({ path, method }: DocumentedOperation): Promise<string> {
  const changes = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
  // such a watch is refused, and so has an end
  const query = changes ? '?dryRun=All' : path.includes('/watch/') ? '?resourceVersion=none' : ''
  const { code, body } = await space.send(method, `${filled(path)}${query}`, {
    ...(changes && { body: {}, type: method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }),
  })
  return `${code} ${body.message ?? ''}`
}

t.test('what is documented is served', async t => {
  t.ok(v2.length > 1000, `${v2.length} operations`)
  // further groups answer by the same rules: one method of each path is enough there
  const all = /^\/api\/|served[.]example[.]com|kubestellar/
  const firsts = new Map(v2.toReversed().map(operation => [operation.path, operation]))
  const some = v2.filter(operation => all.test(operation.path) || firsts.get(operation.path) === operation)
  for (const operation of some) {
    const answer = await asked(operation)
    const isServed = operation.path.includes('/watch/')
      ? answer.startsWith('400 ')
      : !/^404 (|the server could not find the requested resource)$|^405/.test(answer)
    if (!isServed) t.fail(`${operation.method} ${operation.path}: ${answer}`)
  }
})

t.test('what discovery lists is documented, of built-in kinds and of custom ones', async t => {
  const documented = new Set(v2.map(({ method, path }) => `${method} ${path}`))
  const METHODS: Record<string, string> = {
    get: 'GET',
    update: 'PUT',
    patch: 'PATCH',
    delete: 'DELETE',
    create: 'POST',
  }
  const { paths } = (await space.ok(space.get('/'))) as unknown as { paths: string[] }
  const groupVersions = paths.filter(path => /^\/api\/\w+$|^\/apis\/[^/]+\/[^/]+$/.test(path))
  t.ok(groupVersions.includes('/apis/served.example.com/v2beta1'))
  let count = 0
  for (const root of groupVersions) {
    const { resources } = (await space.ok(space.get(root))) as unknown as { resources: Listed[] }
    for (const { name, namespaced, verbs } of resources) {
      const [resource, subresource] = name.split('/')
      const scope = namespaced ? 'namespaces/{namespace}/' : ''
      const item = `${scope}${resource}/{name}`
      const expected = verbs.flatMap(verb => {
        if (subresource !== undefined) return [`${METHODS[verb]} ${root}/${item}/${subresource}`]
        if (verb === 'list') return [`GET ${root}/${scope}${resource}`, `GET ${root}/${resource}`]
        if (verb === 'watch')
          return [`${scope}${resource}`, `${resource}`, item].map(path => `GET ${root}/watch/${path}`)
        if (verb === 'create') return [`POST ${root}/${scope}${resource}`]
        return verb === 'deletecollection'
          ? [`DELETE ${root}/${scope}${resource}`]
          : [`${METHODS[verb]} ${root}/${item}`]
      })
      count += expected.length
      for (const operation of expected) if (!documented.has(operation)) t.fail(operation)
    }
  }
  t.ok(count > 700, `${count} operations`)
  for (const path of paths.filter(path => /^\/api|^\/(openid|version|\.well-known)/.test(path))) {
    t.ok(documented.has(`GET ${path}`) || documented.has(`GET ${path}/`), path)
  }
  for (const part of ['log', 'exec', 'attach', 'portforward', 'proxy', 'proxy/{path}', 'eviction', 'binding']) {
    const methods = part.startsWith('proxy') ? 7 : part === 'log' || part.endsWith('ion') || part === 'binding' ? 1 : 2
    const path = `/api/v1/namespaces/{namespace}/pods/{name}/${part}`
    t.equal(v2.filter(operation => operation.path === path).length, methods, part)
  }
})

interface Listed {
  name: string
  namespaced: boolean
  verbs: string[]
}

t.test('both versions of OpenAPI tell the same', async t => {
  const told = (operations: DocumentedOperation[]): string[] =>
    operations
      .map(({ path, method, id, action, parameters, produces, answers }) => {
        const names = parameters.map(parameter => parameter.name).filter(name => name !== 'body')
        return JSON.stringify([method, path, id, action, names, produces, answers])
      })
      .sort()
  t.same(told(v3), told(v2))
  t.equal(new Set(v2.map(({ id }) => id)).size, v2.length, 'each operation has a name of its own')
})

t.test('a space documents what it serves and nothing of others', async t => {
  const ofGroup = (operations: DocumentedOperation[]): DocumentedOperation[] =>
    operations.filter(({ path }) => path.includes('served.example.com'))
  t.same(ofGroup(await operationsOfV2(bare)), [])
  t.same(ofGroup(await operationsOfV3(bare)), [])
  for (const path of ['apis/served.example.com', 'apis/served.example.com/v1', 'apis/nobody', 'nothing']) {
    const { code } = await bare.get(`/openapi/v3/${path}`)
    t.equal(code, 404, path)
  }
  const { text } = await space.get('/openapi/v3/apis/served.example.com')
  t.match(text, '/apis/served.example.com/')
})

t.test('answers are of the types that the document names', async t => {
  // work statuses are answered by a controller, and none runs here
  const left = /\/watch\/|\{|(workstatuses|combinedstatuses)$/
  const typed = v2.filter(({ method, path }) => method === 'GET' && !left.test(path))
  for (const { path, produces, answers } of typed) {
    for (const accept of produces.filter(type => !type.includes('stream'))) {
      const { code, headers, body } = await space.get(filled(path), { accept })
      if (code !== 200 || headers['content-type'] !== accept) t.fail(`${path}: ${code} ${headers['content-type']}`)
      const kinds = ['object', 'string', 'Info', body.kind]
      if (accept === 'application/json' && !kinds.includes(answers['200']!)) t.fail(`${path}: ${body.kind}`)
    }
  }
  t.ok(typed.length > 80, `${typed.length} paths`)
})

t.test('nothing of this was a fault', async t => t.same(faults, []))
