import t from 'tap'
import { type FieldError, formatFieldError } from '../../src/apimachinery/fieldErrors.ts'
import {
  ANNOTATIONS_LIMIT_BYTES,
  FINALIZERS_LIMIT,
  MANAGERS_LIMIT,
  MARKS_LIMIT_BYTES,
  OWNERS_LIMIT,
} from '../../src/apimachinery/metadataLimits.ts'
import { validateObjectMeta, validateObjectMetaUpdate } from '../../src/apimachinery/names.ts'
import type { ManagedFieldsEntry, ObjectMeta } from '../../src/apimachinery/object.ts'

const named = { name: 'a', namespace: 'b' }
const finalizers = (count: number) => ({ finalizers: Array.from({ length: count }, (_, i) => `example.org/f${i}`) })
const owners = (count: number) => ({
  ownerReferences: Array.from({ length: count }, (_, i) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    name: `p${i}`,
    uid: `u${i}`,
  })),
})
const entry = (manager: string, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager,
  operation: 'Apply',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': { [`f:${manager}`]: {} } },
  ...more,
})
const managers = (count: number) => ({
  managedFields: Array.from({ length: count }, (_, i) => entry(`m${i}`)),
})
/** `bytes` in keys and values. */
const labels = (bytes: number) => {
  const all: Record<string, string> = {}
  for (let i = 0; i < bytes / 64; i++) all[`k${String(i).padStart(15, '0')}`] = 'v'.repeat(48)
  return { labels: all }
}
const texts = (errors: FieldError[]) => errors.map(formatFieldError)
const create = (meta: Partial<ObjectMeta>) => texts(validateObjectMeta({ ...named, ...meta }, { namespaced: true }))
const update = (meta: Partial<ObjectMeta>, before: Partial<ObjectMeta>) => [
  ...texts(validateObjectMeta({ ...named, ...meta }, { namespaced: true, before: { ...named, ...before } })),
  ...texts(validateObjectMetaUpdate({ ...named, ...meta }, { ...named, ...before })),
]

t.test('lists and maps of metadata have limits that name the field and how much is allowed', async t => {
  t.same(create({ ...finalizers(FINALIZERS_LIMIT), ...owners(OWNERS_LIMIT), ...managers(MANAGERS_LIMIT) }), [])
  t.same(create(labels(262_144)), [])
  t.same(create(finalizers(FINALIZERS_LIMIT + 1)), [
    'metadata.finalizers: Too many: 1001: must have at most 1000 items',
  ])
  t.same(create(owners(OWNERS_LIMIT + 1)), ['metadata.ownerReferences: Too many: 1001: must have at most 1000 items'])
  t.same(create(managers(MANAGERS_LIMIT + 1)), ['metadata.managedFields: Too many: 1001: must have at most 1000 items'])
  t.same(create(labels(262_208)), ['metadata.labels: Too long: may not be more than 262144 bytes'])
})

t.test('names in managedFields are as long as kube-apiserver lets them be', async t => {
  t.same(create({ managedFields: [entry('m'.repeat(128), { subresource: 's'.repeat(256) })] }), [])
  t.same(create({ managedFields: [entry('m'.repeat(129), { subresource: 's'.repeat(257) })] }), [
    'metadata.managedFields[0].manager: Too long: may not be more than 128 bytes',
    'metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes',
  ])
})

t.test('what was stored above a limit can be changed as long as it does not grow', async t => {
  for (const [some, more] of [
    [finalizers(1_200), finalizers(1_201)],
    [owners(6_000), owners(6_001)],
    [managers(1_200), managers(1_201)],
    [labels(300_032), labels(300_096)],
  ] as const) {
    t.same(update(some, some), [])
    t.same(update(some, more), [])
    t.equal(update(more, some).length, 1)
  }
})

t.test(
  "Orrery's marks have room beside annotations that fill their limit, and no more than a limit of their own",
  async t => {
    const own = (bytes: number) => ({ 'example.com/a': 'x'.repeat(bytes - 13) })
    const marks = (bytes: number) => ({ 'edge.kubestellar.io/projected-keys': 'y'.repeat(bytes - 34) })
    const tooLong = ['metadata.annotations: Too long: may not be more than 262144 bytes']
    const limit = ANNOTATIONS_LIMIT_BYTES
    for (const more of [{}, { 'kubestellar.io/executing-count': '2' }, marks(5000), marks(MARKS_LIMIT_BYTES)]) {
      const annotations = { ...own(limit), ...more }
      t.same(create({ annotations }), [])
      t.same(update({ annotations }, { annotations: own(limit) }), [])
      t.same(create({ annotations: { ...own(limit + 1), ...more } }), tooLong)
    }
    t.same(create({ annotations: marks(MARKS_LIMIT_BYTES + 1) }), tooLong)
  },
)
