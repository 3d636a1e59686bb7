/** docs/reference/limits.md: the limits of all rooms. */
import { type Limit, type LimitSection, LIMITS as objectModel } from '../../src/apimachinery/limits.ts'
import { LIMITS as server } from '../../src/apiserver/limits.ts'
import { LIMITS as commands } from '../../src/cli/limits.ts'
import { LIMITS as controllers } from '../../src/controllers/limits.ts'
import { LIMITS as kinds } from '../../src/kinds/limits.ts'
import { LIMITS as placement } from '../../src/placement/limits.ts'
import { LIMITS as store } from '../../src/storage/limits.ts'
import { page, table } from './markdown.ts'

const ROOMS = [objectModel, placement, store, kinds, server, controllers, commands]
const TITLES: Readonly<Record<LimitSection, string>> = {
  requests: 'Requests and answers',
  objects: 'Objects',
  expressions: 'Expressions, schemas, webhooks',
  placement: 'Placement',
  access: 'Access',
}

export function limitsOf(section: LimitSection): [name: string, limit: Limit][] {
  return ROOMS.flatMap(room => Object.entries(room[section] ?? {}))
}

export const LIMIT_SECTIONS = Object.keys(TITLES) as readonly LimitSection[]

export function limitsPage(): string {
  return page(
    '# Limits',
    'A reference for everybody, which `npm run pages` writes from the tables `limits.ts` of the rooms.',
    'Each limit with its default, its effect at the bound, and the way to change it. "Fixed" is part of the release.',
    ...LIMIT_SECTIONS.flatMap(section => [
      `## ${TITLES[section]}`,
      table(
        ['limit', 'default', 'at the bound', 'to change it'],
        limitsOf(section).map(([name, limit]) => [name, ...limit]),
      ),
    ]),
  )
}
