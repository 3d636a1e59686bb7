/** Summaries as data: what clusters say, a collector, and its rows. */
import t from 'tap'
import { toCel } from '../../../src/apimachinery/structural/celValues.ts'
import { readCollector } from '../../../src/placement/summary/collector.ts'
import { combine, MAX_ROWS, type SummaryItem } from '../../../src/placement/summary/combination.ts'
import { type Collected, read } from '../../../src/placement/summary/reading.ts'

interface Vector {
  readonly name: string
  readonly spec: object
  /** Statuses by cluster; `undefined`: the cluster reported none. */
  readonly clusters: Readonly<Record<string, object | undefined>>
  readonly obj?: object
  /** Rows as texts of their cells. */
  readonly rows: readonly (readonly unknown[])[]
  readonly more?: object
}

const COUNT = { name: 'count', type: 'COUNT' }
const sum = (type: string, subject = 'returned.status.ready') => ({ name: type.toLowerCase(), type, subject })
const ALL = [COUNT, ...['SUM', 'AVG', 'MIN', 'MAX'].map(type => sum(type))]
const THREE = { a: { ready: 3 }, b: { ready: 1 }, c: { ready: 2 } }

const VECTORS: readonly Vector[] = [
  { name: 'each aggregate', spec: { combinedFields: ALL }, clusters: THREE, rows: [['3', '6', '2', '1', '3']] },
  {
    name: 'nothing to aggregate',
    spec: { combinedFields: ALL },
    clusters: {},
    rows: [['0', '0', 'NaN', '+Inf', '-Inf']],
  },
  {
    name: 'nulls count in no average, and are counted apart',
    spec: { combinedFields: ALL },
    clusters: { a: { ready: 4 }, b: {}, c: undefined, d: { ready: null } },
    rows: [['4', '4', '4', '4', '4']],
    more: { nulls: ['sum', 'avg', 'min', 'max'].map(columnName => ({ columnName, count: 3 })) },
  },
  {
    name: 'a filter that is null lets nothing pass',
    spec: { filter: 'returned.status.isReady', combinedFields: [COUNT] },
    clusters: { a: { isReady: true }, b: { isReady: false }, c: {}, d: undefined },
    rows: [['1']],
    more: { rowErrors: undefined },
  },
  {
    name: 'a filter that is no boolean is an error of its cluster',
    spec: { filter: 'returned.status.isReady', combinedFields: [COUNT] },
    clusters: { a: { isReady: true }, b: { isReady: 'yes' } },
    rows: [['1']],
    more: {
      rowErrors: [{ wec: { clusterId: 'b' }, columnName: 'filter', error: 'it is no boolean' }],
      totalErrors: 1,
    },
  },
  {
    name: 'the limit holds, and what is behind it is counted',
    spec: { select: [{ name: 'where', def: 'inventory.name' }], limit: 2 },
    clusters: { c: {}, a: {}, d: {}, b: {} },
    rows: [['a'], ['b']],
    more: { totalRows: 4 },
  },
  {
    name: 'groups are in the order of their values, nulls first, and the limit holds for them',
    spec: { groupBy: [{ name: 'phase', def: 'returned.status.phase' }], combinedFields: [COUNT], limit: 3 },
    clusters: { a: { phase: 'z' }, b: { phase: 'b' }, c: { phase: 10 }, d: {}, e: { phase: 9 }, f: { phase: 9 } },
    rows: [
      ['Null', '1'],
      ['9', '2'],
      ['10', '1'],
    ],
    more: { totalRows: 5, nulls: [{ columnName: 'phase', count: 1 }] },
  },
  {
    name: 'a text that says a number is one, and another text is an error and no number',
    spec: { combinedFields: [COUNT, sum('SUM'), sum('AVG')] },
    clusters: { a: { ready: '4' }, b: { ready: '2.5' }, c: { ready: 'many' } },
    rows: [['3', '6.5', '3.25']],
    more: {
      aggregationErrors: [
        { wec: { clusterId: 'c' }, columnName: 'avg', error: 'it is no number' },
        { wec: { clusterId: 'c' }, columnName: 'sum', error: 'it is no number' },
      ],
      rowErrors: undefined,
      nulls: undefined,
    },
  },
  {
    name: 'an error is no cell',
    spec: { select: [{ name: 'half', def: '6 / returned.status.ready' }] },
    clusters: { a: { ready: 3 }, b: { ready: 0 } },
    rows: [['2'], ['Null']],
    more: { rowErrors: [{ wec: { clusterId: 'b' }, columnName: 'half' }], nulls: undefined },
  },
  {
    name: 'a group that is no single value leaves its cluster out',
    spec: { groupBy: [{ name: 'g', def: 'returned.status.g' }], combinedFields: [COUNT] },
    clusters: { a: { g: [1] }, b: { g: 'x' } },
    rows: [['x', '1']],
    more: { rowErrors: [{ wec: { clusterId: 'a' }, columnName: 'g' }] },
  },
  {
    name: 'the object itself',
    spec: { filter: 'returned.status.ready < obj.spec.replicas', select: [{ name: 'where', def: 'inventory.name' }] },
    clusters: THREE,
    obj: { spec: { replicas: 3 } },
    rows: [['b'], ['c']],
  },
  {
    name: 'lists and objects may be shown',
    spec: { select: [{ name: 'all', def: 'returned.status' }] },
    clusters: { a: { list: [1, { on: true }] } },
    rows: [[{ list: ['1', { on: true }] }]],
  },
  {
    name: 'an evaluation that costs too much is an error',
    spec: { select: [{ name: 'x', def: 'obj.l.all(a, obj.l.all(b, a == b || true))' }] },
    clusters: { a: {} },
    obj: { l: Array.from({ length: 500 }, (_, i) => i) },
    rows: [['Null']],
    more: { rowErrors: [{ columnName: 'x', error: /cost too much for this cluster \(limit 20000\)/ }] },
  },
]

