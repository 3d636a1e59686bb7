/** The workload space that a command asks, and the flags by which it is named. */
import { isStatusError, type StatusError } from '../../../apimachinery/errors.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { isSpaceGone } from '../../../client/spaceGone.ts'
import { EDGE_PLACEMENTS } from '../../../placement/words/placement.ts'
import { CommandError } from '../../shell/commandError.ts'
import { currentPath, type Session } from '../../shell/session/session.ts'
import { flag } from '../../shell/settings.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { type CommonOptions, inSession } from '../sessions.ts'
import { noteNothingPlaces, yours } from './wrongSpace.ts'

export interface AnswerOptions extends CommonOptions {
  namespace?: string
}

export interface Scope {
  readonly session: Session
  readonly space: SpaceClient
  readonly path: string
  readonly namespace: string
}

export const NAMESPACE = flag('-n, --namespace <name>', "namespace; default: the context's, else default")

export async function withSpace<R>(
  options: AnswerOptions,
  terminal: Terminal,
  use: (scope: Scope) => Promise<R>,
): Promise<R> {
  return await inSession(options, terminal, async session => {
    const path = await currentPath(session)
    const namespace = options.namespace ?? session.namespace ?? 'default'
    return await use({ session, space: session.client.in(path), path, namespace })
  })
}

/** Answers why its placements may not be read, if so. @throws CommandError where the space places nothing: it serves no EdgePlacements */
export async function checkPlaces(
  { session, space, path }: Scope,
  terminal: Terminal,
): Promise<StatusError | undefined> {
  try {
    const { items } = await space.list(EDGE_PLACEMENTS, { limit: 1 })
    if (items.length === 0) await noteNothingPlaces({ client: session.client, space, path }, terminal)
    return undefined
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) {
      if (isStatusError(error, 'Forbidden')) return error
      throw error
    }
    if (isSpaceGone(error, path)) throw error
    const message = `${path} is no workload space: it serves no EdgePlacements, so nothing is placed from there`
    const remedy = 'name another space with --space, or enter it with kubectl ws'
    throw new CommandError(`${message}${await yours(session.client)}; ${remedy}`, 1, { cause: error })
  }
}
