/** Thousands of stored objects of a space are compiled on demand, not at the first request of the space. */
import t from 'tap'
import { AdmissionCel, evaluate } from '../../../src/apiserver/admission/admissionCel.ts'
import { conditionsOf } from '../../../src/apiserver/admission/webhookConfigurations.ts'

t.test('match conditions are compiled when they are first evaluated, and then once', async t => {
  const compiled: string[] = []
  class Counting extends AdmissionCel {
    override compile(source: string) {
      compiled.push(source)
      return super.compile(source)
    }
  }
  const matchConditions = ['true', '1 +', 'false'].map(expression => ({ name: 'c', expression }))
  const [yes, broken] = conditionsOf({ matchConditions }, new Counting())
  t.same(compiled, [])
  for (const _ of [1, 2]) t.ok(yes!.expression.program)
  t.throws(() => evaluate(broken!.expression, {}, {} as never), /compilation failed/)
  t.same(compiled, ['true', '1 +'])
})
