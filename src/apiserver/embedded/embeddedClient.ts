/**
 * The client contract inside the server's own process: the same registry and reader that serve HTTP, without HTTP between.
 * It acts as the server itself (system:masters), for controllers.
 */
import type { Client } from '../../client/client.ts'
import { createCopies, deleteCopies, updateCopies } from './embeddedCopies.ts'
import { type EmbeddedDeps, EmbeddedSpace, spaceNotFound } from './embeddedSpace.ts'
import { embeddedStream } from './embeddedStream.ts'

export function embeddedClient(deps: EmbeddedDeps): Client {
  const idOf = (space: string): string => {
    if (space === '*') return space
    const resolution = deps.tree.resolve(space)
    if (resolution.found) return resolution.space.id
    throw spaceNotFound(space)
  }
  return {
    in: space => new EmbeddedSpace(deps, () => idOf(space)),
    stream: options => embeddedStream(deps, { ...options, space: idOf(options.space) }),
    createCopies: creations => createCopies(deps, creations),
    updateCopies: updates => updateCopies(deps, updates),
    deleteCopies: deletions => deleteCopies(deps, deletions),
  }
}
