import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { ResourceType } from '../../../src/apimachinery/resourceType.ts'
import { partialMetadata, type TableOptions, tableFor } from '../../../src/apiserver/tables/table.ts'

interface Table {
  kind: string
  apiVersion: string
  metadata: object
  columnDefinitions: { name: string; type: string; format: string; description: string; priority: number }[] | null
  rows: { cells: unknown[]; object: unknown; conditions?: unknown[] }[]
}

const now = new Date('2026-01-02T00:00:00Z')

function typeOf(resource: string, more: Partial<ResourceType> = {}): ResourceType {
  return {
    group: '',
    version: 'v1',
    resource,
    singular: '',
    kind: 'Kind',
    listKind: 'KindList',
    shortNames: [],
    categories: [],
    namespaced: true,
    verbs: [],
    storageVersion: 'v1',
    subresources: [],
    schema: undefined,
    columns: [],
    selectableFields: [],
    form: 'struct',
    ...more,
  }
}

function object(fields: object = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Kind',
    metadata: { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' },
    ...fields,
  }
}

function table(type: ResourceType, objects: KubeObject[], more: Partial<TableOptions> = {}): Table {
  const listMeta = { resourceVersion: '7' }
  return tableFor({
    type,
    objects,
    listMeta,
    includeObject: 'Metadata',
    version: 'v1',
    now,
    headers: true,
    ...more,
  }) as Table
}

/** Column name to cell. */
function row(type: ResourceType, fields: object): Record<string, unknown> {
  const { columnDefinitions, rows } = table(type, [object(fields)])
  return Object.fromEntries(columnDefinitions!.map((column, i) => [column.name, rows[0]!.cells[i]]))
}

t.test('a table carries what the client asked for beside the cells', async t => {
  const secret = object({ data: { a: 'eA==' }, type: 'Opaque' })
  const type = typeOf('secrets')
  const metadata = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: secret.metadata }
  t.match(table(type, [secret]), { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '7' } })
  t.same(table(type, [secret]).rows, [{ cells: ['a', 'Opaque', 1, '24h'], object: metadata }])
  t.same(partialMetadata(secret, 'v1'), metadata)
  t.equal(table(type, [secret], { includeObject: 'None' }).rows[0]!.object, null)
  t.same(table(type, [secret], { includeObject: 'Object' }).rows[0]!.object, secret)
  t.equal(table(type, [secret], { headers: false }).columnDefinitions, null, 'later watch events repeat no headers')
  t.equal(table(type, [secret], { version: 'v1beta1' }).apiVersion, 'meta.k8s.io/v1beta1')
})

t.test('kinds without a printer show when they were made', async t => {
  const { columnDefinitions, rows } = table(typeOf('limitranges'), [object()])
  t.match(columnDefinitions, [
    { name: 'Name', type: 'string', format: 'name', priority: 0 },
    { name: 'Created At', type: 'date', format: '' },
  ])
  t.same(rows[0]!.cells, ['a', '2026-01-01T00:00:00Z'])
})

t.test('columns are described by the schema of the field that they show', async t => {
  const schema = { properties: { type: { type: 'string' as const, description: 'What the secret is for.' } } }
  const { columnDefinitions } = table(typeOf('secrets', { schema }), [])
  t.equal(columnDefinitions!.find(c => c.name === 'Type')?.description, 'What the secret is for.')
})

t.test('columns of custom resources', async t => {
  const columns = [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Spec', type: 'string', jsonPath: '.spec', priority: 1 },
    { name: 'Count', type: 'integer', jsonPath: '.status.count' },
    { name: 'Wrong', type: 'integer', jsonPath: '.status.phase' },
    { name: 'Missing', type: 'string', jsonPath: '.status.nothing' },
    { name: 'Since', type: 'date', jsonPath: '.status.since' },
  ] as const
  const type = typeOf('widgets', { group: 'example.com', form: 'custom', columns })
  const status = { phase: 'Up', count: 3, since: '2026-01-01T23:55:00Z' }
  t.same(table(type, [object({ spec: { a: 1 }, status })]).rows[0]!.cells, ['a', 'Up', '{"a":1}', 3, null, null, '5m'])
})

t.test('of a column that cannot be read on, none is shown', async t => {
  const path = (jsonPath: string) => ({ name: jsonPath, type: 'string' as const, jsonPath })
  const columns = [path('.kind'), path('.a['), path('.apiVersion')]
  const shown = table(typeOf('widgets', { group: 'example.com', form: 'custom', columns }), [object({})])
  t.same(
    shown.columnDefinitions!.map(({ name }) => name),
    ['Name', '.kind'],
  )
  t.equal(shown.rows[0]!.cells.length, 2)
})

