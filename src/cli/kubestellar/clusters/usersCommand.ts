/** `kubectl kubestellar users`: prints who uses a cluster; the same lines stand before the question of what takes workload off. */
import { Footnotes, type Format, printAnswer, type TextOptions, table, textOptions } from '../../shell/output.ts'
import { pathOf, type Session } from '../../shell/session/session.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { type InventoryOptions, inInventory } from '../sessions.ts'
import { type ClusterUsers, usersOf } from './clusterUsers.ts'
import { clustersNamed, type NamedClusters } from './namedClusters.ts'

/** `-o wide` shows all that there are. */
const ROWS = 20
const NOT_KNOWN = '-'
const NOTHING_PLACES = '<none>'

export async function usersCommand(
  options: InventoryOptions & { output?: Format },
  terminal: Terminal,
  name: string,
): Promise<void> {
  await inInventory(options, terminal, async (space, session) => {
    const path = await pathOf(session, options.imw)
    const answer = await usersOf(session.client, path, await clustersNamed(space, name))
    const placements = answer.users.items.filter(({ placement }) => placement !== '')
    const names = () => placements.map(one => `${one.space}/edgeplacement/${one.placement}`)
    await printAnswer({ document: answer, names, text: shown => usersText(answer, shown) }, options.output, terminal)
  })
}

/** Before a question: what would leave a cluster, or go with it. */
export async function showUsers(
  session: Session,
  inventory: string,
  clusters: NamedClusters,
  terminal: Terminal,
): Promise<ClusterUsers> {
  const users = await usersOf(session.client, inventory, clusters)
  for (const line of usersText(users, textOptions('text', terminal))) terminal.out(line)
  terminal.out('')
  return users
}

function usersText({ message, users, notes, unknown }: ClusterUsers, options: TextOptions): string[] {
  const { wide, paint, columns } = options
  const lines = [paint(message, 'bold')]
  const shown = wide ? users.items : users.items.slice(0, ROWS)
  const rows = shown.map(({ space, placement, copies, troubled = 0, elsewhere, message: words = '' }) => [
    space,
    placement || NOTHING_PLACES,
    String(copies ?? NOT_KNOWN),
    { text: copies === undefined ? NOT_KNOWN : String(troubled), colour: troubled > 0 ? ('bad' as const) : undefined },
    elsewhere === 0 ? 'nowhere' : `${elsewhere} ${elsewhere === 1 ? 'cluster' : 'clusters'}`,
    words,
  ])
  const head = ['SPACE', 'PLACEMENT', 'COPIES', 'TROUBLED', 'ELSEWHERE', 'MESSAGE']
  const footnotes = new Footnotes()
  if (rows.length > 0) lines.push('', ...table(head, rows, paint, { columns, footnotes }), ...footnotes.lines)
  const more = users.total - rows.length
  if (more > 0) lines.push(`${more} more${wide ? '' : ' (-o wide shows them)'}`)
  for (const note of notes) lines.push('', paint(`Note: ${note}`, 'warn'))
  for (const text of unknown) lines.push('', paint(`not known: ${text}`, 'dim'))
  return lines
}
