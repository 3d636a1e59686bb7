import t from 'tap'
import { isStatusError } from '../../../src/apimachinery/errors.ts'
import { mistakableKeyIn } from '../../../src/apimachinery/jsonParse.ts'
import { isRecord } from '../../../src/apimachinery/object.ts'
import { jsonPatchInSteps } from '../../../src/apimachinery/patch/jsonPatch.ts'
import { atOnce } from '../../../src/apimachinery/steps.ts'
import { equalJson } from '../../../src/apimachinery/values.ts'
import { countSteps } from '../../support/countSteps.ts'
import * as fc from '../../support/fastCheck.ts'

const whole = (document: unknown, patch: unknown) => atOnce(jsonPatchInSteps(document, patch))
const apply = (document: unknown, ...patch: unknown[]) => whole(document, patch)

t.test("a pointer makes no member of a name that others' could be mistaken for", async t => {
  const told = { reason: 'BadRequest', message: /has a backslash; such keys are not accepted/ }
  for (const operation of [
    { op: 'add', path: '/k:{\\"a', value: 1 },
    { op: 'replace', path: '/a/C:\\x/b', value: 1 },
    { op: 'move', from: '/a', path: '/C:\\x' },
    { op: 'copy', from: '/a', path: '/C:\\x' },
  ])
    t.throws(() => apply({ a: 1 }, operation), told, operation.op)
  t.strictSame(apply({ 'C:\\x': 1 }, { op: 'test', path: '/C:\\x', value: 1 }, { op: 'remove', path: '/C:\\x' }), {})
})

t.test('every operation does what RFC 6902 says', async t => {
  t.strictSame(apply({ a: 1 }, { op: 'add', path: '/b', value: 2 }), { a: 1, b: 2 })
  t.strictSame(apply([1, 3], { op: 'add', path: '/1', value: 2 }), [1, 2, 3])
  t.strictSame(apply([1], { op: 'add', path: '/-', value: [2] }), [1, [2]])
  t.strictSame(apply({ a: 1 }, { op: 'add', path: '', value: 7 }), 7)
  t.strictSame(apply({ a: 1 }, { op: 'replace', path: '', value: { b: 1 } }), { b: 1 })
  t.strictSame(apply({ a: [1, 2] }, { op: 'remove', path: '/a/0' }), { a: [2] })
  t.strictSame(apply({ a: [1, 2] }, { op: 'replace', path: '/a/1', value: null }), { a: [1, null] })
  t.strictSame(apply({ a: [1, 2, 3] }, { op: 'move', from: '/a/0', path: '/a/2' }), { a: [2, 3, 1] })
  t.strictSame(apply({ a: { b: 1 } }, { op: 'move', from: '/a/b', path: '/a/c' }), { a: { c: 1 } })
  t.strictSame(apply({ a: 1 }, { op: 'move', from: '/a', path: '/a' }), { a: 1 })
  t.strictSame(apply({ a: { b: 1 } }, { op: 'copy', from: '/a', path: '/a/c' }), { a: { b: 1, c: { b: 1 } } })
  t.strictSame(apply({ a: { b: 1 } }, { op: 'test', path: '/a', value: { b: 1 } }), { a: { b: 1 } })
  t.strictSame(apply({ '': { '': 1 } }, { op: 'replace', path: '//', value: 2 }), { '': { '': 2 } })
  t.strictSame(
    apply({ 'a/b': 1, 'm~n': 2, '~1': 3 }, { op: 'remove', path: '/a~1b' }, { op: 'remove', path: '/m~0n' }),
    {
      '~1': 3,
    },
  )
  t.strictSame(apply({ '~1': 3 }, { op: 'remove', path: '/~01' }), {})
})

t.test('a test of a missing member against null holds, as kube-apiserver has it', async t => {
  t.strictSame(apply({ a: {} }, { op: 'test', path: '/a/b', value: null }), { a: {} })
  t.throws(() => apply({}, { op: 'test', path: '/a/b', value: null }))
})