t.test('the states of a pod become one word', async t => {
  const pods = typeOf('pods')
  const spec = { containers: [{ name: 'c' }], initContainers: [{ name: 'i' }] }
  const pod = (status: object, metadata: object = {}) =>
    row(pods, { spec, status, ...(Object.keys(metadata).length > 0 && { metadata: { name: 'a', ...metadata } }) })
  const running = { name: 'c', ready: true, restartCount: 0, state: { running: {} } }
  t.match(pod({ phase: 'Running', podIP: '10.1.2.3', containerStatuses: [running] }), {
    Ready: '1/1',
    Status: 'Running',
    Restarts: '0',
    IP: '10.1.2.3',
    Node: '<none>',
    'Readiness Gates': '<none>',
  })
  const waiting = { ...running, ready: false, restartCount: 4, state: { waiting: { reason: 'CrashLoopBackOff' } } }
  const lastState = { terminated: { finishedAt: '2026-01-01T23:50:00Z' } }
  t.match(pod({ phase: 'Running', containerStatuses: [{ ...waiting, lastState }] }), {
    Ready: '0/1',
    Status: 'CrashLoopBackOff',
    Restarts: '4 (10m ago)',
  })
  const init = (state: object) => pod({ phase: 'Pending', initContainerStatuses: [{ name: 'i', state }] }).Status
  t.equal(init({ waiting: { reason: 'PodInitializing' } }), 'Init:0/1')
  t.equal(init({ waiting: { reason: 'ImagePullBackOff' } }), 'Init:ImagePullBackOff')
  t.equal(init({ terminated: { exitCode: 2 } }), 'Init:ExitCode:2')
  t.equal(pod({ phase: 'Running' }, { deletionTimestamp: '2026-01-01T00:00:00Z' }).Status, 'Terminating')
  t.equal(pod({ phase: 'Failed', reason: 'Evicted' }).Status, 'Evicted')
  const done = table(pods, [object({ spec, status: { phase: 'Succeeded' } })]).rows[0]!
  t.match(done.conditions, [{ type: 'Completed', status: 'True' }], 'clients may hide pods that are done')
})

t.test('cells of workloads', async t => {
  const template = {
    spec: {
      containers: [
        { name: 'c', image: 'nginx' },
        { name: 'd', image: 'redis' },
      ],
    },
  }
  const selector = { matchLabels: { app: 'x' }, matchExpressions: [{ key: 'b', operator: 'In', values: ['2', '1'] }] }
  t.match(
    row(typeOf('deployments', { group: 'apps' }), {
      spec: { replicas: 3, selector, template },
      status: { readyReplicas: 1, updatedReplicas: 2 },
    }),
    {
      Ready: '1/3',
      'Up-to-date': 2,
      Available: 0,
      Containers: 'c,d',
      Images: 'nginx,redis',
      Selector: 'app=x,b in (1,2)',
    },
  )
  const job = (spec: object, status: object) => row(typeOf('jobs', { group: 'batch' }), { spec, status })
  t.match(job({ completions: 2 }, { succeeded: 1, startTime: '2026-01-01T23:58:00Z' }), {
    Status: 'Running',
    Completions: '1/2',
    Duration: '2m',
  })
  t.equal(job({ parallelism: 3 }, {}).Completions, '0/1 of 3')
  t.equal(job({}, { conditions: [{ type: 'Failed', status: 'True' }] }).Status, 'Failed')
  const metrics = [{ type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } }]
  const hpa = typeOf('horizontalpodautoscalers', { group: 'autoscaling' })
  t.equal(row(hpa, { spec: { metrics } }).Targets, 'cpu: <unknown>/80%')
  t.equal(row(hpa, { spec: { targetCPUUtilizationPercentage: 50 } }).Targets, 'cpu: <unknown>/50%', 'autoscaling/v1')
  t.match(row(typeOf('cronjobs', { group: 'batch' }), { spec: { schedule: '* * * * *', suspend: false } }), {
    Suspend: 'False',
    Timezone: '<none>',
    'Last Schedule': '<none>',
  })
})

