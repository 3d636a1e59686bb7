/** Values that the converter to structs cannot take. A real kube-apiserver judges the sentences in the script `patch-types`. */
import t from 'tap'
import { restoreError } from '../../../src/apimachinery/go/restoreError.ts'
import { type Schema, STRUCT_FACTS } from '../../../src/apimachinery/schema.ts'

const text: Schema = { type: 'string' }
const schema: Schema = {
  type: 'object',
  properties: {
    replicas: { type: 'integer', format: 'int32' },
    big: { type: 'integer', format: 'int64' },
    share: { type: 'number' },
    flag: { type: 'boolean' },
    labels: { type: 'object', additionalProperties: text },
    names: { type: 'array', items: text },
    bytes: { type: 'string', format: 'byte' },
    time: { type: 'string', format: 'date-time' },
    port: { 'x-kubernetes-int-or-string': true },
    inner: { type: 'object', properties: { text } },
    free: { type: 'object' },
    caps: { type: 'array', items: text },
  },
  [STRUCT_FACTS]: { types: { caps: '[]v1.Capability' } },
}

t.test('what fits', async t => {
  for (const value of [
    {},
    { replicas: 5, big: 2.0, share: 1, flag: false, labels: { a: 'b' }, names: ['a'], bytes: 'YQ==' },
    { replicas: null, labels: null, names: [null], inner: { text: null }, unknown: 5 },
    { time: '2026-01-01T00:00:00Z', port: 'http', free: [1] },
    { port: 80, share: 0.5 },
  ])
    t.equal(restoreError(value, schema), undefined, JSON.stringify(value))
  t.equal(restoreError(5, undefined), undefined)
})

t.test('what does not', async t => {
  for (const [value, why] of [
    ['x', 'cannot restore struct from: string'],
    [{ inner: [] }, 'cannot restore struct from: slice'],
    [{ inner: { text: 5 } }, 'cannot convert int64 to string'],
    [{ inner: { text: 1.5 } }, 'unrecognized type: string'],
    [{ replicas: 'x' }, 'unrecognized type: int32'],
    [{ replicas: 1.5 }, 'cannot convert float64 to int32'],
    [{ big: 1.5 }, 'cannot convert float64 to int64'],
    [{ big: true }, 'unrecognized type: int64'],
    [{ share: 'x' }, 'unrecognized type: float64'],
    [{ flag: 1 }, 'unrecognized type: bool'],
    [{ labels: 'x' }, 'cannot restore map from string'],
    [{ labels: { a: {} } }, 'unrecognized type: string'],
    [{ names: { a: 'b' } }, 'cannot restore slice from map'],
    [{ names: ['a', 5] }, 'cannot convert int64 to string'],
    [{ caps: [5] }, 'cannot convert int64 to v1.Capability'],
    [{ bytes: 5 }, 'cannot restore slice from int64'],
    [{ bytes: '!' }, 'error decoding from json: illegal base64 data at input byte 0'],
    [{ time: 5 }, 'json: cannot unmarshal number into Go value of type string'],
    [{ port: {} }, 'json: cannot unmarshal object into Go value of type int32'],
  ] as const)
    t.equal(restoreError(value, schema), why, JSON.stringify(value))
})
