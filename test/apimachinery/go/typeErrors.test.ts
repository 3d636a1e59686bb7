/** Wrong types in built-in kinds, where Go's JSON package has words of its own. The plain ones are in `validate.test.ts`. */
import t from 'tap'
import { typeErrors } from '../../../src/apimachinery/go/typeErrors.ts'
import type { Schema } from '../../../src/apimachinery/schema.ts'

t.test('an integer or a text is nothing else: not a fraction, not more than 32 bits', async t => {
  const schema: Schema = { type: 'object', properties: { maxSurge: { 'x-kubernetes-int-or-string': true } } }
  const told = (maxSurge: unknown) => typeErrors({ kind: 'Rolling', maxSurge }, schema)
  for (const fine of [0, 1, -1, '25%', '', null]) t.equal(told(fine), undefined, JSON.stringify(fine))
  const wrong = (what: string): string =>
    `json: cannot unmarshal ${what} into Go struct field Rolling.maxSurge of type int32`
  t.equal(told(1.5), wrong('number 1.5'))
  t.equal(told(3e9), wrong('number 3000000000'))
  t.equal(told(true), wrong('bool'))
  t.equal(told([]), wrong('array'))
  t.equal(told({}), wrong('object'))
})
