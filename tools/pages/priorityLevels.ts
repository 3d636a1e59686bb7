/** docs/reference/priority-levels.md: the priority levels of a new server, and the FlowSchemas that lead to them. */

import { bootstrapLevels, bootstrapSchemas } from '../../src/apiserver/flowcontrol/bootstrapConfiguration.ts'
import { boundsOf } from '../../src/apiserver/flowcontrol/borrowing.ts'
import {
  type FlowRule,
  readFlowSchema,
  readPriorityLevel,
  type Subject,
} from '../../src/apiserver/flowcontrol/flowConfiguration.ts'
import { DEFAULT_IN_FLIGHT } from '../../src/apiserver/flowcontrol/inFlight.ts'
import { page, table } from './markdown.ts'

export function priorityLevelsPage(): string {
  const levels = bootstrapLevels().map(readPriorityLevel)
  const schemas = bootstrapSchemas()
    .map(readFlowSchema)
    .sort((a, b) => a.precedence - b.precedence)
  const seats = DEFAULT_IN_FLIGHT.reading + DEFAULT_IN_FLIGHT.mutating
  const bounds = boundsOf(levels, seats)
  return page(
    '# Priority levels',
    `A reference for people who run the server, which \`npm run pages\` writes. [Guard](../guard.md#priority-levels) explains levels and seats; a new server has ${seats} seats.`,
    '## Levels',
    table(
      ['level', 'seats: nominal', 'kept', 'queues', 'hand', 'length'],
      levels.map(({ name, exempt, queuing }, i) => [
        `\`${name}\``,
        ...(exempt ? ['not limited', ''] : [String(bounds[i]!.nominal), String(bounds[i]!.min)]),
        ...(queuing
          ? [queuing.queues, queuing.handSize, queuing.lengthLimit].map(String)
          : [exempt ? '' : 'none: refused at once', '', '']),
      ]),
    ),
    '## FlowSchemas',
    'The first that matches decides.',
    table(
      ['FlowSchema', 'level', 'flows by', 'users', 'requests'],
      schemas.map(({ name, level, distinguishes, rules }) => [
        `\`${name}\``,
        `\`${level}\``,
        distinguishes ?? '',
        rules.map(({ subjects }) => subjects.map(subjectName).join(', ')).join('; '),
        rules.map(requestsOf).join('; '),
      ]),
    ),
  )
}

function subjectName(subject: Subject): string {
  if (subject.kind !== 'ServiceAccount') return `${subject.kind.toLowerCase()} \`${subject.name}\``
  return `ServiceAccounts of \`${subject.namespace}\` in \`root\``
}

function requestsOf({ resourceRules, urlRules }: FlowRule): string {
  const words = (names: readonly string[]): string => names.map(name => `\`${name}\``).join(', ')
  if (resourceRules.some(({ resources }) => resources.includes('*'))) return 'all'
  return [
    ...resourceRules.map(({ verbs, resources }) =>
      verbs.includes('*') ? words(resources) : `${words(verbs)} of ${words(resources)}`,
    ),
    ...urlRules.map(({ urls }) => words(urls)),
  ].join(', ')
}
