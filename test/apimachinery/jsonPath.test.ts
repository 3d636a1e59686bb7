import t from 'tap'
import { compileJsonPath } from '../../src/apimachinery/jsonPath.ts'

const pod = {
  metadata: { labels: { 'app.kubernetes.io/name': 'web', 'a]b': 'x' } },
  spec: {
    containers: [
      { name: 'a', ports: [{ port: 80 }] },
      { name: 'b', ports: [{ port: 81 }, { port: 82 }] },
    ],
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', count: 3 },
      { type: 'Other', status: 'False', count: 5 },
    ],
    none: null,
  },
}

t.test('paths of printer columns find what kubectl shows', async t => {
  const cases: [string, unknown[]][] = [
    ['.spec.containers[0].name', ['a']],
    ['spec.containers[-1].name', ['b']],
    ['.spec.containers[*].name', ['a', 'b']],
    ['.spec.containers[0:1].name', ['a']],
    ['{.spec.containers[*].ports[*].port}', [80, 81, 82]],
    ['$.spec.containers[5].name', []],
    [".metadata.labels['app.kubernetes.io/name']", ['web']],
    ['.metadata.labels.app\\.kubernetes\\.io/name', ['web']],
    ['.metadata.labels["a]b"]', ['x']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type == 'Ready')].status", ['True']],
    ['.status.conditions[?(@.count>=5)].type', ['Other']],
    ['.status.conditions[?(@.missing)].type', []],
    ['..port', [80, 81, 82]],
    ['.spec.containers.*.name', ['a', 'b']],
    ['.status.none', [null]],
    ['.spec.nope.deeper', []],
    ['.spec.toString', []],
    ['.', [pod]],
  ]
  for (const [path, found] of cases) t.same(compileJsonPath(path)(pod), found, path)
})

t.test('a path that is not understood is refused when it is compiled', async t => {
  for (const bad of ['.a[', '.a[x]', '.a..', '.a[?(@.b==x)]', '.a[0]b']) {
    t.throws(() => compileJsonPath(bad), { message: /invalid JSONPath/ }, bad)
  }
})

t.test('a path that finds the same values many times over finds nothing', async t => {
  let object: unknown = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, { v: i }]))
  for (let i = 0; i < 12; i++) object = { a: object }
  t.equal(compileJsonPath('..v')(object).length, 1000)
  t.same(compileJsonPath(`$${'..*'.repeat(8)}`)(object), [])
  t.same(compileJsonPath(`$..a[?(@${'..*'.repeat(8)} == 1)]`)(object), [])
})

t.test('a path as long as a request can hold is read once, whatever is in it', async t => {
  const blanks = ' '.repeat(2_000_000)
  const object = { a: [{ b: 1 }, { b: 2 }] }
  t.same(compileJsonPath(`.a[?(@.b${blanks}==${blanks}1)].b`)(object), [1])
  t.same(compileJsonPath(`.a[?(@.b${blanks}x)]`)(object), [])
  const filters = (count: number): string => `${'[?(@'.repeat(count)}.b${')]'.repeat(count)}`
  t.same(compileJsonPath(`.a${filters(8)}.b`)(object), [1, 2])
  for (const count of [9, 400_000])
    t.throws(() => compileJsonPath(`.a${filters(count)}`), { message: /more than 8 filters in one another/ })
})
