// A large object is parsed and written claim by claim, and comes out as it went in, whatever its texts are.

import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { atOnce } from '../../../src/apimachinery/steps.ts'
import { decodeObject, encodeInSteps, encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { decodeInSteps, metadataOfLong } from '../../../src/apiserver/registry/decodeInSteps.ts'
import type { Stored } from '../../../src/storage/store.ts'
import { countSteps } from '../../support/countSteps.ts'
import * as fc from '../../support/fastCheck.ts'

function stored(object: KubeObject): Stored {
  const { head, tail } = encodeObject(object)
  const key = { space: 's', group: '', resource: 'configmaps', namespace: 'n', name: 'm' }
  return { key, revision: 7, bytes: Buffer.from(`${head}7${tail}`), headBytes: Buffer.byteLength(head) }
}

const map = (metadata: object, data: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'm', namespace: 'n', ...metadata },
  data,
})
const claim = (manager: string, names: readonly string[]) => ({
  manager,
  operation: 'Apply',
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': Object.fromEntries(names.map(name => [`f:${name}`, {}])) },
})
/** Makes any object a large one. */
const filler = 'x'.repeat(200_000)

t.test('each manager is a step', async t => {
  const names = Array.from({ length: 1000 }, (_, i) => `key-${i}`)
  const object = stored(map({ managedFields: [1, 2, 3, 4, 5].map(i => claim(`m${i}`, names)) }, { filler }))
  const { result, steps } = countSteps(decodeInSteps(object))
  t.equal(JSON.stringify(result), JSON.stringify(decodeObject(object)), 'in the same order, too')
  t.ok(steps >= 6)
  const written = countSteps(encodeInSteps(result))
  t.strictSame(written.result, encodeObject(result))
  t.ok(written.steps >= 4)
})

t.test('so is a part of what a manager claims that is long', async t => {
  const names = Array.from({ length: 20_000 }, (_, i) => `key-${i}`)
  const object = stored(map({ managedFields: [claim('m', ['a']), claim('n', names)] }))
  const { result, steps } = countSteps(decodeInSteps(object))
  t.equal(JSON.stringify(result), JSON.stringify(decodeObject(object)))
  t.ok(steps > 15, `${steps} steps`)
  const written = countSteps(encodeInSteps(result))
  t.strictSame(written.result, encodeObject(result))
  t.ok(written.steps > 15, `${written.steps} steps`)
})

t.test('what it says is parsed a piece after the other', async t => {
  const data = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`key-${i}`, 'x'.repeat(100)]))
  for (const object of [map({ managedFields: [claim('m', ['a'])] }, data), map({}, data)]) {
    const { result, steps } = countSteps(decodeInSteps(stored(object)))
    t.equal(JSON.stringify(result), JSON.stringify(decodeObject(stored(object))))
    t.ok(steps > 20)
  }
})

t.test('small ones, and those without claims, are the same', async t => {
  for (const object of [
    map({ managedFields: [claim('m', ['a'])] }),
    map({}, { filler }),
    map({ managedFields: [] }, { filler }),
  ])
    t.strictSame(atOnce(decodeInSteps(stored(object))), decodeObject(stored(object)))
})

t.test('texts that look like the end of something are none', async t => {
  const sign = fc.constantFrom(
    '"managedFields":[',
    '{"managedFields":[{"a":1}],"b',
    '},{"',
    '}],"',
    '},{"m',
    '}],"r',
    '\\',
    '"',
    '{',
    'ü',
    '\\"',
  )
  const text = fc.array(fc.oneof(sign, fc.string()), { maxLength: 4 }).map(parts => parts.join(''))
  const texts = fc.dictionary(text, text, { maxKeys: 4 })
  const entries = fc.array(fc.record({ manager: text, names: fc.array(text, { maxLength: 4 }), subresource: text }), {
    maxLength: 4,
  })
  fc.assert(
    fc.property(entries, texts, texts, texts, fc.boolean(), (entries, labels, annotations, data, isLast) => {
      const managedFields = entries.map(({ manager, names, subresource }) => ({
        ...claim(manager, names),
        subresource,
      }))
      const metadata = isLast ? { labels, annotations, managedFields } : { managedFields, labels, annotations }
      const object = stored(map(metadata, { ...data, filler, nested: { metadata: { managedFields: [{ a: 'b' }] } } }))
      const same = decodeObject(object)
      t.strictSame(atOnce(encodeInSteps(same)), encodeObject(same))
      const decoded = JSON.stringify(atOnce(decodeInSteps(object)))
      // V8 14.6 takes a key with an escape in it for one that begins as it is written: then the text is the judge
      return decoded === JSON.stringify(same) || decoded === object.bytes.toString()
    }),
    { numRuns: 120 },
  )
})

t.test('a field of this name elsewhere in the metadata is left as it is', async t => {
  const odd = { odd: { managedFields: [{ a: 1 }, { b: 2 }] }, managedFields: [claim('m', ['a'])] }
  const object = stored(map(odd, { filler }))
  t.strictSame(atOnce(decodeInSteps(object)), decodeObject(object))
  const same = decodeObject(object)
  t.strictSame(atOnce(encodeInSteps(same)), encodeObject(same))
})

t.test('metadata of a large object come out of its head, whatever its texts are', async t => {
  const tricky = { annotations: { a: '"managedFields":[{"x', b: '}],"c' }, finalizers: ['a.example.com/b'], uid: 'u' }
  const owned = { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'uo' }] }
  for (const more of [{}, tricky, owned, { labels: { managedFields: 'x' } }]) {
    for (const managedFields of [undefined, [claim('m', ['a', 'b'])], [claim('m', ['}],"x']), claim('n', ['a'])]]) {
      const object = stored(map({ ...more, ...(managedFields && { managedFields }) }, { filler }))
      const { managedFields: _, ...whole } = decodeObject(object).metadata
      // the text is parsed as far as the metadata go, and no further
      const spoilt = Buffer.concat([object.bytes.subarray(0, -1), Buffer.from('!')])
      t.strictSame(metadataOfLong({ ...object, bytes: spoilt }), whole)
    }
  }
  t.equal(metadataOfLong(stored(map({}))), undefined, 'a small one is parsed as ever, and kept for others')
})
