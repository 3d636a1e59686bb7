// One text must not change how another is read.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { isMistakable, mistakableKeyIn, parse } from '../../src/apimachinery/jsonParse.ts'
import * as fc from '../support/fastCheck.ts'

/** The keys of `later`, read in a process of its own after `first`. */
function readAfter(first: string, later: string): string[] {
  const url = join(import.meta.dirname, '../../src/apimachinery/jsonParse.ts')
  const script = `import { parse } from ${JSON.stringify(url)}
    const [first, later] = ${JSON.stringify([first, later])}
    for (let i = 0; i < 100; i++) parse(first)
    console.log(JSON.stringify(Object.keys(parse(later))))`
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }))
}

t.test('claims of managers are read as they are, whatever somebody sent before', async t => {
  const key = 'k:{"name":"web"}'
  const claims = JSON.stringify({ '.': {}, [key]: { 'f:image': {} } })
  const beginning = JSON.stringify(key).slice(1, 1 + key.length)
  t.same(readAfter(JSON.stringify({ '.': {}, [beginning]: {} }), claims), ['.', key])
  const spelt = `{".":{},"${beginning.replaceAll('\\', '\\u005c').replaceAll('"', '\\"')}":{}}`
  t.same(readAfter(spelt, claims), ['.', key])
})

// Texts, not objects: one of four members that anybody makes in this process is known to the engine, too.
const odd = fc
  .string({ unit: fc.constantFrom('a', 'b', '"', '\\', '\n', 'é', '\u0001'), maxLength: 6 })
  .map(each => JSON.stringify(each))
const text = fc.letrec<{ any: string; list: string; map: string }>(tie => ({
  any: fc.oneof({ maxDepth: 4 }, odd, fc.integer().map(String), fc.constant('null'), tie('list'), tie('map')),
  list: fc.array(tie('any'), { maxLength: 3 }).map(items => `[${items.join(',')}]`),
  map: fc
    .uniqueArray(fc.tuple(odd, tie('any')), { maxLength: 4, selector: ([key]) => key })
    .map(members => `{${members.map(member => member.join(':')).join(',')}}`),
})).any

t.test('what is read is what was written, for all keys and in any order of texts', async t => {
  // JSON.stringify knows nothing of the texts that were read
  const property = fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), texts =>
    texts.every(each => JSON.stringify(parse(each)) === each),
  )
  fc.assert(property, { numRuns: 3000 })
  const repeated = '{"a\\\\b":1,"c":2,"a\\\\b":3}'
  t.same(parse(repeated), { 'a\\b': 3, c: 2 }, 'the last one counts')
  t.same(Object.keys(parse('{"__proto__":1,"\\\\":2}') as object), ['__proto__', '\\'])
  for (const broken of ['{"a\\\\":', '{"a\\', '"a\\\\":1', '{"a\\\\b":1}}', ''])
    t.throws(() => parse(broken), SyntaxError, broken)
})

t.test('keys that no text of a key can begin with are left to the engine', async t => {
  for (const key of ['k:{"mountPath":"C:\\\\data"}', 'plain', '\n\\', '"\\'])
    t.notOk(isMistakable(key) || mistakableKeyIn(JSON.stringify({ [key]: 1 })) !== undefined, key)
  for (const key of ['a\\b', '\\', 'k:{\\"name'])
    t.ok(isMistakable(key) && mistakableKeyIn(JSON.stringify({ a: '\\', b: { [key]: 1 } })) === key, key)
  t.equal(mistakableKeyIn('{"a":"C:\\\\b","c":["\\\\"]}'), undefined, 'values are not keys')
})
