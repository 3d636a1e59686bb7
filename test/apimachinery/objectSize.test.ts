/** Limits of an object and of its growth. test/apiserver/manyValues.test.ts holds that patches obey them. */
import t from 'tap'
import type { KubeObject, ManagedFieldsEntry } from '../../src/apimachinery/object.ts'
import {
  CLAIMS_LIMIT,
  checkObjectSize,
  MEMBERS_LIMIT,
  OBJECT_LIMIT,
  VALUES_LIMIT,
} from '../../src/apimachinery/objectSize.ts'
import { atOnce } from '../../src/apimachinery/steps.ts'

const object = (rest: object, managedFields?: ManagedFieldsEntry[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...(managedFields && { managedFields }) },
  ...rest,
})
const mapOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, '']))
const claim = (manager: string, count: number): ManagedFieldsEntry => ({
  manager,
  operation: 'Apply',
  fieldsV1: Object.fromEntries(Array.from({ length: count }, (_, i) => [`f:k${i}`, {}])),
})
const check = (next: KubeObject, old?: KubeObject): void =>
  atOnce(checkObjectSize(next, JSON.stringify(next).length, old))
const refused = (message: RegExp) => ({ reason: 'RequestEntityTooLarge', code: 413, message })

t.test('all values together', async t => {
  const set = Array.from({ length: 65_000 }, () => 'x')
  const within = object({ set, a: mapOf(30_000) })
  check(within)
  const many = object({ set, a: mapOf(30_000), b: mapOf(30_000) })
  const message = new RegExp(`^the object would have more than ${VALUES_LIMIT} fields and elements: split it`)
  t.throws(() => check(many), refused(message))
  t.throws(() => check(many, within), refused(message), 'an update makes no more of it')
  check(object({ set, a: mapOf(30_000), b: mapOf(29_999) }), many)
  t.pass('an object that has more already may shrink')
})

t.test('members of one map', async t => {
  const widest = object({ data: mapOf(MEMBERS_LIMIT) })
  check(widest)
  const wider = object({ data: { ...mapOf(MEMBERS_LIMIT), more: '' } })
  t.throws(() => check(wider, widest), refused(/^the object would have more than 40000 fields in one map: split it/))
  check(wider, wider)
  t.pass('an object that has a wider one already may keep it')
})

t.test('claims of all managers together', async t => {
  const each = CLAIMS_LIMIT / 3
  const within = object(
    {},
    ['a', 'b', 'c'].map(name => claim(name, each)),
  )
  check(within)
  const more = object(
    {},
    ['a', 'b', 'c', 'd'].map(name => claim(name, each)),
  )
  t.throws(
    () => check(more, within),
    refused(/claim more than 150000 fields together \(metadata.managedFields\): split/),
  )
})

t.test('characters', async t => {
  const long = object({ data: { a: 'x'.repeat(OBJECT_LIMIT) } })
  t.throws(() => check(long), refused(/^the object would be \d+ characters long, and may be 8388608: split it/))
  check(object({ data: { a: 'x'.repeat(OBJECT_LIMIT - 1) } }), long)
  t.pass('an object that is longer already may shrink')
})
