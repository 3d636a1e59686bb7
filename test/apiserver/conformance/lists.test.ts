/** Lists in chunks, Tables, and the documents by which clients find out what is served. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { crdsIn } from '../../support/crds.ts'
import { startTestServer } from '../../support/server.ts'
import { pod, podTemplate } from './cluster.ts'

const { api, server, faults } = await startTestServer(t)
const TEMPLATES = '/api/v1/namespaces/default/podtemplates'
const TOTAL = 40

await Promise.all(
  Array.from({ length: TOTAL }, (_, n) => {
    const metadata = { name: `template-${String(n).padStart(4, '0')}` }
    const template = podTemplate({ app: 'chunked' })
    return api.ok(api.post(TEMPLATES, { apiVersion: 'v1', kind: 'PodTemplate', metadata, template }))
  }),
)

interface ListMeta {
  resourceVersion: string
  continue?: string
  remainingItemCount?: number
}
const metaOf = (list: object): ListMeta => (list as { metadata: ListMeta }).metadata

// Servers with support for API chunking should return chunks of results for list calls
t.test('a list in chunks is whole, of one version, and says how much is left', async t => {
  const names: string[] = []
  let token = ''
  let version: string | undefined
  for (;;) {
    const list = await api.ok(api.get(`${TEMPLATES}?limit=17${token && `&continue=${encodeURIComponent(token)}`}`))
    const { resourceVersion, continue: next, remainingItemCount } = metaOf(list)
    version ??= resourceVersion
    t.equal(resourceVersion, version, 'the version of the first chunk')
    t.ok(list.items.length <= 17, 'never more than asked for')
    names.push(...list.items.map(({ metadata }) => metadata.name!))
    if (!next) break
    t.equal(remainingItemCount, TOTAL - names.length, 'what is left')
    token = next
  }
  t.same(names, [...new Set(names)].sort(), 'each once, in order')
  t.equal(names.length, TOTAL)
  const whole = await api.ok(api.get(TEMPLATES))
  t.equal(whole.items.length, TOTAL)
  t.equal(metaOf(whole).remainingItemCount, undefined)
})

// Servers … should support continue listing from the last key if the original version has been compacted away
t.test('when the version of a list is forgotten, its token says how to go on from the last name', async t => {
  const first = await api.ok(api.get(`${TEMPLATES}?limit=10`))
  await api.ok(api.patch(`${TEMPLATES}/template-0000`, 'merge', { metadata: { labels: { touched: 'yes' } } }))
  await server.store.compact(server.store.revision)
  const gone = await api.get(`${TEMPLATES}?limit=10&continue=${encodeURIComponent(metaOf(first).continue!)}`)
  t.equal(gone.code, 410)
  t.equal(gone.body.reason, 'Expired')
  const names = first.items.map(({ metadata }) => metadata.name!)
  let version: string | undefined
  for (let token: string | undefined = metaOf(gone.body).continue; token; ) {
    const list = await api.ok(api.get(`${TEMPLATES}?limit=10&continue=${encodeURIComponent(token)}`))
    version ??= metaOf(list).resourceVersion
    t.equal(metaOf(list).resourceVersion, version, 'consistent from here on')
    t.not(version, metaOf(first).resourceVersion, 'with a newer version')
    names.push(...list.items.map(({ metadata }) => metadata.name!))
    token = metaOf(list).continue
  }
  t.same(names, [...new Set(names)].sort())
  t.equal(names.length, TOTAL)
})

// Servers with support for Table transformation should return pod details; generic metadata details; chunks of table results
t.test('Tables: rows for people, for every list, in chunks too', async t => {
  const accept = { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
  interface Table {
    kind: string
    apiVersion: string
    columnDefinitions: { name: string; format: string; priority: number }[]
    rows: { cells: unknown[]; object: KubeObject }[]
  }
  const pods = '/api/v1/namespaces/default/pods'
  await api.ok(api.post(pods, pod('table-1')))
  const table = (await api.get(`${pods}/table-1`, accept)).body as unknown as Table
  t.match(table, { kind: 'Table', apiVersion: 'meta.k8s.io/v1' })
  t.match(table.columnDefinitions[0], { name: 'Name', format: 'name' })
  t.equal(table.rows.length, 1)
  t.equal(table.rows[0]!.cells[0], 'table-1')
  t.equal(table.rows[0]!.cells.length, table.columnDefinitions.length)
  t.match(table.rows[0]!.object, { kind: 'PartialObjectMetadata', metadata: { name: 'table-1' } })
  const first = (await api.get(`${TEMPLATES}?limit=2`, accept)).body as unknown as Table
  t.same(
    first.rows.map(({ cells }) => cells[0]),
    ['template-0000', 'template-0001'],
  )
  const next = encodeURIComponent(metaOf(first).continue!)
  const second = (await api.get(`${TEMPLATES}?limit=2&continue=${next}`, accept)).body as unknown as Table
  t.same(
    second.rows.map(({ cells }) => cells[0]),
    ['template-0002', 'template-0003'],
  )
  const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const review = { spec: { resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } } }
  // should return a 406 for a backend which does not implement metadata
  const refused = await api.post(
    reviews,
    { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', ...review },
    { headers: accept },
  )
  t.equal(refused.code, 406)
})

// server version should find the server version
t.test('/version tells whole numbers', async t => {
  const { major, minor, gitVersion } = (await api.ok(api.get('/version'))) as unknown as Record<string, string>
  t.match(major, /^\d+$/)
  t.match(minor, /^\d+$/)
  t.match(gitVersion, `v${major}.${minor}.`)
})

interface Group {
  name: string
  versions: { groupVersion: string; version: string }[]
  preferredVersion: { groupVersion: string; version: string }
}

// Discovery should validate PreferredVersion for each APIGroup; should locate the groupVersion and a resource within each
t.test('discovery: each group prefers a version that it has, and each version has resources', async t => {
  const { groups } = (await api.ok(api.get('/apis'))) as unknown as { groups: Group[] }
  t.ok(groups.length > 15)
  for (const group of groups) {
    const alone = (await api.ok(api.get(`/apis/${group.name}`))) as unknown as Group
    t.same(alone.versions, group.versions, `${group.name}: /apis and /apis/${group.name} agree`)
    t.ok(
      group.versions.some(({ groupVersion }) => groupVersion === group.preferredVersion.groupVersion),
      `${group.name} prefers what it has`,
    )
    for (const { groupVersion } of group.versions) {
      const list = (await api.ok(api.get(`/apis/${groupVersion}`))) as unknown as {
        groupVersion: string
        resources: { name: string; verbs: string[] }[]
      }
      t.equal(list.groupVersion, groupVersion)
      t.ok(list.resources.every(({ verbs }) => verbs.length > 0) && list.resources.length > 0, groupVersion)
    }
  }
})

// AggregatedDiscovery should support raw aggregated discovery endpoint Accept headers; for CRDs
t.test('aggregated discovery tells everything in one document, CRDs too', async t => {
  await crdsIn(api).define({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'found.discovery.example.com' },
    spec: {
      group: 'discovery.example.com',
      scope: 'Namespaced',
      names: { plural: 'found', singular: 'finding', kind: 'Found' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  })
  interface Aggregated {
    kind: string
    items: { metadata: { name?: string }; versions: { version: string; resources: { resource: string }[] }[] }[]
  }
  for (const version of ['v2', 'v2beta1']) {
    const headers = { Accept: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList` }
    const has = async (path: string, group: string | undefined, resource: string): Promise<boolean> => {
      const answer = await api.get(path, headers)
      t.match(answer.headers['content-type'], `v=${version};as=APIGroupDiscoveryList`)
      const { kind, items } = answer.body as unknown as Aggregated
      t.equal(kind, 'APIGroupDiscoveryList')
      const [first] = items.find(({ metadata }) => metadata.name === group)?.versions ?? []
      return first?.version === 'v1' && first.resources.some(each => each.resource === resource)
    }
    t.ok(await has('/api', undefined, 'namespaces'), `${version}: core`)
    t.ok(await has('/apis', 'apps', 'deployments'), `${version}: apps`)
    t.ok(await has('/apis', 'discovery.example.com', 'found'), `${version}: CRDs`)
  }
})

// OpenAPIV3 should round trip OpenAPI V3 for all built-in group versions; should publish OpenAPI V3 for CustomResourceDefinition
t.test('OpenAPI v3 is there for every group version that is served', async t => {
  const { paths } = (await api.ok(api.get('/openapi/v3'))) as unknown as {
    paths: Record<string, { serverRelativeURL: string }>
  }
  const { groups } = (await api.ok(api.get('/apis'))) as unknown as { groups: Group[] }
  const served = groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => `apis/${groupVersion}`))
  t.same(
    ['api/v1', ...served].filter(path => !(path in paths)),
    [],
    'each is named',
  )
  for (const path of ['api/v1', 'apis/apps/v1', 'apis/discovery.example.com/v1']) {
    const document = (await api.ok(api.get(paths[path]!.serverRelativeURL))) as unknown as {
      openapi: string
      paths: object
      components: { schemas: object }
    }
    t.match(document.openapi, /^3\.0/, path)
    t.ok(Object.keys(document.paths).length > 0 && Object.keys(document.components.schemas).length > 0, path)
  }
})

t.test('nothing was logged as an error', async t => t.same(faults, []))
