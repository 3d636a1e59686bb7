import t from 'tap'
import { hasGenerations, inOurGenerations } from '../../../src/placement/outcome/observedGeneration.ts'

t.test('who names generations', async t => {
  t.ok(hasGenerations({ observedGeneration: 1 }))
  t.ok(hasGenerations({ conditions: [{ type: 'A' }, { type: 'B', observedGeneration: 1 }] }))
  for (const none of [
    undefined,
    {},
    { conditions: [{ type: 'A' }] },
    { observedGeneration: '1' },
    { conditions: 'x' },
  ]) {
    t.notOk(hasGenerations(none))
    t.equal(inOurGenerations(none, { here: 2, there: 3 }, {}), none)
  }
})

t.test('what is observed there is observed here, and not before', async t => {
  const produced = { here: 20, there: 3 }
  const of = (observedGeneration: number, said: unknown = {}) =>
    inOurGenerations({ replicas: 1, observedGeneration }, produced, said)
  t.same(of(3), { replicas: 1, observedGeneration: 20 })
  t.same(of(7), { replicas: 1, observedGeneration: 20 }, 'somebody there has changed it since')
  t.same(of(2, { observedGeneration: 19 }), { replicas: 1, observedGeneration: 19 })
  t.same(of(2, { observedGeneration: 12 }), { replicas: 1, observedGeneration: 12 })
  t.same(
    of(2, { observedGeneration: 20 }),
    { replicas: 1, observedGeneration: 19 },
    'as said of one that was there before',
  )
  t.same(of(2), { replicas: 1 })
  t.same(inOurGenerations({ observedGeneration: 0 }, { here: 1, there: 1 }, { observedGeneration: 1 }), {})
})

t.test('where nobody knows what came of what, it goes on as it was said', async t => {
  t.same(inOurGenerations({ observedGeneration: 9 }, undefined, { observedGeneration: 4 }), { observedGeneration: 4 })
  t.same(inOurGenerations({ observedGeneration: 9, x: 1 }, undefined, undefined), { x: 1 })
})

t.test('each condition on its own', async t => {
  const conditions = [
    { type: 'Ready', status: 'True', observedGeneration: 5 },
    { type: 'Slow', observedGeneration: 4 },
    { type: 'New', observedGeneration: 4 },
    { type: 'None' },
    'odd',
  ]
  const said = {
    conditions: [{ type: 'Slow', observedGeneration: 7 }, { type: 'Ready', observedGeneration: 7 }, 'odd'],
  }
  t.same(inOurGenerations({ conditions }, { here: 9, there: 5 }, said), {
    conditions: [
      { type: 'Ready', status: 'True', observedGeneration: 9 },
      { type: 'Slow', observedGeneration: 7 },
      { type: 'New' },
      { type: 'None' },
      'odd',
    ],
  })
})
