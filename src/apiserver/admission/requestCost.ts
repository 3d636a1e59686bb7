/**
 * What the expressions of all policies and webhooks may cost one request. Each has a bound of its own, but who may make one may
 * make many, with many parameters; and while an expression runs, nothing else does.
 */
import { setImmediate as letOthers } from 'node:timers/promises'
import { celBudget, celTimeBound } from '../../apimachinery/structural/celProgram.ts'
import { threadTimeMs } from '../../apimachinery/threadTime.ts'
import type { WorkBudget } from '../../apimachinery/workBudget.ts'
import type { Authorizer } from '../auth/types.ts'
import type { AdmissionRequest } from '../registry/admission.ts'
import { type AuthorizerVariables, withAuthorizer } from './celAuthorizer.ts'

/** Two policies that cost as much as they may: some two seconds. Sensible ones cost thousands. */
const MAX_REQUEST_COST = 20_000_000
/** Some ten milliseconds; after that, others have their turn. */
const MUCH = 100_000

/** As long as they may take together; others have their turns meanwhile. */
const MAX_REQUEST_MS = 500

interface Spent {
  all: WorkBudget
  ms: number
}

/** By request, which is another one for each object, for each round of changes, and for the validation. */
const known = new WeakMap<AdmissionRequest, Spent>()

/** Runs expressions at a cost of at most `cost`, however often the authorizer is asked, and of what is left for the request. */
export async function evaluateAtCost<T>(
  authorizer: Authorizer,
  request: AdmissionRequest,
  cost: number,
  run: (variables: AuthorizerVariables, budget: WorkBudget) => T,
): Promise<T> {
  const spent = known.get(request) ?? { all: celBudget(MAX_REQUEST_COST), ms: 0 }
  known.set(request, spent)
  let left = cost
  const isLate = celTimeBound()
  try {
    return await withAuthorizer(authorizer, request, variables => {
      const own = celBudget(Math.min(left, spent.ms > MAX_REQUEST_MS ? 0 : spent.all.left), isLate)
      const given = own.left
      const began = threadTimeMs()
      try {
        return run(variables, own)
      } finally {
        spent.ms += threadTimeMs() - began
        const units = own.refusal === undefined ? given - own.left : given
        left -= units
        if (units > 0) spent.all.spend(units)
      }
    })
  } finally {
    if (cost - left > MUCH) await letOthers()
  }
}
