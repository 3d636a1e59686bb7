/** Labels that are read where they stand are those that parsing finds. */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { decodeObject, encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { scanLabels } from '../../../src/apiserver/registry/labelScanner.ts'
import { versionOf } from '../../../src/storage/texts.ts'
import * as fc from '../../support/fastCheck.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', 'labels', '"labels":{', 'é', '\n') }),
  fc.constantFrom('labels', 'metadata', '__proto__', 'name'),
)
const labels = fc.dictionary(text, text, { maxKeys: 4 })
const part = fc.oneof(text, labels, fc.jsonValue())
const KEY = { space: 'root', group: '', resource: 'things', namespace: '', name: 'x' }
const object = fc.record(
  {
    apiVersion: text,
    kind: text,
    metadata: fc
      .array(fc.tuple(fc.oneof(text, fc.constantFrom('annotations', 'managedFields', 'uid')), part), { maxLength: 5 })
      .chain(members =>
        fc.tuple(fc.option(labels), fc.nat(members.length)).map(([own, at]) => {
          const entries = members.filter(([name]) => name !== 'labels' && name !== 'resourceVersion')
          if (own !== null) entries.splice(at, 0, ['labels', own])
          return Object.fromEntries(entries)
        }),
      ),
    spec: fc.jsonValue(),
    metadata2: fc.constant({ labels: { not: 'these' } }),
  },
  { requiredKeys: ['apiVersion', 'kind', 'metadata'] },
) as unknown as fc.Arbitrary<KubeObject>

t.test('whatever stands around them', async () => {
  fc.assert(
    fc.property(object, fc.nat(), (value, revision) => {
      const stored = versionOf(KEY, revision, encodeObject(value))
      return isDeepStrictEqual(scanLabels(stored.bytes), decodeObject(stored).metadata.labels)
    }),
    { numRuns: 1000 },
  )
})

t.test('bytes that are otherwise are left to the parser', async t => {
  for (const odd of [
    '',
    '{}',
    '{"kind":"A","apiVersion":"v1","metadata":{}}',
    '{"apiVersion":"v1","kind":"A","metadata":[]}',
    '{"apiVersion":"v1","kind":"A","metadata":{"name":"a", "labels":{}}}',
    '{"apiVersion":"v1","kind":"A","metadata":{"labels":["a"]}}',
    '{"apiVersion":"v1","kind":"A","metadata":{"labels":null}}',
    '{"apiVersion":"v1","kind":"A","metadata":{"name":"a',
    '{"apiVersion":"v1","kind":"A","metadata":{"name":{"a":[',
    '{"apiVersion":1,"kind":"A","metadata":{}}',
  ]) {
    t.equal(scanLabels(Buffer.from(odd)), 'unread', odd)
  }
})
