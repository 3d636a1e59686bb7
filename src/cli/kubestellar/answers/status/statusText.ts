/** The answer of `status` for people. */
import { ago, type Cell, type Colour, table } from '../../../shell/output.ts'
import type { TextOptions } from '../why/whyText.ts'
import type { StatusAnswer, Trouble } from './status.ts'

/** Rows of each table; `-o wide` shows all. */
const ROWS = 20
const COLOURS: Readonly<Record<Trouble, Colour>> = { bad: 'bad', warn: 'warn', none: 'good' }

export function statusText({ message, placements, clusters, unknown }: StatusAnswer, options: TextOptions): string[] {
  const { wide, paint, nowMs } = options
  const shown = <T>(items: readonly T[]): readonly T[] => (wide ? items : items.slice(0, ROWS))
  const lines = [paint(message, 'bold')]
  const add = (head: string[], rows: (Cell | string)[][], what: string, total: number) => {
    if (total === 0) return
    lines.push('', ...table(head, rows, paint))
    if (rows.length < total) lines.push(`${total - rows.length} more ${what}${wide ? '' : ' (-o wide shows them)'}`)
  }
  const count = (number: number): string => (number === 0 ? '-' : String(number))
  add(
    ['PLACEMENT', 'STATE', 'CLUSTERS', 'OBJECTS', 'COPIES', 'APPLIED', 'REFUSED', 'DEGRADED', 'STALE', 'MESSAGE'],
    shown(placements.items).map(({ name, state, trouble, counts, message: told = '' }) => [
      name,
      { text: state, colour: COLOURS[trouble] },
      String(counts.clusters),
      String(counts.objects),
      String(counts.copies),
      String(counts.applied),
      count(counts.refused),
      count(counts.degraded),
      count(counts.stale),
      told,
    ]),
    'placements',
    placements.total,
  )
  const hasLag = clusters.items.some(({ lag }) => lag !== undefined)
  add(
    ['LOCATION', 'STATE', 'READY', ...(hasLag ? ['LAG', 'BEHIND', 'FAILURES'] : []), 'MESSAGE'],
    shown(clusters.items).map(
      ({ location, state, trouble, ready, instances, lag, failures = 0, message: told = '' }) => [
        location,
        { text: state, colour: COLOURS[trouble] },
        `${ready}/${instances}`,
        ...(hasLag ? [count(lag?.objects ?? 0), ago(lag?.since, nowMs) || '-', count(failures)] : []),
        told,
      ],
    ),
    'locations',
    clusters.total,
  )
  for (const text of unknown) lines.push('', paint(`not known: ${text}`, 'dim'))
  return lines
}
