// How long and how deep expressions may be. The cases were put to upstream's own server, which refuses them in the same words.
import t from 'tap'
import { compileCel } from '../../../src/apimachinery/structural/celProgram.ts'

function refusal(source: string): string {
  try {
    compileCel(source, undefined)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
const around = (times: number, before: string, middle: string, after: string): string =>
  before.repeat(times) + middle + after.repeat(times)
const text = (characters: number, character = 'x'): string => `'${character.repeat(characters - 8)}' != ''`

t.test('as long as upstream allows', async t => {
  t.equal(refusal(text(100_000)), '')
  t.equal(refusal(text(100_000, '😀')), '', 'characters, not bytes')
  const why = 'ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000'
  t.equal(refusal(text(100_001)), why)
  t.equal(refusal(text(100_001, '😀')), why)
})

t.test('lists and maps as large as there is room for', async t => {
  t.equal(refusal(`1 in [${'0,'.repeat(40_000)}0]`), '')
  t.equal(refusal(`'a' in {${Array.from({ length: 1500 }, (_, i) => `'${i}':1`).join()}}`), '')
})

t.test('as deep as upstream allows', async t => {
  const brackets = 'ERROR: <input>:-1:0: expression recursion limit exceeded: 250'
  const operators = 'ERROR: <input>:-1:0: max recursion depth exceeded'
  t.equal(refusal(around(249, '(', 'true', ')')), '')
  t.equal(refusal(around(250, '(', 'true', ')')), brackets)
  t.equal(refusal(around(249, '[', '1', ']')), '')
  t.equal(refusal(around(250, '[', '1', ']')), brackets)
  t.equal(refusal(`'a'${'.lowerAscii()'.repeat(250)} == 'a'`), brackets)
  t.equal(refusal(`${'true?true:'.repeat(250)}true`), brackets)
  t.equal(refusal(`${'1+'.repeat(249)}1 == 1`), '')
  t.equal(refusal(`${'1+'.repeat(250)}1 == 1`), operators)
  t.equal(refusal(`${'1+'.repeat(40_000)}1 == 1`), operators)
})

t.test('what stands in a row is not deep', async t => {
  t.equal(refusal(`${'true&&'.repeat(900)}true`), '')
  t.equal(refusal(`${'!'.repeat(300)}true`), '')
  t.match(
    refusal(`${'true||'.repeat(15_000)}true`),
    /more than 1000 operators of one sort in a row/,
    'upstream has no end',
  )
})
