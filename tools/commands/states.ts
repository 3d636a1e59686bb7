/** The states of a copy and their counts where they are written out: in openapi/groups and in docs. The table is the code's. */
import {
  COPY_COUNTS,
  COPY_STATES,
  COUNT_NAMES,
  type CopyState,
  OUTCOME_STATES,
  type StateFacts,
  statesCounted,
} from '../../src/placement/outcome/copyStates.ts'

const ROWS = Object.entries(COPY_STATES) as [CopyState, StateFacts][]
/** In a flow mapping a text with a comma or a colon stands in quotes. */
const text = (value: string): string => (/[,:]/.test(value) ? `"${value}"` : value)
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

/** docs/reference/states.md with the sums of states that counts are. */
export function withSums(page: string): string {
  const sums = COUNT_NAMES.flatMap(name => {
    const states = statesCounted(name).map(state => `\`${state}\``)
    return states.length > 1 ? [`- \`${name}\`: ${states.slice(0, -1).join(', ')} and ${states.at(-1)}\n`] : []
  })
  return replaced(page, [
    [/(These counts of an EdgePlacement are sums over states:\n\n)(?:- .*\n)+/, before => `${before}${sums.join('')}`],
  ])
}

type Place = readonly [place: RegExp, write: (...parts: string[]) => string]

/** @throws Error where a place is not there */
function replaced(page: string, places: readonly Place[]): string {
  return places.reduce((before, [place, write]) => {
    if (!place.test(before)) throw new Error(`no place for states: ${place}`)
    return before.replace(place, (_all, ...parts: string[]) => write(...parts))
  }, page)
}
