/** The states of a copy and their counts where they are written out: docs/reference/states.md, and openapi/groups. */
import {
  COPY_COUNTS,
  COPY_STATES,
  COUNT_NAMES,
  type CopyState,
  OUTCOME_STATES,
  type StateFacts,
  statesCounted,
} from '../../src/placement/outcome/copyStates.ts'
import { DECIDING_FIELDS } from '../../src/placement/outcome/decidingFields.ts'
import { HEALTHS } from '../../src/placement/outcome/health.ts'
import { HEALTH_TEXTS, STATE_TEXTS } from '../../src/placement/outcome/stateTexts.ts'
import { page, table } from './markdown.ts'

const ROWS = Object.entries(COPY_STATES) as [CopyState, StateFacts][]
/** In a flow mapping a text with a comma or a colon stands in quotes. */
const text = (value: string): string => (/[,:]/.test(value) ? `"${value}"` : value)
const code = (word: string): string => `\`${word}\``
const lower = (state: string): string => state.toLowerCase()

/** Groups of openapi with the states and counts of the table. */
export function withStates(yaml: string): string {
  const counts = COUNT_NAMES.map(
    name => `${name}: { type: integer, description: ${text(COPY_COUNTS[name].description)} }`,
  )
  const listed = ROWS.filter(([, { isListed }]) => isListed).map(([state]) => lower(state))
  return replaced(yaml, [
    // from the first of the counts to what is counted beside the copies
    [
      /(\n +copies: \{[^\n]*\}\n)( +)applied: \{.*?(?=\n +deletionHeld: )/s,
      (before, indent) => before + counts.map(line => indent + line).join('\n'),
    ],
    [/(description: ")[a-z, ]+( or degraded\.")/, (before, after) => before + listed.join(', ') + after],
    [/(state: \{ type: string, enum: )\[refused[^\]]*\]/, before => `${before}[${OUTCOME_STATES.join(', ')}]`],
    [
      /(Applied means [^\n]*\n +enum:\n)( +)- .*?(?=\n +reason: )/s,
      (before, indent) => before + ROWS.map(([state]) => `${indent}- ${state}`).join('\n'),
    ],
  ])
}

export function statesPage(): string {
  const causes = ROWS.flatMap(([state]) =>
    Object.entries(STATE_TEXTS[state].reasons ?? {}).map(([reason, cause]) => [code(state), code(reason), cause]),
  )
  const sums = COUNT_NAMES.map(name => [
    code(name),
    statesCounted(name).map(code).join(', '),
    COPY_COUNTS[name].description,
  ])
  return page(
    '# States of a copy',
    'A reference for people who read the results of a placement, which `npm run pages` writes. `kubectl get workstatuses` and `kubectl kubestellar why` show these words. [Health](../health.md) explains how they are judged.',
    '![States of a copy](../pictures/states.svg)',
    '## States',
    'The first one that holds:',
    table(
      ['state', 'meaning', 'remedy'],
      ROWS.map(([state]) => [code(state), STATE_TEXTS[state].meaning, STATE_TEXTS[state].remedy ?? '']),
    ),
    '## Reasons',
    table(['state', 'reason', 'cause'], causes),
    '## Counts',
    'Counts of an EdgePlacement are sums over states. `differing` counts the `Applied` copies with reason `FieldsDropped` or `FieldsChanged`.',
    table(['count', 'states', 'meaning'], sums),
    '## Health',
    'Copies that are `Applied` or `Altered` have a health.',
    table(
      ['health', 'meaning'],
      HEALTHS.map(health => [code(health), HEALTH_TEXTS[health]]),
    ),
    '## Fields that decide',
    'A cluster that drops or changes one of these fields makes the copy `Altered`. All other [differences](../health.md#differences-in-a-cluster) leave it `Applied`.',
    table(
      ['decides', 'kind', 'fields'],
      DECIDING_FIELDS.map(({ what, of, fields }) => [
        what,
        of?.map(code).join(', ') ?? 'any',
        fields.map(code).join(', '),
      ]),
    ),
    'Rows for any kind match a field at any depth, with all below it. Rows for named kinds match fields of the object itself and of its `spec` alone. Labels, annotations and schemas of definitions do not count.',
  )
}

type Place = readonly [place: RegExp, write: (...parts: string[]) => string]

/** @throws Error where a place is not there */
function replaced(page: string, places: readonly Place[]): string {
  return places.reduce((before, [place, write]) => {
    if (!place.test(before)) throw new Error(`no place for states: ${place}`)
    return before.replace(place, (_all, ...parts: string[]) => write(...parts))
  }, page)
}
