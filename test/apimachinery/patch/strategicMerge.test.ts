import t from 'tap'
import { strategicMergeInSteps } from '../../../src/apimachinery/patch/strategicMerge.ts'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { atOnce } from '../../../src/apimachinery/steps.ts'
import { equalJson } from '../../../src/apimachinery/values.ts'
import * as fc from '../../support/fastCheck.ts'

const schema: Schema = {
  type: 'object',
  properties: {
    containers: {
      type: 'array',
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge',
      items: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          env: {
            type: 'array',
            'x-kubernetes-patch-merge-key': 'name',
            'x-kubernetes-patch-strategy': 'merge',
            items: { type: 'object' },
          },
        },
      },
    },
    args: { type: 'array', items: { type: 'string' } },
    strategy: { type: 'object', 'x-kubernetes-patch-strategy': 'retainKeys' },
    whole: { type: 'object', 'x-kubernetes-patch-strategy': 'replace' },
  },
}
const patched = (original: Record<string, unknown>, patch: unknown) =>
  atOnce(strategicMergeInSteps(original, patch, schema))
const list = (...names: string[]) => ({ containers: names.map(name => ({ name, image: 'i' })) })
const names = (result: Record<string, unknown>) => (result.containers as { name: string }[]).map(c => c.name).join(' ')

t.test('lists are merged by key, at any depth, and replaced where the schema does not say how to merge', async t => {
  t.strictSame(
    patched(
      { containers: [{ name: 'a', image: '1', env: [{ name: 'X', value: '1' }] }], args: ['a', 'b'] },
      { containers: [{ name: 'a', image: '2', env: [{ name: 'Y', value: '2' }] }], args: ['c'], other: [1] },
    ),
    {
      containers: [
        {
          name: 'a',
          image: '2',
          env: [
            { name: 'Y', value: '2' },
            { name: 'X', value: '1' },
          ],
        },
      ],
      args: ['c'],
      other: [1],
    },
  )
  t.strictSame(atOnce(strategicMergeInSteps(list('a'), list('b'), undefined)), list('b'))
})

t.test('new elements come first, known elements stay where they are', async t => {
  t.equal(names(patched(list('a'), list('b'))), 'b a')
  t.equal(names(patched(list('a', 'b', 'c'), list('c', 'd'))), 'a b c d')
})

t.test('null removes, and creates nothing', async t => {
  t.strictSame(patched({ a: 1, b: { c: 1 } }, { a: null, b: { c: null }, d: null, e: { f: null, g: 1 } }), {
    b: {},
    e: { g: 1 },
  })
})

t.test('$patch: delete and replace, on maps and list elements', async t => {
  t.strictSame(patched({ m: { a: 1 } }, { m: { $patch: 'replace', b: 2 } }), { m: { b: 2 } })
  t.strictSame(patched({ m: { a: 1 } }, { m: { $patch: 'delete' } }), { m: {} })
  t.strictSame(patched({ whole: { a: 1 } }, { whole: { b: 1 } }), { whole: { b: 1 } })
  t.equal(names(patched(list('a', 'b'), { containers: [{ $patch: 'delete', name: 'a' }] })), 'b')
  t.equal(names(patched(list('a', 'b'), { containers: [{ $patch: 'replace' }, { name: 'c' }] })), 'c')
  t.strictSame(patched({}, { containers: [{ $patch: 'delete', name: 'a' }, { name: 'b' }] }), {
    containers: [{ name: 'b' }],
  })
})

t.test('$setElementOrder orders what the patch knows and keeps the rest in place', async t => {
  const patch = {
    '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }],
    containers: [{ name: 'a', image: 'j' }],
  }
  t.strictSame(patched(list('a', 'b', 'c'), patch), {
    containers: [
      { name: 'b', image: 'i' },
      { name: 'c', image: 'i' },
      { name: 'a', image: 'j' },
    ],
  })
  t.strictSame(patched({}, { '$setElementOrder/containers': [{ name: 'a' }] }), {})
  t.throws(
    () => patched(list('a'), { '$setElementOrder/containers': [{ name: 'z' }], containers: [{ name: 'q' }] }),
    /^The order in patch list:/,
  )
})

