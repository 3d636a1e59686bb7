/**
 * What is used of the server's room, as metrics. Of spaces only the fullest are told, by their ids, which the server itself makes:
 * nobody can invent series, and those of a space end with it.
 */
import { Gauge, type Registry } from 'prom-client'
import type { Room } from '../shortage/room.ts'
import type { SpaceBudgets } from '../spaces/spaceBudgets.ts'

/** Spaces that are told of. */
export const SPACES_SHOWN = 20

export interface BudgetGauges {
  budgets: Pick<SpaceBudgets, 'fullest'>
  rooms: readonly Room[]
}

export function budgetMetrics(registry: Registry, { budgets, rooms }: BudgetGauges): void {
  const registers = [registry]
  const ofSpaces = (name: string, help: string, value: (used: ReturnType<SpaceBudgets['fullest']>[number]) => number) =>
    new Gauge({
      name,
      help: `${help} Of the ${SPACES_SHOWN} spaces that have used most of their budgets, with all below them.`,
      labelNames: ['space'],
      registers,
      collect() {
        this.reset()
        for (const used of budgets.fullest(SPACES_SHOWN)) this.set({ space: used.count.id }, value(used))
      },
    })
  ofSpaces('orrery_space_budget_used_ratio', 'Part of the budget that is used, 1: all.', ({ ratio }) => ratio)
  ofSpaces('orrery_space_objects', 'Objects.', ({ count }) => count.all.objects)
  ofSpaces('orrery_space_bytes', 'Bytes of objects.', ({ count }) => count.all.bytes)
  new Gauge({
    name: 'orrery_short',
    help: 'Whether growth is refused because the server is short of it: 0 no, 1 yes, 2 next to nothing is left.',
    labelNames: ['what'],
    registers,
    collect() {
      for (const room of rooms) this.set({ what: room.what }, levelOf(room))
    },
  })
}

function levelOf(room: Room): number {
  const lack = room.lack()
  return lack === undefined ? 0 : lack.critical ? 2 : 1
}