t.test('a patch that does not apply is answered 422 in the words of kube-apiserver, and changes nothing', async t => {
  const failing: unknown[] = [
    { op: 'test', path: '/spec/replicas', value: 5 },
    { op: 'test', path: '/list/1', value: 1 },
    { op: 'remove', path: '/spec/nope' },
    { op: 'remove', path: '' },
    { op: 'replace', path: '/spec/nope', value: 1 },
    { op: 'replace', path: '/list/1', value: 1 },
    { op: 'add', path: '/nope/x', value: 1 },
    { op: 'add', path: '/list/2', value: 1 },
    { op: 'add', path: '/list/x', value: 1 },
    { op: 'add', path: '/list/01', value: 1 },
    { op: 'add', path: '/spec/replicas/x', value: 1 },
    { op: 'add', path: 'spec', value: 1 },
    { op: 'move', from: '/spec', path: '/spec/below' },
    { op: 'move', from: '/nope', path: '/x' },
    { op: 'copy', from: '/spec/nope', path: '/x' },
    { op: 'remove', path: '/constructor' },
  ]
  for (const operation of failing) {
    const document = { spec: { replicas: 2 }, list: [0] }
    try {
      apply(document, { op: 'add', path: '/first', value: 1 }, operation)
      t.fail(`must not apply: ${JSON.stringify(operation)}`)
    } catch (error) {
      if (!isStatusError(error)) throw error
      t.match(error.toStatus(), {
        code: 422,
        reason: 'Invalid',
        message: 'the server rejected our request due to an error in our request',
        details: {},
      })
    }
    t.strictSame(document, { spec: { replicas: 2 }, list: [0] })
  }
})

t.test('what is no JSON patch is a bad request', async t => {
  t.throws(() => whole({}, { op: 'add' }), {
    code: 400,
    message: 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
  })
  t.throws(() => apply({}, 1), {
    code: 400,
    message: 'error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp',
  })
})

t.test('a patch with an operation that is not whole is a bad request, and nothing of it is tried', async t => {
  const refused = (operation: unknown, why: string): void => {
    const message = `invalid operation ${JSON.stringify(operation)}: ${why}`
    t.throws(() => apply({}, { op: 'remove', path: '/none' }, operation), { code: 400, message })
  }
  for (const operation of [{ op: 'bogus', path: '/spec' }, { path: '/spec' }, {}, null]) {
    refused(operation, 'unsupported operation')
  }
  const value = "failed to decode 'value': operation, missing value field: missing value"
  refused({ op: 'add' }, value)
  refused({ op: 'replace', path: '/spec' }, value)
  refused({ op: 'remove' }, "failed to decode 'path': operation missing path field: missing value")
  refused({ op: 'copy', path: '/b' }, "failed to decode 'from': operation, missing from field: missing value")
  t.throws(() => apply({}, { op: 'remove', path: 5 }), {
    code: 400,
    message: 'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string',
  })
  t.strictSame(whole({ a: 1 }, null), { a: 1 })
})

t.test('a hostile patch can neither grow without bound nor reach a prototype', async t => {
  const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '', value: {} }))
  t.throws(() => whole({}, many), {
    code: 413,
    message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
  })
  t.doesNotThrow(() => whole({}, many.slice(1)))

  const doubling = Array.from({ length: 64 }, (_, i) => ({ op: 'copy', from: '', path: `/a${i}` }))
  t.throws(() => whole({ a: 'x' }, doubling), { code: 422 })

  const result = apply({}, { op: 'add', path: '/__proto__', value: { polluted: true } }) as Record<string, unknown>
  t.equal(Object.hasOwn(result, '__proto__'), true)
  t.equal(result.polluted, undefined)
  t.throws(() => apply({}, { op: 'add', path: '/__proto__/polluted', value: true }), { code: 422 })
  t.throws(() => apply({}, { op: 'add', path: '/constructor/prototype/polluted', value: true }), { code: 422 })
  t.equal(({} as Record<string, unknown>).polluted, undefined)
})

t.test('a patch cannot make a value that is too deep for everything behind it', async t => {
  const count = 10_000
  const document = Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, {}]))
  const nesting = (length: number) =>
    Array.from({ length }, (_, i) => ({ op: 'move', from: `/a${i}`, path: `/a${i + 1}/x` }))
  t.throws(() => whole(document, nesting(count - 1)), { code: 422 })
  t.throws(() => whole(document, nesting(500)), { code: 422 })
  t.doesNotThrow(() => whole(document, nesting(499)))
})