function readingsOf({ clusters, obj = {} }: Vector, spec: object): SummaryItem[] {
  const { collector, problems } = readCollector({ apiVersion: '', kind: '', metadata: { name: 'c' }, spec })
  if (!collector) throw new Error(JSON.stringify(problems))
  return Object.entries(clusters).map(([cluster, status]) => {
    const collected = { obj, returned: { ...(status && { status }) }, inventory: { name: cluster }, propagation: {} }
    const reading = read(collector, toCel(collected, undefined) as Collected)
    return { origin: { cluster }, isStale: false, readings: [reading] }
  })
}

/** As a person reads it. */
function shown(value: unknown): unknown {
  const { type, float, string, bool, array, object } = value as Record<string, unknown>
  if (Array.isArray(array)) return array.map(shown)
  if (object) return Object.fromEntries(Object.entries(object as object).map(([key, one]) => [key, shown(one)]))
  return float ?? string ?? bool ?? type
}

for (const vector of VECTORS) {
  t.test(vector.name, async t => {
    const { collector } = readCollector({ apiVersion: '', kind: '', metadata: { name: 'c' }, spec: vector.spec })
    const readings = readingsOf(vector, vector.spec)
    const made = combine(collector!, readings, 0)
    t.same(
      made.rows.map(({ columns }) => columns.map(shown)),
      vector.rows,
    )
    t.match(made, vector.more ?? {})
    t.equal(made.columnNames.length, made.rows[0]?.columns.length ?? made.columnNames.length)
    // whoever reports first
    t.same(combine(collector!, readings.toReversed(), 0), made)
  })
}

t.test('fractions have one sum, whatever the order', async t => {
  const spec = { combinedFields: [sum('SUM')] }
  const { collector } = readCollector({ apiVersion: '', kind: '', metadata: { name: 'c' }, spec })
  const clusters = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name, i) => [name, { ready: 0.1 * (i + 1) }]))
  const readings = readingsOf({ clusters } as unknown as Vector, spec)
  const orders = [readings, readings.toReversed(), [...readings.slice(2), ...readings.slice(0, 2)]]
  t.equal(new Set(orders.map(order => JSON.stringify(combine(collector!, order, 0)))).size, 1)
})

t.test('a thousand groups are counted, and as many shown as asked for', async t => {
  const spec = { groupBy: [{ name: 'g', def: 'returned.status.g' }], combinedFields: [COUNT], limit: 5 }
  const { collector } = readCollector({ apiVersion: '', kind: '', metadata: { name: 'c' }, spec })
  const clusters = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`c${i}`, { g: 999 - i }]))
  const made = combine(collector!, readingsOf({ clusters } as unknown as Vector, spec), 0)
  t.equal(made.totalRows, 1000)
  t.same(
    made.rows.map(({ columns }) => shown(columns[0])),
    ['0', '1', '2', '3', '4'],
  )
})

