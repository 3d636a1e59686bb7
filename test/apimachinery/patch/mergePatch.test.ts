import t from 'tap'
import { applyMergePatch } from '../../../src/apimachinery/patch/mergePatch.ts'
import { equalJson } from '../../../src/apimachinery/values.ts'
import * as fc from '../../support/fastCheck.ts'

t.test('the examples of RFC 7396, appendix A', async t => {
  const table: [unknown, unknown, unknown][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ]
  for (const [document, patch, expected] of table)
    t.strictSame(applyMergePatch(document, patch), expected, `${JSON.stringify(document)} + ${JSON.stringify(patch)}`)
})

t.test('member names that JavaScript gives a meaning are ordinary members', async t => {
  for (const name of ['constructor', 'prototype', 'hasOwnProperty', 'toJSON', 'toString', '\u0000x']) {
    t.strictSame(applyMergePatch({ a: 1, [name]: 'x', z: { [name]: 1 } }, { [name]: 'y', b: 2 }), {
      a: 1,
      [name]: 'y',
      b: 2,
      z: { [name]: 1 },
    })
    t.strictSame(applyMergePatch({ a: { [name]: 'x' } }, { a: { [name]: null }, b: 2 }), { a: {}, b: 2 })
  }
  const patch = JSON.parse('{"__proto__":{"polluted":true},"b":2}') as unknown
  const result = applyMergePatch({ a: 1 }, patch) as Record<string, unknown>
  t.equal(JSON.stringify(result), '{"a":1,"__proto__":{"polluted":true},"b":2}')
  t.equal(result.polluted, undefined)
})

t.test('laws: idempotent, a patch without nulls is found in the result, inputs stay as they are', async () => {
  const json = fc.jsonValue({ maxDepth: 3 })
  fc.assert(
    fc.property(json, json, (document, patch) => {
      const frozen = JSON.stringify([document, patch])
      const once = applyMergePatch(document, patch)
      const twice = applyMergePatch(once, patch)
      return equalJson(once, twice) && JSON.stringify([document, patch]) === frozen
    }),
    { numRuns: 300 },
  )
})

t.test('the inputs stay as they are, and what the patch does not name is shared with the document', async t => {
  const document = { a: { b: [1], e: 1 }, f: { g: [1] } }
  const patch = { a: { e: null, c: { d: [1] } } }
  const result = applyMergePatch(document, patch) as { a: { b: number[]; c: { d: number[] } }; f: object }
  result.a.c.d.push(2)
  t.strictSame(result, { a: { b: [1], c: { d: [1, 2] } }, f: { g: [1] } })
  t.strictSame([document, patch], [{ a: { b: [1], e: 1 }, f: { g: [1] } }, { a: { e: null, c: { d: [1] } } }])
  t.equal(result.a.b, document.a.b)
  t.equal(result.f, document.f)
})