t.test('long lists are patched like short ones', async t => {
  const list = Array.from({ length: 5_000 }, (_, i) => ({ i }))
  const result = apply(
    { list },
    { op: 'add', path: '/list/0', value: { i: 'first' } },
    { op: 'add', path: '/list/-', value: { i: 'last' } },
    { op: 'add', path: '/list/5002', value: [] },
    { op: 'remove', path: '/list/1' },
    { op: 'replace', path: '/list/1/i', value: 'second' },
    { op: 'move', from: '/list/2', path: '/list/5000' },
    { op: 'test', path: '/list/0', value: { i: 'first' } },
    { op: 'copy', from: '/list', path: '/copy' },
    { op: 'replace', path: '/list/0', value: 0 },
  ) as { list: unknown[]; copy: unknown[] }
  const expected = [{ i: 'first' }, { i: 'second' }, ...list.slice(3), { i: 'last' }, { i: 2 }, []]
  t.strictSame(result.copy, expected)
  t.strictSame(result.list, [0, ...expected.slice(1)])
  t.throws(
    () => apply({ list }, { op: 'remove', path: '/list/0' }, { op: 'test', path: '/list/4999', value: { i: 4_999 } }),
    { code: 422 },
  )
})

t.test('the result shares nothing with document and patch', async t => {
  const document = { a: { b: [1] } }
  const value = { c: [1] }
  const result = apply(document, { op: 'add', path: '/v', value }, { op: 'copy', from: '/a', path: '/d' }) as {
    a: { b: number[] }
    d: { b: number[] }
    v: { c: number[] }
  }
  result.a.b.push(2)
  result.v.c.push(2)
  t.strictSame(result.d, { b: [1] })
  t.strictSame(document, { a: { b: [1] } })
  t.strictSame(value, { c: [1] })
})

t.test('the differences of any two documents, applied to one, give the other', async () => {
  // keys that are not accepted are refused as such
  const documents = fc.jsonValue({ maxDepth: 3 }).filter(value => mistakableKeyIn(JSON.stringify(value)) === undefined)
  fc.assert(
    fc.property(documents, documents, (before, after) => {
      const frozen = JSON.stringify(before)
      return equalJson(whole(before, diff(before, after, '')), after) && JSON.stringify(before) === frozen
    }),
    { numRuns: 300 },
  )
})

function diff(before: unknown, after: unknown, path: string): unknown[] {
  if (equalJson(before, after)) return [{ op: 'test', path, value: after }]
  if (isRecord(before) && isRecord(after)) {
    const at = (key: string) => `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const removed = Object.keys(before).filter(key => !Object.hasOwn(after, key))
    return [
      ...removed.map(key => ({ op: 'remove', path: at(key) })),
      ...Object.keys(after).flatMap(key =>
        Object.hasOwn(before, key)
          ? diff(before[key], after[key], at(key))
          : [{ op: 'add', path: at(key), value: after[key] }],
      ),
    ]
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const shared = Math.min(before.length, after.length)
    return [
      ...before.slice(shared).map(() => ({ op: 'remove', path: `${path}/${shared}` })),
      ...Array.from({ length: shared }, (_, i) => diff(before[i], after[i], `${path}/${i}`)).flat(),
      ...after.slice(shared).map(value => ({ op: 'add', path: `${path}/-`, value })),
    ]
  }
  return [{ op: 'replace', path, value: after }]
}

t.test('a large document is copied in steps', async t => {
  const document = {
    data: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, { v: i }])),
    list: [1],
  }
  const before = structuredClone(document)
  const { result, steps } = countSteps(jsonPatchInSteps(document, [{ op: 'add', path: '/list/-', value: 2 }]))
  t.ok(steps > 30, `${steps} steps`)
  t.same(result, { ...before, list: [1, 2] })
  ;(result as typeof document).data.k1!.v = 7
  t.same(document, before)
})
