/** The answer of `status` for people. */
import { ago, type Cell, type Colour, Footnotes, type TextOptions, table } from '../../../shell/output.ts'
import type { Trouble } from './clusterStatus.ts'
import { NOTHING_REPORTED } from './placementStatus.ts'
import type { StatusAnswer } from './status.ts'

/** Rows of each table; `-o wide` shows all. */
const ROWS = 20
const PROGRESS = ['clusters', 'copies', 'applied'] as const
const TROUBLES = ['refused', 'degraded', 'stale'] as const
/** In place of a number; a 0 is one that is known. */
const NOT_KNOWN = '-'
const COLOURS: Readonly<Record<Trouble, Colour>> = { bad: 'bad', warn: 'warn', none: 'good' }

export function statusText({ message, placements, clusters, unknown }: StatusAnswer, options: TextOptions): string[] {
  const { wide, paint, nowMs, columns } = options
  const shown = <T>(items: readonly T[]): readonly T[] => (wide ? items : items.slice(0, ROWS))
  const lines = [paint(message, 'bold')]
  const add = (head: string[], rows: (Cell | string)[][], what: string, total: number) => {
    if (total === 0) return
    lines.push('', ...table(head, rows, paint, { columns, footnotes }))
    if (rows.length < total) lines.push(`${total - rows.length} more ${what}${wide ? '' : ' (-o wide shows them)'}`)
  }
  // columns of zeros take the room of messages
  const some = TROUBLES.filter(field => shown(placements.items).some(({ counts }) => counts[field] > 0))
  const counted = wide ? ([...PROGRESS, 'objects', ...TROUBLES] as const) : [...PROGRESS, ...some]
  const items = [...shown(placements.items), ...shown(clusters.items)]
  const footnotes = new Footnotes(wide ? [] : items.map(({ message: words = '' }) => words))
  const hasSpaces = placements.items.some(({ space }) => space !== undefined)
  const hasInventories = clusters.items.some(({ inventory }) => inventory !== undefined)
  add(
    [
      ...(hasSpaces ? ['SPACE'] : []),
      'PLACEMENT',
      'STATE',
      'SINCE',
      ...counted.map(field => field.toUpperCase()),
      'MESSAGE',
    ],
    shown(placements.items).map(({ space = '', name, state, trouble, since, counts, message: words = '' }) => [
      ...(hasSpaces ? [space] : []),
      name,
      { text: state, colour: COLOURS[trouble] },
      ago(since, nowMs),
      ...counted.map(field => (words === NOTHING_REPORTED ? NOT_KNOWN : String(counts[field]))),
      words,
    ]),
    'placements',
    placements.total,
  )
  const hasLag = clusters.items.some(({ lag }) => lag !== undefined)
  add(
    [
      ...(hasInventories ? ['INVENTORY'] : []),
      'LOCATION',
      'STATE',
      'SINCE',
      'READY',
      ...(hasLag ? ['LAG', 'FAILURES'] : []),
      'MESSAGE',
    ],
    shown(clusters.items).map(
      ({ inventory = '', location, state, trouble, since, ready, instances, lag, failures, message: words = '' }) => [
        ...(hasInventories ? [inventory] : []),
        location,
        { text: state, colour: COLOURS[trouble] },
        ago(since, nowMs),
        `${ready}/${instances}`,
        ...(hasLag ? [lag?.objects, failures].map(number => String(number ?? NOT_KNOWN)) : []),
        words,
      ],
    ),
    'locations',
    clusters.total,
  )
  lines.push(...footnotes.lines)
  for (const text of unknown) lines.push('', paint(`not known: ${text}`, 'dim'))
  return lines
}
