/** Help for whoever asks in a space from which nothing is placed: most of them meant another one. */
import { WORKSPACES } from '../../../apimachinery/resources.ts'
import type { Client, SpaceClient } from '../../../client/client.ts'
import { SPACE_TYPES } from '../../../placement/spaces/spaceTypes.ts'
import { INVENTORY_BINDINGS } from '../../../placement/words/placement.ts'
import { ROOT_SPACE } from '../../shell/session/spacePath.ts'
import { typeOf } from '../../shell/session/spaces.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { knownSome } from './known.ts'

/** Spaces that a message names. */
const NAMED = 5
/** Spaces whose children are looked through. */
const MOST_PARENTS = 20
const PAGE = 500

/** `; yours: root:a, root:b`: workload spaces that the user sees; `''` where none is soon found. */
export async function yours(client: Client): Promise<string> {
  const found: string[] = []
  const open = [ROOT_SPACE]
  for (const parent of open.values()) {
    const { items } = await knownSome(client.in(parent), WORKSPACES, { limit: PAGE })
    for (const item of items) {
      const path = `${parent}:${item.metadata.name}`
      const type = SPACE_TYPES.get(typeOf(item).split(':').at(-1) ?? '')
      if (type?.describes) found.push(path)
      if (type?.children.includes('workload') && open.length < MOST_PARENTS) open.push(path)
    }
    if (found.length > NAMED) break
  }
  const more = found.length > NAMED ? ', …' : ''
  return found.length === 0 ? '' : `; yours: ${found.slice(0, NAMED).join(', ')}${more}`
}

/** Tells who asks in a space without an EdgePlacement that it uses no inventory either: zeros alone would mislead. */
export async function noteNothingPlaces(
  { client, space, path }: { client: Client; space: SpaceClient; path: string },
  terminal: Terminal,
): Promise<void> {
  const { items, unknown } = await knownSome(space, INVENTORY_BINDINGS, { limit: 1 })
  if (items.length > 0 || unknown !== undefined) return
  const why = `nothing is placed from ${path}: it uses no inventory, and has no EdgePlacement`
  terminal.err(`Note: ${why}${await yours(client)}. Name another space with --space, or enter it with kubectl ws.`)
}
