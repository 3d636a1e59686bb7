/**
 * The client contract inside the server's own process: the same registry and reader that serve HTTP, without HTTP between.
 * It acts as the server itself (system:masters), for controllers.
 */
import type { Client } from '../../client/client.ts'
import { type InProcessDeps, InProcessSpace, spaceNotFound } from './embeddedSpace.ts'
import { inProcessStream } from './embeddedStream.ts'

export function inProcessClient(deps: InProcessDeps): Client {
  const idOf = (space: string): string => {
    if (space === '*') return space
    const resolution = deps.tree.resolve(space)
    if (resolution.found) return resolution.space.id
    throw spaceNotFound(space)
  }
  return {
    in: space => new InProcessSpace(deps, () => idOf(space)),
    stream: options => inProcessStream(deps, { ...options, space: idOf(options.space) }),
  }
}
