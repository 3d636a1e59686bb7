/** CEL's `sets`: lists compared without regard to order and repetition. */
import type { Environment } from '@marcbachmann/cel-js'
import { WorkBudget } from '../workBudget.ts'
import { celEqual } from './celEquality.ts'
import { registerNamespace } from './celRegister.ts'

/** The price of the call has paid for every comparison. */
const paid = new WorkBudget(Number.POSITIVE_INFINITY, () => new Error('sets are paid for when they are called'))

export function addSets(environment: Environment): void {
  const has = (list: readonly unknown[], item: unknown): boolean => list.some(other => celEqual(other, item, paid))
  const contains = (list: readonly unknown[], part: readonly unknown[]): boolean => part.every(item => has(list, item))
  registerNamespace(environment, 'sets', {
    'contains(list, list): bool': contains,
    'equivalent(list, list): bool': (a: unknown[], b: unknown[]) => contains(a, b) && contains(b, a),
    'intersects(list, list): bool': (a: unknown[], b: unknown[]) => a.some(item => has(b, item)),
  })
}
