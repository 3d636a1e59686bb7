/** Unusual Accept headers: anything behind the first parameters is ignored. */
import t from 'tap'
import { errorFormat, negotiate, negotiateFormat } from '../../../src/apiserver/http/negotiate.ts'

t.test('of many parameters the first count', async t => {
  const table = 'as=Table;v=v1;g=meta.k8s.io'
  t.match(negotiate(`application/json;${'x=1;'.repeat(17)}${table}`), { as: 'Table' })
  t.throws(() => negotiate(`application/json;${'x=1;'.repeat(18)}${table}`), {
    name: 'StatusError',
    reason: 'NotAcceptable',
  })
  t.throws(() => negotiateFormat(';'.repeat(60_000)), { name: 'StatusError', reason: 'NotAcceptable' })
  t.equal(negotiateFormat(`${';'.repeat(60_000)},application/yaml`), 'yaml')
  t.equal(errorFormat(`application/yaml;${'a=b;'.repeat(10_000)}as=Table`), 'yaml')
})
