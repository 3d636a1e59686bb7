import t from 'tap'
import { holdsReference } from '../../src/apimachinery/parameterReference.ts'
import * as fc from '../support/fastCheck.ts'

t.test('a reference is what stands between %( and the next )', async t => {
  const texts = fc.array(fc.constantFrom('%', '(', ')', '%(', 'a', '\n', '%%'), { maxLength: 12 })
  fc.assert(fc.property(texts, parts => holdsReference(parts.join('')) === /%\([^)]*\)/.test(parts.join(''))))
  for (const value of [undefined, 1, {}, ['%(a)']]) t.notOk(holdsReference(value))
})

t.test('a text of references that never end costs one look', async t => {
  // with a look for each of them this takes longer than anybody waits for a test
  t.notOk(holdsReference('%('.repeat(20_000_000)))
})