t.test('primitive lists with a merge strategy are sets: finalizers', async t => {
  const original = { metadata: { finalizers: ['a', 'b'] } }
  t.strictSame(patched(original, { metadata: { finalizers: ['c', 'b'] } }), {
    metadata: { finalizers: ['c', 'a', 'b'] },
  })
  t.strictSame(patched(original, { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } }), {
    metadata: { finalizers: ['b'] },
  })
  t.strictSame(
    patched(original, {
      metadata: {
        '$deleteFromPrimitiveList/finalizers': ['a'],
        '$setElementOrder/finalizers': ['c', 'b'],
        finalizers: ['c'],
      },
    }),
    { metadata: { finalizers: ['c', 'b'] } },
  )
})

t.test('$retainKeys clears what the patch does not keep', async t => {
  t.strictSame(
    patched(
      { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } },
      { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
    ),
    { strategy: { type: 'Recreate' } },
  )
  t.throws(() => patched({ strategy: {} }, { strategy: { $retainKeys: ['type'], rollingUpdate: {} } }), {
    code: 400,
    message: 'invalid patch format of retainKeys',
  })
})

t.test('$retainKeys looks each member up once', async t => {
  const names = Array.from({ length: 2_000 }, (_, i) => `k${i}`)
  const all = Object.fromEntries(names.map(name => [name, 1]))
  class Retained extends Array<unknown> {
    override includes(): boolean {
      throw new Error('searched')
    }
  }
  const $retainKeys = Retained.from(names)
  t.strictSame(patched({ strategy: { ...all, other: 1 } }, { strategy: { $retainKeys, ...all } }), { strategy: all })
})

t.test('malformed patches are refused in the words of kube-apiserver', async t => {
  const refused: [unknown, string | RegExp][] = [
    [[], 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [{ m: { $patch: 'foo' } }, /^unknown patch type: foo in map: /],
    [{ m: { $patch: 'merge' } }, /^unknown patch type: merge in map: /],
    [{ containers: [{ $patch: 'merge', name: 'a' }] }, 'merging lists cannot yet be specified in the patch'],
    [{ containers: [{ image: 'x' }] }, /does not contain declared merge key: name$/],
    [{ containers: ['x'] }, /^list element types are not identical: /],
    [{ strategy: { $retainKeys: 'x' } }, 'invalid patch format of retainKeys'],
    [{ '$setElementOrder/containers': 'x' }, 'invalid patch format of setElementOrder list'],
    [{ '$deleteFromPrimitiveList/args': 'x' }, 'invalid patch format of primitive list'],
  ]
  for (const [patch, message] of refused) {
    const original = { ...list('a'), m: {}, strategy: {} }
    t.throws(() => patched(original, patch), { code: 400, message }, JSON.stringify(patch))
  }
})

t.test('a patch may be sent twice, and inputs stay as they are', async () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd')
  const item = fc.record({ name, image: fc.option(fc.string({ maxLength: 2 })) })
  const containers = fc.uniqueArray(item, { selector: c => c.name, maxLength: 4 })
  const object = fc.record(
    { containers, args: fc.array(name), strategy: fc.dictionary(name, fc.integer()), other: fc.option(fc.integer()) },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(object, object, (original, patch) => {
      const frozen = JSON.stringify([original, patch])
      const once = patched(original, patch)
      return equalJson(patched(once, patch), once) && JSON.stringify([original, patch]) === frozen
    }),
    { numRuns: 300 },
  )
})

t.test('long lists are merged in many small steps', async t => {
  const names = Array.from({ length: 20_000 }, (_, i) => `E${i}`)
  const env = (value: string) => names.map(name => ({ name, value }))
  const container = (change: object) => ({ containers: [{ name: 'a', ...change }] })
  const order = names.toReversed().map(name => ({ name }))
  const patches = {
    reordered: container({ '$setElementOrder/env': order, env: env('2').reverse() }),
    deleted: container({ env: names.map(name => ({ $patch: 'delete', name })) }),
    added: container({ env: names.map(name => ({ name: `${name}x` })) }),
  }
  const left = { reordered: 20_000, deleted: 0, added: 40_000 }
  for (const [what, patch] of Object.entries(patches)) {
    const steps = strategicMergeInSteps(container({ env: env('1') }), patch, schema)
    let count = 0
    for (;;) {
      const { done, value } = steps.next()
      if (!done) {
        count++
        continue
      }
      const [{ env: items }] = value.containers as [{ env: unknown[] }]
      t.equal(items.length, left[what as keyof typeof left])
      break
    }
    t.ok(count > 150, `${what}: ${count} steps`)
  }
})
