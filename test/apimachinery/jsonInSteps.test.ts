/** JSON in steps is what JSON.parse makes of it, whatever it is, and no step is long. */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { jsonInSteps } from '../../src/apimachinery/jsonInSteps.ts'
import { mistakableKeyIn, parseJsonSafely } from '../../src/apimachinery/jsonParse.ts'
import { repeatsKeys } from '../../src/apimachinery/repeatedKeys.ts'
import { atOnce } from '../../src/apimachinery/steps.ts'
import { beyondNumbers } from '../../src/apiserver/exchange/bodies/beyondNumbers.ts'
import * as fc from '../support/fastCheck.ts'

parseJsonSafely()

/** As JSON.parse: the value, and its keys in their order; nothing where it refuses. */
function judged(text: string): { value: unknown; repeatsKeys: boolean } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return { value, repeatsKeys: repeatsKeys(text, value) }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function inOrder(parsed: { value: unknown } | undefined): string | undefined {
  return parsed && JSON.stringify(parsed.value)
}

const odd = ['', '__proto__', '1', '0', 'a"b', 'a\\', '}', ']', ',', ' ', 'constructor', 'ä']
const values = fc.letrec(tie => ({
  value: fc.oneof({ maxDepth: 5, withCrossShrink: true }, fc.json({ maxDepth: 0 }), tie('list'), tie('map')),
  list: fc.array(tie('value') as fc.Arbitrary<string>, { maxLength: 8 }).map(items => `[${items.join(', ')}]`),
  map: fc
    .array(fc.tuple(fc.constantFrom(...odd), tie('value') as fc.Arbitrary<string>), { maxLength: 8 })
    .map(members => `{${members.map(([key, value]) => `${JSON.stringify(key)} :${value}`).join(',\n')}}`),
}))
const texts = fc.oneof(values.list, values.map) as fc.Arbitrary<string>

/** Values, their keys in order, and repeated keys. */
function isSame(parsed: ReturnType<typeof judged>, expected: ReturnType<typeof judged>): boolean {
  return isDeepStrictEqual(parsed, expected) && inOrder(parsed) === inOrder(expected)
}

t.test('what is JSON is the same, and so is what is said twice', async () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 40 }), (text, piece) => {
      const parsed = atOnce(jsonInSteps(text, piece))
      if (parsed === undefined) return text.length <= piece + 1 || mistakableKeyIn(text) !== undefined
      return isSame(parsed, judged(text))
    }),
    { numRuns: 500 },
  )
})

t.test('no later key is read as one with a backslash that a long text had', async t => {
  // of four members: the engine keeps their order in one place, whether they are read or assigned
  const long = '{"x":"s","y":"s","z":1.5,"a\\\\":"s","list":[1,2,3,4,5]}'
  for (let piece = 1; piece < 9; piece++) atOnce(jsonInSteps(long, piece))
  t.same(Object.keys(JSON.parse('{"x":"s","y":"s","z":1.5,"a\\"":"s"}')), ['x', 'y', 'z', 'a"'])
})

t.test('what is no JSON is left to JSON.parse', async () => {
  const noise = fc.constantFrom(',', ':', '{', '}', '[', ']', '"', '\\', '1', ' ', '\u00a0', 'null', '')
  const breaks = fc.record({ at: fc.nat(), cut: fc.nat({ max: 2 }), add: noise })
  fc.assert(
    fc.property(texts, breaks, fc.integer({ min: 1, max: 40 }), (text, { at, cut, add }, piece) => {
      const place = at % (text.length + 1)
      const broken = text.slice(0, place) + add + text.slice(place + cut)
      const parsed = atOnce(jsonInSteps(broken, piece))
      return parsed === undefined || isSame(parsed, judged(broken))
    }),
    { numRuns: 700 },
  )
})

t.test('nothing but a comma or a colon stands before a long list', async t => {
  for (const text of [
    '{"a":1[ "a"]}',
    '{"a" "b":["a","b"]}',
    '["a"["a","b"]]',
    '{["a","b"]}',
    '{"a":["a","b"],}',
    '[,["a","b"]]',
  ])
    t.equal(atOnce(jsonInSteps(text, 3)), undefined, text)
})

t.test('a large body is parsed in many steps, also deep inside', async t => {
  const members = Array.from({ length: 50_000 }, (_, i) => `"k${i}":{"a":1}`).join(',')
  const long = 'x'.repeat(100_000)
  const text = `{"kind":"A","spec":{"list":[1,{"map":{${members}},"after":"${long}"},{}]},"z":null}`
  let steps = 0
  const work = jsonInSteps(text)
  let last = work.next()
  for (; !last.done; last = work.next()) steps++
  t.ok(steps > 40, `${steps} steps of ${text.length} characters`)
  t.ok(inOrder(last.value) === inOrder(judged(text)))
})

t.test('a long text is itself, wherever it stands', async t => {
  const long = 'xä'.repeat(100_000)
  for (const text of [
    `{"a":1,"b" : "${long}" ,"c":"${long}"}`,
    `["${long}",1, "${long}"]`,
    `{"a":{"b":"${long}\\n"},"${long}":"${long}","c":["${long}"]}`,
    `{"a":"${long}","a":"${long}"}`,
    `{"__proto__":"${long}"}`,
  ]) {
    const parsed = atOnce(jsonInSteps(text))
    t.ok(parsed && isSame(parsed, judged(text)), text.slice(0, 12))
  }
  for (const text of [
    `{"a":1 "${long}"}`,
    `{"a":1,"${long}"}`,
    `{"a" "${long}"}`,
    `["${long}" "${long}"]`,
    `{"a":"${long}",}`,
    `["a":"${long}"]`,
    `{"a":"${long}\n"}`,
    `{:"${long}"}`,
    `{1:"${long}"}`,
  ])
    t.equal(atOnce(jsonInSteps(text)), undefined, text.slice(0, 12))
})

t.test('what is too deep, short or no container is left to JSON.parse', async t => {
  const deep = '['.repeat(600) + ' '.repeat(20_000) + ']'.repeat(600)
  for (const text of [
    deep,
    '{"a":1}',
    `"${'x'.repeat(20_000)}"`,
    '',
    ' '.repeat(20_000),
    `{"a":"${'x'.repeat(20_000)}`,
  ])
    t.equal(atOnce(jsonInSteps(text)), undefined)
})

t.test('numbers beyond all numbers are found, and only they', async t => {
  t.equal(beyondNumbers('{"a":[1,1e309]}'), '1e309')
  t.equal(beyondNumbers('[-1e400]'), '-1e400')
  t.equal(beyondNumbers(`[${'1'.repeat(400)}]`), '1'.repeat(400))
  t.equal(
    beyondNumbers(`{"1e400":"1e400 \\" 1e400","a":[1e300,true,false,null,0.${'1'.repeat(400)},1e-400]}`),
    undefined,
  )
})
