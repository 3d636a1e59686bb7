import t from 'tap'
import { jsonSize, jsonSizeInSteps, jsonTextSize } from '../../src/apimachinery/jsonSize.ts'
import { Pace } from '../../src/apimachinery/pace.ts'
import * as fc from '../support/fastCheck.ts'

const text = fc.string({
  unit: fc.constantFrom(
    'a',
    '"',
    '\\',
    '/',
    '\n',
    '\u0000',
    '\u007f',
    '\u0080',
    'ü',
    '\u2028',
    '\ud83d',
    '\ude00',
    '😀',
    '\uffff',
  ),
})
const key = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', '0', 'toJSON'))
const { value } = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.constantFrom(null, true, false, 0, -0, 1.5, 1e21, -1e-7),
    fc.array(fc.oneof(tie('value'), fc.constant(undefined)), { maxLength: 5 }),
    fc.dictionary(key, fc.oneof(tie('value'), fc.constant(undefined)), { maxKeys: 5 }),
  ),
}))

t.test('the size is that of the text that JSON.stringify writes', async () => {
  fc.assert(fc.property(text, each => jsonTextSize(each) === bytesOf(each) - 2))
  fc.assert(fc.property(value, each => jsonSize(each) === bytesOf(each)))
})

t.test('in steps it is the same, and others have their turns', async t => {
  const large = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i % 2 ? ['"'] : { a: 'ü' }]))
  const steps = jsonSizeInSteps(large, new Pace())
  let rests = 0
  let step = steps.next()
  for (; !step.done; step = steps.next()) rests++
  t.equal(step.value, bytesOf(large))
  t.ok(rests >= 15, `${rests} rests`)
})

function bytesOf(each: unknown): number {
  return Buffer.byteLength(JSON.stringify(each))
}
