/** A copy that is changed in place leaves what it was made of as it was, and is cheap where claims are many. */
import t from 'tap'
import { copyToChange } from '../../src/apimachinery/copyToChange.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'

const claim = { manager: 'a', operation: 'Apply' as const, fieldsV1: { 'f:data': {} } }

t.test('all is copied in its order, and of the claims each is shared', async t => {
  const object = (): KubeObject =>
    JSON.parse(
      `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","managedFields":[${JSON.stringify(claim)}],"labels":{"a":"b"}},"data":{"__proto__":{"x":"y"}}}`,
    )
  const original = object()
  const copy = copyToChange(original)
  t.equal(JSON.stringify(copy), JSON.stringify(original))
  t.equal(copy.metadata.managedFields![0], original.metadata.managedFields![0])
  copy.metadata.managedFields!.push(claim)
  copy.metadata.labels!.a = 'c'
  Object.assign(copy.data as object, { more: 'z' })
  t.strictSame(original, object())
  const { managedFields: _, ...metadata } = original.metadata
  t.strictSame(copyToChange({ ...original, metadata }), { ...original, metadata })
})