t.test('cells of services and endpoints', async t => {
  const service = (spec: object, status: object = {}) => row(typeOf('services'), { spec, status })
  const ports = [{ port: 80, protocol: 'TCP', nodePort: 30080 }]
  t.match(service({ type: 'NodePort', ports, selector: { a: 'b' } }), {
    'Cluster-IP': '<none>',
    'External-IP': '<none>',
    'Port(s)': '80:30080/TCP',
    Selector: 'a=b',
  })
  t.equal(service({ type: 'LoadBalancer', ports })['External-IP'], '<pending>')
  const ingress = [{ ip: '1.2.3.4' }, { hostname: 'b.example' }]
  t.equal(service({ type: 'LoadBalancer' }, { loadBalancer: { ingress } })['External-IP'], '1.2.3.4,b.example')
  t.equal(service({ type: 'ExternalName', externalName: 'x.example' })['External-IP'], 'x.example')
  const addresses = ['1', '2', '3', '4'].map(n => ({ ip: `10.0.0.${n}` }))
  t.equal(
    row(typeOf('endpoints'), { subsets: [{ addresses, ports: [{ port: 80 }] }] }).Endpoints,
    '10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 1 more...',
  )
})

t.test('flow schemas are listed in the order in which they are tried', async t => {
  const schemas = [1000, 1, 100].map(matchingPrecedence => object({ spec: { matchingPrecedence } }))
  const { rows } = table(typeOf('flowschemas', { group: 'flowcontrol.apiserver.k8s.io' }), schemas)
  t.same(
    rows.map(r => r.cells[2]),
    [1, 100, 1000],
  )
})

t.test('the paths of columns are read once for a kind, not for each table', async t => {
  let reads = 0
  const column = {
    name: 'Colour',
    type: 'string' as const,
    get jsonPath() {
      reads++
      return '.spec.colour'
    },
  }
  const type = typeOf('widgets', { columns: [column], form: 'custom' })
  const first = table(type, [object({ spec: { colour: 'red' } })])
  t.same(first.rows[0]!.cells, ['a', 'red'])
  const before = reads
  const again = table(type, [object({ spec: { colour: 'blue' } })])
  t.same(again.rows[0]!.cells, ['a', 'blue'])
  t.equal(reads, before)
})

t.test('two hundred columns of a large object cost what a few do, and those behind are empty', async t => {
  let reads = 0
  const list = Array.from({ length: 1000 }, () => ({
    get a() {
      reads++
      return 'x'
    },
  }))
  const columns = (count: number, jsonPath: string) =>
    Array.from({ length: count }, (_, i) => ({ name: `C${i}`, type: 'string' as const, jsonPath }))
  const searching = typeOf('widgets', { columns: columns(200, '.spec.l[?(@.a=="y")].a'), form: 'custom' })
  const { cells } = table(searching, [object({ spec: { l: list } })]).rows[0]!
  t.equal(cells.length, 201)
  t.ok(reads < 60_000, `${reads} reads`)
  const large = 'x'.repeat(1_000_000)
  const showing = typeOf('gadgets', { columns: columns(200, '.spec.s'), form: 'custom' })
  const objects = [object({ spec: { s: large } }), object({ spec: { s: large } })]
  for (const row of table(showing, objects).rows) {
    const shown = row.cells.filter(cell => cell === large).length
    t.ok(shown >= 1 && shown <= 4, `${shown} of 200 cells`)
    t.equal(row.cells.at(-1), null)
  }
  const small = typeOf('tidgets', { columns: columns(200, '.spec.s'), form: 'custom' })
  t.same(table(small, [object({ spec: { s: 'y' } })]).rows[0]!.cells, ['a', ...Array(200).fill('y')])
})

t.test('a SinglePlacementSlice shows whose destinations it has, and how many', async t => {
  const type = typeOf('singleplacementslices', { group: 'edge.kubestellar.io' })
  const slice = (name: string, destinations: object[]) => {
    const labels = { 'edge.kubestellar.io/edge-placement': 'ep' }
    return object({ metadata: { name, labels, creationTimestamp: '2026-01-01T00:00:00Z' }, destinations })
  }
  const { columnDefinitions, rows } = table(type, [slice('ep', [{}, {}]), slice('ep-slice-2', [])])
  t.same(
    columnDefinitions?.map(({ name }) => name),
    ['Name', 'Placement', 'Destinations', 'Age'],
  )
  t.same(
    rows.map(({ cells }) => cells),
    [
      ['ep', 'ep', 2, '24h'],
      ['ep-slice-2', 'ep', 0, '24h'],
    ],
  )
})
