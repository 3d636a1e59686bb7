// Bounds of one budget, and the message when it runs out: as upstream has it.
import t from 'tap'
import { AdmissionCel } from '../../../src/apiserver/admission/admissionCel.ts'
import { AdmissionFacts } from '../../../src/apiserver/admission/admissionFacts.ts'
import { Answers, authorizerVariables } from '../../../src/apiserver/admission/celAuthorizer.ts'
import { type EvaluationParts, runEvaluation } from '../../../src/apiserver/admission/evaluations.ts'
import { Purse } from '../../../src/apiserver/admission/purse.ts'

const cel = new AdmissionCel()
const OUT = 'validation failed due to running out of cost budget, no further validation rules will be run'
const MUCH = 100_000_000
/** Nine tenths of what one evaluation may cost, and next to no time. */
const COSTLY = `!object.s.contains('${'y'.repeat(3000)}')`
const s = 'x'.repeat(30_000)
const many = <T>(count: number, value: T): T[] => Array(count).fill(value)
const conditions = (count: number) => many(count, { name: 'c', expression: cel.compile(COSTLY) })
const validations = (count: number, expression = COSTLY) =>
  many(count, { expression: cel.compile(expression), message: '', messageExpression: undefined, reason: '' })

function scene(units = MUCH) {
  const facts = new AdmissionFacts({ object: { s }, oldObject: null, request: {} })
  const resource = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: '', name: '' }
  const rights = { space: 'root', user: { name: 'a', groups: [] }, resource }
  const authorizer = authorizerVariables(rights, new Answers())
  return { facts, params: { value: null }, authorizer, purse: new Purse(units) }
}
const policy = (given: Partial<EvaluationParts['validations']>): EvaluationParts['validations'] => ({
  conditions: [],
  variables: [],
  failsOpen: false,
  validations: [],
  auditAnnotations: [],
  ...given,
})
const verdict = (given: Partial<EvaluationParts['validations']>, units?: number) =>
  runEvaluation('validations', policy(given), scene(units))
const messages = (given: Partial<EvaluationParts['validations']>, units?: number): string[] =>
  verdict(given, units).failures.map(failure => failure.message)

t.test('validations have ten million units together', async t => {
  t.same(messages({ validations: validations(11) }), [])
  t.same(messages({ validations: [...validations(1, 'false'), ...validations(12)] }), [OUT])
  t.same(messages({ validations: validations(12), failsOpen: true }), [])
})

t.test('what a message costs is out of what validations leave', async t => {
  const costly = cel.compile(`${COSTLY} ? 'told' : ''`)
  const failing = { expression: cel.compile('false'), message: 'fixed', messageExpression: costly, reason: '' }
  t.same(messages({ validations: [...validations(10), failing] }), ['told'])
  t.same(messages({ validations: [...validations(11), failing] }), ['fixed'])
})

t.test('match conditions have two and a half million units of their own', async t => {
  t.same(messages({ conditions: conditions(2), validations: validations(11) }), [])
  t.same(messages({ conditions: conditions(3), validations: validations(1) }), [OUT])
  const part = { conditions: conditions(3), variables: [] }
  t.same(runEvaluation('conditions', part, scene()), { matches: false, error: OUT })
})

t.test('audit annotations have ten million units of their own', async t => {
  const annotation = { key: 'k', expression: cel.compile(`${COSTLY} ? 'noted' : ''`) }
  const found = verdict({ validations: validations(11), auditAnnotations: many(11, annotation) })
  t.same(found, { failures: [], annotations: many(11, { key: 'k', value: 'noted' }) })
  t.same(messages({ auditAnnotations: many(12, annotation) }), [OUT])
})

t.test('texts end by their bytes', async t => {
  const expression = (characters: number) => cel.compile(`'${'ü'.repeat(characters)}'`)
  const failing = (characters: number) => ({
    validations: [
      { expression: cel.compile('false'), message: 'fixed', messageExpression: expression(characters), reason: '' },
    ],
  })
  t.same(messages(failing(2560)), ['ü'.repeat(2560)])
  t.same(messages(failing(2561)), ['fixed'])
  const { annotations } = verdict({ auditAnnotations: [{ key: 'k', expression: expression(6000) }] })
  t.same(annotations, [{ key: 'k', value: 'ü'.repeat(5120) }])
})

t.test('a variable is paid by those who read it first, and once more by annotations', async t => {
  const variables = [{ name: 'v', expression: cel.compile(COSTLY) }]
  t.same(messages({ variables, validations: validations(500, 'variables.v') }), [])
  const annotation = { key: 'k', expression: cel.compile("variables.v ? 'noted' : ''") }
  t.same(messages({ variables, validations: validations(11), auditAnnotations: [annotation] }), [])
})

t.test('one that costs too much alone is told with its text, and the others go on', async t => {
  const failures = messages({ validations: [...validations(1, `${COSTLY} && ${COSTLY}`), ...validations(1, 'false')] })
  t.match(failures, [
    /^expression '!object.+' resulted in error: operation cancelled: actual cost limit exceeded$/s,
    /^failed/,
  ])
})

t.test('all share what is left for the request', async t => {
  t.same(messages({ validations: validations(3) }, 2_000_000), [OUT])
})
