/**
 * Use of the server's room, as metrics. Only the fullest spaces are shown, by their ids, which the server itself makes. No client can
 * invent series, and those of a space end with it.
 */
import type { Metric } from '../metrics/metric.ts'
import type { Room } from '../shortage/room.ts'
import type { SpaceBudgets } from './spaceBudgets.ts'

const SPACES_SHOWN = 20

type Used = ReturnType<SpaceBudgets['fullest']>[number]

export function budgetMetrics(budgets: Pick<SpaceBudgets, 'fullest' | 'rooms' | 'serverRatios'>): Metric[] {
  const ofSpaces = (name: string, help: string, value: (used: Used) => number): Metric => ({
    name,
    help: `${help} The ${SPACES_SHOWN} spaces that have used most of their budgets are shown, with all below them.`,
    type: 'gauge',
    labels: { space: [] },
    samples: () => budgets.fullest(SPACES_SHOWN).map(used => [{ space: used.count.id }, value(used)]),
  })
  return [
    ofSpaces('orrery_space_budget_used_ratio', 'Part of the budget that is used, 1: all.', ({ ratio }) => ratio),
    ofSpaces('orrery_space_objects', 'Objects.', ({ count }) => count.all.objects),
    ofSpaces('orrery_space_bytes', 'Bytes of objects.', ({ count }) => count.all.bytes),
    {
      name: 'orrery_server_limit_used_ratio',
      help: "Part of the server's limit that is used. At 1 new ones are refused.",
      type: 'gauge',
      labels: { what: ['objects', 'spaces'] },
      samples: () => budgets.serverRatios().map(([what, ratio]) => [{ what }, ratio]),
    },
    {
      name: 'orrery_short',
      help: 'Whether growth is refused because the server is short of it: 0 no, 1 yes, 2 next to nothing is left.',
      type: 'gauge',
      labels: { what: ['memory', 'disk'] },
      samples: () => budgets.rooms.map(room => [{ what: room.what }, levelOf(room)]),
    },
  ]
}

function levelOf(room: Room): number {
  const lack = room.lack()
  return lack === undefined ? 0 : lack.critical ? 2 : 1
}
