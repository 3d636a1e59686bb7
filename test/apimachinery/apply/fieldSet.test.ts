import t from 'tap'
import {
  difference,
  EMPTY_SET,
  equalSets,
  type FieldSet,
  fieldSet,
  fromFieldsV1,
  fromFieldsV1InSteps,
  HERE,
  intersection,
  isEmptySet,
  leavesOf,
  pathsOf,
  recursiveDifference,
  showPath,
  toFieldsV1,
  toFieldsV1InSteps,
  union,
  unionAll,
} from '../../../src/apimachinery/apply/fieldSet.ts'
import { keyElement, valueElement } from '../../../src/apimachinery/apply/pathElement.ts'
import type { FieldsV1 } from '../../../src/apimachinery/object.ts'
import { atOnce } from '../../../src/apimachinery/steps.ts'
import * as fc from '../../support/fastCheck.ts'

t.test('tries are written as kube-apiserver writes them: canonical keys, in its order', async t => {
  t.equal(keyElement({ protocol: 'TCP', containerPort: 80 }), 'k:{"containerPort":80,"protocol":"TCP"}')
  t.equal(valueElement('a/b'), 'v:"a/b"')
  const trie = {
    'i:10': {},
    'i:9': {},
    'v:true': {},
    'v:"b"': {},
    'v:10': {},
    'v:9': {},
    'v:"a"': {},
    'k:{"protocol":"TCP","port":443}': { 'f:b': {}, '.': {}, 'f:a': {} },
    'k:{"port":80,"protocol":"TCP"}': {},
    'f:z': {},
    'f:a': { 'f:c': {} },
    'x:later': {},
  }
  t.equal(
    JSON.stringify(toFieldsV1(fromFieldsV1(trie))),
    JSON.stringify({
      'f:a': { 'f:c': {} },
      'f:z': {},
      'k:{"port":80,"protocol":"TCP"}': {},
      'k:{"port":443,"protocol":"TCP"}': { '.': {}, 'f:a': {}, 'f:b': {} },
      'v:9': {},
      'v:10': {},
      'v:"a"': {},
      'v:"b"': {},
      'v:true': {},
      'i:9': {},
      'i:10': {},
    }),
  )
})

t.test('paths are shown as messages show them', async t => {
  const set = fromFieldsV1({
    'f:spec': {
      'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:image': {} } },
      'f:set': { 'v:"x"': {}, 'i:0': {} },
    },
  })
  t.strictSame(
    [...pathsOf(set)].map(path => showPath(path)),
    ['.spec.containers[name="a"]', '.spec.containers[name="a"].image', '.spec.set[="x"]', '.spec.set[0]'],
  )
  t.strictSame(toFieldsV1(leavesOf(set)), {
    'f:spec': { 'f:containers': { 'k:{"name":"a"}': { 'f:image': {} } }, 'f:set': { 'v:"x"': {}, 'i:0': {} } },
  })
})

t.test('what is no trie is refused', async t => {
  for (const bad of [null, 'x', { 'f:a': 1 }, { 'k:x': {} }, { 'k:[]': {} }, { 'v:{': {} }, { 'i:x': {} }])
    t.throws(() => fromFieldsV1(bad), JSON.stringify(bad))
})

const element = fc.constantFrom('f:a', 'f:b', 'k:{"name":"x"}', 'v:1', 'i:0')
const setOfDepth = (depth: number): fc.Arbitrary<FieldSet> =>
  depth === 0
    ? fc.constant(HERE)
    : fc.tuple(fc.boolean(), fc.dictionary(element, setOfDepth(depth - 1), { maxKeys: 3 })).map(([self, children]) => {
        const kept = Object.entries(children).filter(([, child]) => !isEmptySet(child))
        return fieldSet(self, new Map(kept))
      })
const set = setOfDepth(3).map(node => fieldSet(false, node.children))

const strings = (s: FieldSet) => new Set([...pathsOf(s)].map(path => path.join('/')))
const same = (s: FieldSet, paths: Set<string>) => strings(s).symmetricDifference(paths).size === 0

t.test('the algebra is that of sets of paths', async () => {
  fc.assert(
    fc.property(set, set, set, (a, b, c) => {
      const [A, B] = [strings(a), strings(b)]
      return (
        same(union(a, b), A.union(B)) &&
        same(difference(a, b), A.difference(B)) &&
        same(intersection(a, b), A.intersection(B)) &&
        equalSets(a, b) === (A.symmetricDifference(B).size === 0) &&
        equalSets(union(a, union(b, c)), union(union(a, b), c)) &&
        equalSets(difference(a, union(b, c)), difference(difference(a, b), c)) &&
        isEmptySet(difference(a, a)) &&
        isEmptySet(intersection(a, EMPTY_SET)) &&
        isEmptySet(a) === (A.size === 0) &&
        same(
          recursiveDifference(a, b),
          new Set([...A].filter(path => ![...B].some(above => path === above || path.startsWith(`${above}/`)))),
        )
      )
    }),
    { numRuns: 300 },
  )
})

