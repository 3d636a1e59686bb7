// Form of a copy when it is made and after every later change of its source.

import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { createdCopy, project, updatedCopy } from '../../../src/placement/content/projection.ts'
import * as fc from '../../support/fastCheck.ts'

const source = (metadata: object, fields: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'x', namespace: 'n', ...metadata },
  ...fields,
})
const projected = (object: KubeObject, space = 'ws') => project(space, object)

t.test('a new copy has what the source says and nothing that belongs to a server', async t => {
  const copy = createdCopy(
    projected(
      source(
        {
          uid: 'u',
          resourceVersion: '9',
          generation: 3,
          selfLink: '/x',
          finalizers: ['f/f'],
          ownerReferences: [{}],
          managedFields: [{}],
          creationTimestamp: 'then',
          annotations: {
            mine: '1',
            'kcp.io/cluster': 'ws',
            'internal.kcp.io/x': 'y',
            'edge.kubestellar.io/upsynced': 'Thing/n/x',
            'edge.kubestellar.io/downsynced': 'Thing/n/x',
          },
        },
        { spec: { a: 1 }, status: { s: 1 } },
      ),
    ),
  )
  t.same(Object.keys(copy.metadata).sort(), ['annotations', 'labels', 'name', 'namespace'])
  t.equal(copy.metadata.annotations!.mine, '1')
  t.notOk(Object.keys(copy.metadata.annotations!).some(key => key.includes('kcp.io/') || key.endsWith('synced')))
  t.same(copy.spec, { a: 1 })
  t.notOk('status' in copy)
})

t.test('an update leaves status, identity and foreign keys alone and takes back what the source took back', async t => {
  const first = createdCopy(
    projected(source({ labels: { l: '1', gone: '1' }, annotations: { gone: '1' } }, { spec: { a: 1 }, data: {} })),
  )
  const live: KubeObject = {
    ...first,
    metadata: {
      ...first.metadata,
      uid: 'copy',
      finalizers: ['mailbox/own'],
      labels: { ...first.metadata.labels, foreign: 'f' },
      annotations: { ...first.metadata.annotations, foreign: 'f', 'kcp.io/cluster': 'mb' },
    },
    status: { s: 2 },
    other: 'from the mailbox',
  }
  const updated = updatedCopy(projected(source({ labels: { l: '2' } }, { spec: { b: 1 }, status: { s: 9 } })), live)!
  t.same(updated.metadata.labels, { l: '2', foreign: 'f', 'edge.kubestellar.io/projected': 'yes' })
  t.equal(updated.metadata.annotations!.foreign, 'f')
  t.equal(updated.metadata.annotations!['kcp.io/cluster'], 'mb')
  t.notOk('gone' in updated.metadata.annotations!)
  t.same(updated.metadata.finalizers, ['mailbox/own'])
  t.equal(updated.metadata.uid, 'copy')
  t.same(updated.spec, { b: 1 }, 'fields are replaced whole')
  t.notOk('data' in updated)
  t.same(updated.status, { s: 2 })
  t.equal(updated.other, 'from the mailbox')
})

const small = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2'))
const fields = fc.record({ spec: small, data: small }, { requiredKeys: [] })
const state = fc.record({ labels: small, annotations: small, fields })

t.test('however it came about, a copy says what a fresh one would, and a second look changes nothing', async () => {
  fc.assert(
    fc.property(fc.array(state, { minLength: 1, maxLength: 5 }), states => {
      let copy: KubeObject | undefined
      for (const { labels, annotations, fields } of states) {
        const projection = projected(source({ labels, annotations }, fields))
        copy = copy ? (updatedCopy(projection, copy) ?? copy) : createdCopy(projection)
        if (updatedCopy(projection, copy) !== undefined) throw new Error('not settled')
        const sorted = (object: KubeObject) => JSON.stringify(object, replacer)
        if (sorted(copy) !== sorted(createdCopy(projection))) throw new Error(`${sorted(copy)} is not a fresh copy`)
      }
    }),
  )
})

t.test('a copy says whose it is, and what a source claims about that is not believed', async t => {
  const copy = createdCopy(
    projected(source({ annotations: { 'edge.kubestellar.io/owner': 'other', mine: '1' } }, { spec: {} }), 'a'),
  )
  t.equal(copy.metadata.annotations!['edge.kubestellar.io/owner'], 'a')
  t.match(copy.metadata.annotations!['edge.kubestellar.io/projected-keys'], /"annotations":\["mine"\]/)
})

t.test('a copy that passes from one space to another keeps nothing of what it was', async t => {
  const first = source({ labels: { both: 'a', l: '1' }, annotations: { n: '1' } }, { spec: { from: 'a' }, data: {} })
  const second = source({ labels: { both: 'b' } }, { spec: { from: 'b' } })
  const copy = { ...createdCopy(projected(first, 'a')), status: { s: 1 } }
  const passed = updatedCopy(projected(second, 'b'), copy)!
  t.same({ ...passed, status: undefined }, { ...createdCopy(projected(second, 'b')), status: undefined })
  t.same(passed.status, { s: 1 }, 'what the cluster reported stays')
})

t.test('a Job goes without the selector that its server made, and keeps the one made where it arrives', async t => {
  const made = (uid: string) => ({
    selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
    template: {
      metadata: { labels: { app: 'x', 'batch.kubernetes.io/controller-uid': uid, 'controller-uid': uid } },
      spec: {},
    },
  })
  const job = (spec: object): KubeObject => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j', namespace: 'n' },
    spec,
  })
  const projection = projected(job({ parallelism: 1, ...made('home') }))
  const copy = createdCopy(projection)
  t.same(copy.spec, { parallelism: 1, template: { metadata: { labels: { app: 'x' } }, spec: {} } })
  const live = { ...copy, spec: { parallelism: 1, ...made('there') } }
  t.equal(updatedCopy(projection, live), undefined)
  const changed = updatedCopy(projected(job({ parallelism: 2, ...made('home') })), live)!
  t.same(changed.spec, { parallelism: 2, ...made('there') })
  const other = made('home')
  const template = { metadata: { labels: { ...other.template.metadata.labels, app: 'y' } }, spec: { nodeName: 'a' } }
  const anew = updatedCopy(projected(job({ parallelism: 1, ...other, template })), live)!
  const { selector, template: there } = made('there')
  const labels = { ...there.metadata.labels, app: 'y' }
  t.same(anew.spec, { parallelism: 1, selector, template: { metadata: { labels }, spec: { nodeName: 'a' } } })
})

function replacer(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
