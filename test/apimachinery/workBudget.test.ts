// Budgets of work: they refuse before the work is done, once for all, and parts come out of the whole.

import t from 'tap'
import { WorkBudget } from '../../src/apimachinery/workBudget.ts'
import * as fc from '../support/fastCheck.ts'

const budget = (units: number) => new WorkBudget(units, () => new Error('too much'))

t.test('what is left can be spent, and no more', async t => {
  const b = budget(3)
  b.spend(2)
  b.spend()
  t.equal(b.left, 0)
  t.equal(b.refusal, undefined)
  t.throws(() => b.spend(0.1), { message: 'too much' })
  t.throws(() => b.spend(0), { message: 'too much' }, 'who was refused stays refused')
  t.equal(b.left, 0)
})

t.test('a large refusal takes what was left', async t => {
  const b = budget(10)
  t.throws(() => b.spend(11), { message: 'too much' })
  t.throws(() => b.spend(1))
})

t.test('the refusal is one error, made once', async t => {
  const b = budget(0)
  const thrown: unknown[] = []
  for (let i = 0; i < 2; i++) {
    try {
      b.spend()
    } catch (error) {
      thrown.push(error)
    }
  }
  t.equal(thrown[0], thrown[1])
  t.equal(thrown[0], b.refusal)
})

t.test('no price at all is refused', async t => {
  t.throws(() => budget(10).spend(Number.NaN))
  t.throws(() => budget(10).spend(Number.POSITIVE_INFINITY))
})

t.test('a part that runs out says so itself, and the whole goes on', async t => {
  const whole = budget(100)
  const small = () => new Error('part')
  t.throws(() => whole.part(10, small, part => part.spend(11)), { message: 'part' })
  t.equal(whole.left, 90, 'what was refused counts as spent')
  t.equal(whole.refusal, undefined)
  whole.part(10, small, part => part.spend(4))
  t.equal(whole.left, 86)
})

t.test('a part of a whole that runs out says what the whole says', async t => {
  const whole = budget(5)
  t.throws(
    () =>
      whole.part(
        10,
        () => new Error('part'),
        part => part.spend(6),
      ),
    { message: 'too much' },
  )
  t.equal(whole.refusal?.message, 'too much')
  t.throws(() => whole.spend(0))
})

t.test('no sequence of parts spends more than the whole', async () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.array(fc.tuple(fc.nat(300), fc.nat(300))), (units, parts) => {
      const whole = budget(units)
      let spent = 0
      for (const [size, cost] of parts) {
        try {
          whole.part(
            size,
            () => new Error('part'),
            part => part.spend(cost),
          )
          spent += cost
        } catch {
          // refused
        }
      }
      return spent <= units && whole.left >= 0 && whole.left <= units - spent
    }),
  )
})
