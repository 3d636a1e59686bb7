/**
 * What the expressions of all policies and webhooks may cost one request. Each has a bound of its own, but who may make one may
 * make many, with many parameters; and while an expression runs, nothing else does.
 */
import { setImmediate as letOthers } from 'node:timers/promises'
import { celBudget } from '../../apimachinery/structural/celProgram.ts'
import type { WorkBudget } from '../../apimachinery/workBudget.ts'
import type { Authorizer } from '../auth/types.ts'
import type { AdmissionRequest } from '../registry/admission.ts'
import { type AuthorizerVariables, withAuthorizer } from './celAuthorizer.ts'

/** Two policies that cost as much as they may: some two seconds. Sensible ones cost thousands. */
const MAX_REQUEST_COST = 20_000_000
/** Some ten milliseconds; after that, others have their turn. */
const MUCH = 100_000

/** By request, which is another one for each object, for each round of changes, and for the validation. */
const budgets = new WeakMap<AdmissionRequest, WorkBudget>()

/** Runs expressions at a cost of at most `cost`, however often the authorizer is asked, and of what is left for the request. */
export async function evaluateAtCost<T>(
  authorizer: Authorizer,
  request: AdmissionRequest,
  cost: number,
  run: (variables: AuthorizerVariables, budget: WorkBudget) => T,
): Promise<T> {
  const all = budgets.get(request) ?? celBudget(MAX_REQUEST_COST)
  budgets.set(request, all)
  let left = cost
  try {
    return await withAuthorizer(authorizer, request, variables => {
      const own = celBudget(Math.min(left, all.left))
      const given = own.left
      try {
        return run(variables, own)
      } finally {
        const spent = given - own.left
        left -= spent
        if (spent > 0) all.spend(spent)
      }
    })
  } finally {
    if (cost - left > MUCH) await letOthers()
  }
}