t.test('values of one cluster are bounded together, and so are rows', async t => {
  const clusters = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`c${i}`, { text: 'x'.repeat(1000) }]))
  const made = (spec: object) => {
    const { collector } = readCollector({ apiVersion: '', kind: '', metadata: { name: 'c' }, spec })
    const items = readingsOf({ clusters } as unknown as Vector, spec)
    return { items, made: combine(collector!, items, 0) }
  }
  const column = (def: string, i: number) => ({ name: `${i}`, def })
  const texts = made({ select: Array(16).fill('returned.status.text').map(column), limit: 1000 })
  t.ok(JSON.stringify(texts.made.rows).length <= MAX_ROWS)
  t.equal(texts.made.totalRows, 1000)
  t.equal(texts.made.totalErrors, undefined)
  t.ok(texts.made.rows.length > 1)
  const list = `[${Array(100).fill('returned.status.text').join()}]`
  const lists = made({ select: [list, '1', list].map(column), limit: 1000 })
  t.equal(lists.made.totalErrors, 2000, 'both lists, and not the number')
  t.match(lists.made.rowErrors?.[0], { error: /more than 16384 characters; select fewer/ })
  const numbers = made({ select: ['[1, 2]', `[${Array(198).fill('1').join()}]`].map(column) })
  t.match(numbers.made.rowErrors?.[0], { columnName: '1', error: /more than 200 parts; select fewer/ })
  t.ok(lists.items.every(({ readings }) => readings[0]!.size < 40_000))
  const groups = made({
    groupBy: [column('returned.status.text + inventory.name', 0)],
    combinedFields: [COUNT],
    limit: 1000,
  })
  t.ok(JSON.stringify(groups.made.rows).length <= MAX_ROWS)
  t.equal(groups.made.totalRows, 1000)
})

t.test('infinite numbers are in order with others', async t => {
  const spec = { groupBy: [{ name: 'g', def: '1.0 / double(returned.status.by)' }], combinedFields: [COUNT] }
  const { collector } = readCollector({ apiVersion: '', kind: '', metadata: { name: 'c' }, spec })
  const clusters = { a: { by: 0.5 }, b: { by: 0 }, c: { by: -0.5 } }
  const made = combine(collector!, readingsOf({ clusters } as unknown as Vector, spec), 0)
  t.same(
    made.rows.map(({ columns }) => shown(columns[0])),
    ['-2', '2', '+Inf'],
  )
})

t.test('a collector that cannot work is refused with its field and what to do', async t => {
  const refused = (spec: object) =>
    readCollector({ apiVersion: '', kind: '', metadata: { name: 'c' }, spec }).problems?.map(
      ({ field, detail }) => `${field}: ${detail}`,
    )
  const select = [{ name: 'x', def: 'inventory.name' }]
  const loops = 'obj.l.all(a, obj.l.all(b, obj.l.all(c, a == c)))'
  for (const [spec, expected] of [
    [{}, /^spec.select: a collector has select or combinedFields/],
    [{ select, combinedFields: [COUNT] }, /^spec.select: it excludes combinedFields/],
    [{ select, groupBy: select }, /^spec.groupBy: it needs combinedFields/],
    [{ select: [...select, ...select] }, /^spec.select\[1\].name/],
    [{ select, filter: 'status.ready' }, /^spec.filter: compilation failed: .*undeclared reference to 'status'/],
    [{ select, filter: 'self.x' }, /^spec.filter: compilation failed: .*undeclared reference to 'self'/],
    [{ select, filter: '1 + 1' }, /^spec.filter: must be a boolean, and is of type int/],
    [{ select: [{ name: 'x', def: 'obj.' }] }, /^spec.select\[0\].def: compilation failed/],
    [{ select: [{ name: 'x', def: loops }] }, /^spec.select\[0\].def: it may cost too much for each cluster/],
    [{ combinedFields: [{ ...COUNT, subject: '1' }] }, /^spec.combinedFields\[0\].subject: COUNT counts rows/],
    [{ combinedFields: [{ name: 's', type: 'SUM' }] }, /^spec.combinedFields\[0\].subject: SUM needs an expression/],
    [{ combinedFields: [sum('SUM', '[1]')] }, /^spec.combinedFields\[0\].subject: must be a number/],
    [{ combinedFields: [COUNT], groupBy: [{ name: 'g', def: '[1]' }] }, /^spec.groupBy\[0\].def: must be a text/],
  ] as const)
    t.match(refused(spec)?.[0], expected, JSON.stringify(spec))
})
