/** The fields and elements of a body are counted in its text, as they would be in what it says. */
import t from 'tap'
import { countValues, widestIn } from '../../../../src/apimachinery/jsonCount.ts'
import { MEMBERS_LIMIT, VALUES_LIMIT, widestMap } from '../../../../src/apimachinery/objectSize.ts'
import { isLargeBody } from '../../../../src/apiserver/exchange/bodies/bodyValues.ts'
import { LARGE_BYTES, LARGE_VALUES } from '../../../../src/apiserver/registry/largeWrites.ts'
import * as fc from '../../../support/fastCheck.ts'

const ALL = Number.POSITIVE_INFINITY
const lists = (count: number): Buffer => Buffer.from(`[${'[],'.repeat(count - 1)}[]]`)

t.test('members and elements, and nothing inside of texts', async t => {
  for (const [text, values] of [
    ['1', 0],
    ['[ ]', 0],
    ['[{},{ }]', 2],
    ['{"a":{"b":[1,2,3]},"c":"d"}', 6],
    [String.raw`{"a,{[":"x\"{[,","b\\":[]}`, 2],
    ['"', 0],
    ['"\\', 0],
  ] as const) {
    t.equal(countValues(Buffer.from(text), ALL), values, text)
  }
})

t.test('as many as the value has', async () => {
  const count = (value: unknown): number =>
    typeof value !== 'object' || value === null
      ? 0
      : Object.values(value).reduce((sum: number, member) => sum + 1 + count(member), 0)
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 2), (text, indent) => {
      const value: unknown = JSON.parse(text)
      return countValues(Buffer.from(JSON.stringify(value, undefined, indent)), ALL) === count(value)
    }),
  )
})

t.test('the widest map of a text is that of what it says', async () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 2), (text, indent) => {
      const value: unknown = JSON.parse(text)
      const most = widestMap(value)
      // `{}` counts as one
      const found = widestIn(Buffer.from(JSON.stringify(value, undefined, indent)))
      return found === most || (most === 0 && found <= 1)
    }),
  )
})

t.test('a map with more fields than the limit is refused', async t => {
  const maps = (fields: number): Buffer =>
    Buffer.from(`{"data":{${Array.from({ length: fields }, (_, i) => `"k${i}":"{,"`).join(',')}},"x":[{},{}]}`)
  t.equal(isLargeBody('application/json', maps(MEMBERS_LIMIT)), true)
  const message = `one map of the request body has more than ${MEMBERS_LIMIT} fields; send less at a time`
  t.throws(() => isLargeBody('application/json', maps(MEMBERS_LIMIT + 1)), { reason: 'RequestEntityTooLarge', message })
})

t.test('no further than anybody wants to know', async t => {
  t.equal(countValues(lists(1000), 10), 11)
})

t.test('large is what has many values, and what is long', async t => {
  const isLarge = (json: Buffer): boolean => isLargeBody('application/json', json)
  t.equal(isLarge(lists(LARGE_VALUES)), false)
  t.equal(isLarge(lists(LARGE_VALUES + 1)), true)
  const text = (length: number): Buffer => Buffer.from(`"${'x'.repeat(length - 2)}"`)
  t.equal(isLarge(text(LARGE_BYTES)), false)
  t.equal(isLarge(text(LARGE_BYTES + 1)), true)
})

t.test('more than the limit is refused, and says what to do', async t => {
  const message = `the request body has more than ${VALUES_LIMIT} fields and elements; send less at a time`
  const body = lists(VALUES_LIMIT + 1)
  t.throws(() => isLargeBody('application/json', body), { reason: 'RequestEntityTooLarge', message })
  t.equal(isLargeBody('application/json', lists(VALUES_LIMIT)), true)
  t.equal(isLargeBody('application/vnd.kubernetes.protobuf', body), true, 'counted when it is read')
  const text = Buffer.from(`{"a":"${'[,'.repeat(VALUES_LIMIT)}"}`)
  t.doesNotThrow(() => isLargeBody('application/json', text), 'a long text')
})
