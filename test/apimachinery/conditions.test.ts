/** Conditions of several writers in one status. */
import t from 'tap'
import { type Condition, conditionOf, conditionsOf, mergeConditions } from '../../src/apimachinery/conditions.ts'

const [EARLY, LATE] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']
const ready = (status: Condition['status'], message = ''): Condition => ({
  type: 'Ready',
  status,
  reason: 'R',
  message,
  observedGeneration: 1,
})
const OTHER = { type: 'Other', status: 'True', lastTransitionTime: EARLY }

t.test('a status without conditions has none', async t => {
  for (const status of [undefined, null, 'x', {}, { conditions: 'x' }, { conditions: ['x', null] }])
    t.same(conditionsOf({ status }), [])
})

t.test('conditions of others stay where they are', async t => {
  const { conditions, isChanged } = mergeConditions([ready('False') as never, OTHER], [ready('True')], LATE)
  t.ok(isChanged)
  t.same(conditions, [{ ...ready('True'), lastTransitionTime: LATE }, OTHER])
  const added = mergeConditions([OTHER], [ready('True')], LATE)
  t.same(added.conditions, [OTHER, { ...ready('True'), lastTransitionTime: LATE }])
})

t.test('the time of a transition stays while the status does', async t => {
  const { conditions: before } = mergeConditions([], [ready('True')], EARLY)
  const { conditions, isChanged } = mergeConditions(before, [ready('True', 'another message')], LATE)
  t.ok(isChanged)
  t.match(conditionOf({ status: { conditions } }, 'Ready'), { message: 'another message', lastTransitionTime: EARLY })
  t.match(mergeConditions(before, [ready('False')], LATE).conditions, [{ lastTransitionTime: LATE }])
})

t.test('a writer may know the time itself', async t => {
  const { conditions } = mergeConditions([], [{ ...ready('True'), lastTransitionTime: EARLY }], LATE)
  t.match(conditions, [{ lastTransitionTime: EARLY }])
})

t.test('the same conditions change nothing, and another generation does', async t => {
  const { conditions: before } = mergeConditions([OTHER], [ready('True')], EARLY)
  const again = mergeConditions(before, [ready('True')], LATE)
  t.notOk(again.isChanged)
  t.same(again.conditions, before)
  t.ok(mergeConditions(before, [{ ...ready('True'), observedGeneration: 2 }], LATE).isChanged)
})
