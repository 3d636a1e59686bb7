/** Use and budget of a space and its children, for their administrators: `GET /clusters/<space>/budget`. */
import type { SpaceBudget } from '../../placement/spaces/spaceBudget.ts'
import type { Work } from '../../program/workTurns.ts'
import type { ServerLimit } from './serverLimits.ts'
import type { SpaceBudgets } from './spaceBudgets.ts'
import type { Use } from './spaceUse.ts'
import type { SpaceTree } from './tree.ts'

interface UsedBudget {
  readonly id: string
  /** With all that is below. */
  readonly used: Use
  /** An absent measure has no limit. */
  readonly limits: SpaceBudget | ServerLimit
}

export interface BudgetDocument extends UsedBudget {
  readonly kind: 'SpaceBudget'
  readonly path: string
  /** By name; those that are being deleted, too. */
  readonly children: readonly (UsedBudget & { readonly name: string })[]
}

interface BudgetSources {
  tree: SpaceTree
  budgets: Pick<SpaceBudgets, 'usedOf'>
}

/** A {@link BudgetDocument} as JSON. A space may have tens of thousands of children: they are listed in slices. @throws Abandoned */
export async function budgetText({ tree, budgets }: BudgetSources, space: string, work: Work): Promise<string> {
  const of = (id: string): UsedBudget => ({ id, ...budgets.usedOf(id) })
  const head = JSON.stringify({ kind: 'SpaceBudget', path: tree.pathOf(space) ?? space, ...of(space) })
  const children = [...tree.children(space)].sort((a, b) => (a.name < b.name ? -1 : 1))
  const parts: string[] = []
  for (const { id, name } of children) {
    if (work.due) await work.rest()
    parts.push(JSON.stringify({ name, ...of(id) }))
  }
  return `${head.slice(0, -1)},"children":[${parts.join(',')}]}`
}
