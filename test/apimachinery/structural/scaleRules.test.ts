import t from 'tap'
import { formatFieldError } from '../../../src/apimachinery/fieldErrors.ts'
import { scaleErrors } from '../../../src/apimachinery/structural/scaleRules.ts'

const PATHS = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n', labelSelectorPath: '.status.s' }
const errors = (object: Record<string, unknown>) => scaleErrors(object, PATHS).map(formatFieldError)

t.test('counts and the selector of a scale are what a scale can hold', async t => {
  t.strictSame(errors({}), [], 'all may be absent')
  t.strictSame(errors({ spec: { n: 0 }, status: { n: 2147483647, s: 'a=b' } }), [])
  t.strictSame(errors({ spec: { n: -1 }, status: { n: 2147483648, s: 5 } }), [
    '.spec.n: Invalid value: -1: should be a non-negative integer',
    '.status.n: Invalid value: 2147483648: should be less than or equal to 2147483647',
    '.status.s: Invalid value: "": .status.s accessor error: 5 is of the type int64, expected string',
  ])
  t.strictSame(errors({ spec: { n: 'x' }, status: 'text' }), [
    '.spec.n: Invalid value: 0: .spec.n accessor error: x is of the type string, expected int64',
    '.status.n: Invalid value: 0: .status.n accessor error: text is of the type string, expected map[string]interface {}',
    '.status.s: Invalid value: "": .status.s accessor error: text is of the type string, expected map[string]interface {}',
  ])
})
