/**
 * Makes a compiled expression pay while it runs. Every evaluated part has a price, and every operator and function one by the sizes of its
 * arguments, charged before it works.
 */
import type { ASTNode } from '@marcbachmann/cel-js'
import type { WorkBudget } from '../workBudget.ts'
import { chargeEntries, isMap } from './celEquality.ts'
import { checkNewKey, FUNCTION_PRICES, OPERATOR_PRICES, type Price } from './celPrices.ts'

/** Where the running evaluation's budget is. */
export interface Meter {
  budget: WorkBudget
}

/** Role of a part in the one around it. */
export type Role = 'part' | 'body' | 'range' | 'key'

/** `all` and `exists` go on behind an error; making one takes as long as this many steps. */
const FAILURE = 60

/** The library sets `evaluate` and `handle` of its nodes itself, at the first use and at the check: ours stay in front. */
export function attachMeter(node: ASTNode, role: Role, meter: Meter): void {
  // what is written down costs nothing but as the body of a loop
  if (node.op !== 'value' || role === 'body') countEvaluations(node, role, meter)
  const price = priceOf(node)
  if (price !== undefined) payForArguments(node, price, meter)
}

type Method = (this: unknown, ...args: unknown[]) => unknown

function countEvaluations(node: ASTNode, role: Role, meter: Meter): void {
  const steps = stepsOf(node)
  inFront(node, 'evaluate', inner => (...args) => {
    meter.budget.spend(steps)
    if (role === 'body') return attempt(() => inner().apply(node, args), meter)
    const value = inner().apply(node, args)
    if (role === 'range' && isMap(value)) chargeEntries(value, meter.budget)
    else if (role === 'key') checkNewKey(value, meter.budget)
    return value
  })
}

function attempt(run: () => unknown, meter: Meter): unknown {
  try {
    return run()
  } catch (error) {
    meter.budget.spend(FAILURE)
    throw error
  }
}

/** Lists and maps that are written down are made anew each time. */
function stepsOf(node: ASTNode): number {
  if (node.op === 'list') return 1 + node.args.length
  return node.op === 'map' ? 1 + 2 * node.args.length : 1
}

function priceOf(node: ASTNode): Price | undefined {
  if (node.op === 'call' || node.op === 'rcall') return FUNCTION_PRICES.get(node.args[0])
  return OPERATOR_PRICES.get(node.op)
}

function payForArguments(node: ASTNode, price: Price, meter: Meter): void {
  const isCall = node.op === 'call' || node.op === 'rcall'
  inFront(node, 'handle', inner => (...args) => {
    // a call has its arguments in a list, the receiver first; an operator has its operands
    price(isCall ? (args[0] as unknown[]) : args.slice(0, 2), meter.budget)
    return inner().apply(node, args)
  })
}

function inFront(node: ASTNode, name: 'evaluate' | 'handle', make: (inner: () => Method) => Method): void {
  let inner = (node as unknown as Record<typeof name, Method>)[name]
  const ours = make(() => inner)
  Object.defineProperty(node, name, {
    configurable: true,
    get: () => ours,
    set: (next: Method) => {
      inner = next
    },
  })
}
