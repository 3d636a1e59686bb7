/** Messages to an operator about a faulty document. */
import t from 'tap'
import { checkerOf } from '../../src/apimachinery/ownDocuments.ts'

t.test('a fault names its field, as it is written in the document', async t => {
  const schema = {
    type: 'object',
    properties: {
      'a/b': { type: 'array', items: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } } },
    },
    required: ['a/b'],
  }
  const check = checkerOf<object>(schema, 'the thing')
  t.throws(() => check('x'), { message: 'the thing must be a mapping' })
  t.throws(() => check({}), { message: 'the thing has no a/b' })
  t.throws(() => check({ 'a/b': [{}, { n: 'x' }] }), { message: 'a/b[1].n must be a whole number' })
  t.throws(() => check({ 'a/b': [{ n: 0 }] }), { message: 'a/b[0].n must be >= 1' })
  t.same(check({ 'a/b': [{ n: null }], more: null }), { 'a/b': [{}] }, 'YAML says null where nothing is said')
})