t.test('every set survives its written form', async () => {
  fc.assert(
    fc.property(set, s => {
      const trie = JSON.parse(JSON.stringify(toFieldsV1(s))) as FieldsV1
      return equalSets(fromFieldsV1(trie), s)
    }),
    { numRuns: 300 },
  )
})

t.test('a large one is read in steps, to the same', async t => {
  const wide = Object.fromEntries(
    Array.from({ length: 1500 }, (_, i) => [`k:{"name":"${i}"}`, { '.': {}, 'f:value': {} }]),
  )
  fc.assert(
    fc.property(set, s => {
      const trie = { 'f:wide': wide, 'f:other': toFieldsV1(s) } as FieldsV1
      const steps = fromFieldsV1InSteps(trie)
      let rests = 0
      let step = steps.next()
      for (; !step.done; step = steps.next()) rests++
      t.ok(rests > 4, `${rests} rests`)
      return equalSets(step.value, fromFieldsV1(trie))
    }),
    { numRuns: 20 },
  )
  const bad = { 'f:wide': wide, 'f:x': 7 } as unknown as FieldsV1
  t.throws(() => atOnce(fromFieldsV1InSteps(bad)), { message: 'fieldsV1 must consist of objects' })
  t.equal(fromFieldsV1InSteps({ 'f:a': {} }).next().done, true, 'a small one at once')
})

t.test('a large one is written in steps, to the same', async t => {
  const names = Array.from({ length: 3000 }, (_, i) => (i * 7919) % 3001)
  const keys = Object.fromEntries(names.map(i => [`k:{"name":"${i}"}`, { '.': {}, 'f:value': {} }]))
  const members = Object.fromEntries(names.map(i => [`f:${i}`, {}]))
  for (const wide of [keys, members, { ...keys, ...members }]) {
    fc.assert(
      fc.property(set, s => {
        const all = fromFieldsV1({ 'f:wide': wide, 'f:other': toFieldsV1(s) })
        const steps = toFieldsV1InSteps(all)
        let rests = 0
        let step = steps.next()
        for (; !step.done; step = steps.next()) rests++
        t.ok(rests > 30, `${rests} rests`)
        return JSON.stringify(step.value) === JSON.stringify(toFieldsV1(all))
      }),
      { numRuns: 5 },
    )
  }
  t.equal(toFieldsV1InSteps(fromFieldsV1({ 'f:a': {} })).next().done, true, 'a small one at once')
  fc.assert(fc.property(set, s => JSON.stringify(atOnce(toFieldsV1InSteps(s))) === JSON.stringify(toFieldsV1(s))))
})

/** Counts its look-ups. */
class CountingMap<V> extends Map<string, V> {
  reads = 0
  override get(key: string): V | undefined {
    this.reads++
    return super.get(key)
  }
}

t.test('a small set is held against a large one in as many steps as the small one has members', async t => {
  const large = new CountingMap<FieldSet>()
  for (let i = 0; i < 10_000; i++) large.set(`f:k${i}`, HERE)
  const all = fieldSet(false, large)
  const few = fieldSet(
    false,
    new Map([
      ['f:k1', HERE],
      ['f:k2', HERE],
      ['f:z', HERE],
    ]),
  )
  for (const operation of [difference, recursiveDifference, intersection]) {
    large.reads = 0
    operation(few, all)
    operation(all, few)
    t.ok(large.reads <= 12, `${operation.name} asked ${large.reads} times`)
  }
})

t.test('the union of many sets is that of one after the other, and looks at each member twice at most', async t => {
  const element = fc.constantFrom('f:a', 'f:b', 'f:c', 'v:1')
  const path = fc.array(element, { minLength: 1, maxLength: 3 })
  const made = (paths: readonly string[][]) =>
    paths.reduce<FieldSet>((set, each) => {
      let one = HERE
      for (const name of each.toReversed()) one = { self: false, children: new Map([[name, one]]) }
      return union(set, one)
    }, EMPTY_SET)
  fc.assert(
    fc.property(fc.array(fc.array(path, { maxLength: 4 }).map(made), { maxLength: 6 }), sets => {
      t.ok(equalSets(unionAll(sets), sets.reduce(union, EMPTY_SET)))
    }),
  )
  let looks = 0
  const watched = Array.from({ length: 1_000 }, (_, i) => {
    const set: FieldSet = {
      self: false,
      get children() {
        looks++
        return new Map([[`f:k${i}`, HERE]])
      },
    }
    return set
  })
  t.equal(unionAll(watched).children?.size, 1_000)
  t.ok(looks <= 2_000, `${looks}`)
})
