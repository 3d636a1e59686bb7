/** Ready-made StatusCollectors: each compiles, and says of its kind what a person wants to know. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { toCel } from '../../src/apimachinery/structural/celValues.ts'
import { readCollector } from '../../src/placement/summary/collector.ts'
import { combine } from '../../src/placement/summary/combination.ts'
import { type Collected, read } from '../../src/placement/summary/reading.ts'

const FILE = join(import.meta.dirname, '../../deploy/collectors/collectors.yaml')
const collectors = new Map(
  parseAllDocuments(readFileSync(FILE, 'utf8')).map(document => {
    const object = document.toJS() as KubeObject
    return [object.metadata.name!, object] as const
  }),
)

interface Said {
  readonly status?: object
  readonly obj?: object
  readonly propagation?: object
}

/** Rows as texts; fails the test on any error. */
function rowsOf(name: string, clusters: Readonly<Record<string, Said>>): unknown[] {
  const { collector, problems } = readCollector(collectors.get(name)!)
  if (!collector) throw new Error(JSON.stringify(problems))
  const readings = Object.entries(clusters).map(([cluster, { status, obj = {}, propagation = {} }]) => {
    const collected = { obj, returned: { ...(status && { status }) }, inventory: { name: cluster }, propagation }
    const reading = read(collector, toCel(collected, undefined) as Collected)
    return { origin: { cluster }, isStale: false, readings: [reading] }
  })
  const made = combine(collector, readings, 0)
  if (made.totalErrors) throw new Error(JSON.stringify(made))
  return made.rows.map(({ columns }) => columns.map(plain))
}

function plain(value: object): unknown {
  const { type, float, string, array } = value as Record<string, unknown>
  return Array.isArray(array) ? array.map(plain) : (float ?? string ?? type)
}

const metadata = (name: string) => ({ metadata: { namespace: 'shop', name } })
const condition = (type: string) => ({ conditions: [{ type, status: 'True' }] })
const POD = { obj: { kind: 'Pod' } }
const ok = { state: 'Applied', health: 'Healthy', message: '' }
const CASES: Readonly<Record<string, [clusters: Record<string, Said>, rows: unknown[]]>> = {
  states: [
    { a: { propagation: ok }, b: { propagation: ok }, c: { propagation: { state: 'Refused' } } },
    [
      ['Applied', 'Healthy', '2'],
      ['Refused', 'Null', '1'],
    ],
  ],
  broken: [
    {
      a: { propagation: ok },
      b: { propagation: { state: 'Refused', message: 'denied' } },
      c: { propagation: { state: 'Applied', health: 'Degraded', message: '', healthMessage: 'no image' } },
      d: { propagation: { state: 'Pending', message: '' } },
    },
    [
      ['b', 'Refused', 'Null', 'denied'],
      ['c', 'Applied', 'Degraded', 'no image'],
    ],
  ],
  deployments: [
    { a: { status: { replicas: 3, updatedReplicas: 3, readyReplicas: 2, unavailableReplicas: 1 } }, b: {} },
    [['2', '3', '3', '2', '0', '1']],
  ],
  statefulsets: [{ a: { status: { replicas: 3, updatedReplicas: 1, readyReplicas: 2 } } }, [['1', '3', '1', '2', '0']]],
  daemonsets: [
    { a: { status: { desiredNumberScheduled: 5, updatedNumberScheduled: 5, numberReady: 4, numberUnavailable: 1 } } },
    [['1', '5', '5', '4', '1']],
  ],
  jobs: [
    {
      a: { status: { ...condition('Complete'), succeeded: 2 } },
      b: { status: { ...condition('Failed'), failed: 3 } },
      c: { status: { active: 1 } },
      d: {},
    },
    [
      ['Complete', '1', '0', '2', '0'],
      ['Failed', '1', '0', '0', '3'],
      ['Running', '2', '1', '0', '0'],
    ],
  ],
  pods: [
    {
      a: { ...POD, status: { phase: 'Running', containerStatuses: [{ restartCount: 2 }, { restartCount: 3 }] } },
      b: { ...POD, status: { phase: 'Running' } },
      c: { ...POD, status: { phase: 'Failed' } },
      set: { obj: { kind: 'ReplicaSet' }, status: { replicas: 2 } },
    },
    [
      ['Failed', '1', '0'],
      ['Running', '2', '5'],
    ],
  ],
  'pods-broken': [
    {
      a: { obj: { kind: 'Pod', ...metadata('good') }, status: { phase: 'Running', ...condition('Ready') } },
      b: { obj: { kind: 'Pod', ...metadata('done') }, status: { phase: 'Succeeded' } },
      c: {
        obj: { kind: 'Pod', ...metadata('bad') },
        status: { phase: 'Pending', containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff' } } }] },
      },
    },
    [['c', 'shop', 'bad', 'Pending', ['ImagePullBackOff']]],
  ],
  policyreports: [
    { a: { obj: { summary: { pass: 4, fail: 1 } } }, b: { obj: { summary: { pass: 2, skip: 1 } } }, c: { obj: {} } },
    [['3', '6', '1', '0', '0', '1']],
  ],
  'policyreports-broken': [
    {
      a: { obj: { ...metadata('good'), summary: { pass: 4, fail: 0 } } },
      b: { obj: { ...metadata('bad'), summary: { fail: 2 } } },
      c: { obj: metadata('none') },
    },
    [['b', 'shop', 'bad', '2', 'Null']],
  ],
}

t.test('there is a case for each', async t => {
  t.same([...collectors.keys()].sort(), Object.keys(CASES).sort())
})

for (const [name, [clusters, rows]] of Object.entries(CASES))
  t.test(name, async t => t.same(rowsOf(name, clusters), rows))
