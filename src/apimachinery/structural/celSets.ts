/** CEL's `sets`: lists compared without regard to order and repetition. */
import { type Environment, parse } from '@marcbachmann/cel-js'
import { registerNamespace } from './celRegister.ts'

/** Equality as the language has it. */
const equal = parse('a == b')

export function addSets(environment: Environment): void {
  const has = (list: readonly unknown[], item: unknown): boolean => list.some(other => equal({ a: other, b: item }))
  const contains = (list: readonly unknown[], part: readonly unknown[]): boolean => part.every(item => has(list, item))
  registerNamespace(environment, 'sets', {
    'contains(list, list): bool': contains,
    'equivalent(list, list): bool': (a: unknown[], b: unknown[]) => contains(a, b) && contains(b, a),
    'intersects(list, list): bool': (a: unknown[], b: unknown[]) => a.some(item => has(b, item)),
  })
}
