/** In which spaces somebody may read a kind, at the beginning and as long as a watch is open. */
import { StatusError } from '../../apimachinery/errors.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import type { ReportedPlaces } from '../../placement/desks/reported.ts'
import type { Work } from '../../program/workTurns.ts'
import type { AuthorizedRequest } from '../access/accessControl.ts'
import { forbidden } from '../auth/forbidden.ts'
import type { Attributes, Permission } from '../auth/types.ts'
import { effectiveUser, GROUPS } from '../auth/users.ts'
import type { Services } from '../exchange/exchange.ts'
import type { Held, OpenAccess } from '../exchange/openAccess.ts'
import { nameAware } from '../request/requestInfo.ts'

export interface SpaceRights {
  readonly readable: ReadonlySet<string>
  /** Spaces that the user may enter, and where the kind may not be read. Others are not mentioned. */
  readonly refused: number
  /** As {@link OpenAccess.hold}: ends also when the kind may be read in other spaces than at the beginning. */
  hold(access: Pick<OpenAccess, 'hold'>, permission: Permission, end: () => void): Held
}

type Right = 'read' | 'refused' | 'unseen'

export interface SpaceRightsDeps {
  authorizer: Services['authorizer']
  places: ReportedPlaces
  /** Work whose slices the checks of all spaces take. */
  work: Work
}

/** @throws StatusError Forbidden where there is no space for the user */
export async function spaceRights(
  { authorizer, places, work }: SpaceRightsDeps,
  authorized: AuthorizedRequest,
): Promise<SpaceRights> {
  const { info, user } = authorized
  const resource = info.resource && nameAware(info, info.resource)
  const rightIn = (space: string): Soon<Right> => {
    const asking = effectiveUser(user, space)
    if (asking.groups.includes(GROUPS.masters)) return 'read'
    const attributes: Attributes = {
      user: asking,
      space,
      verb: info.verb,
      path: info.path,
      ...(resource && { resource }),
    }
    return whenKnown(authorizer.mayAccessSpace(asking, space), may =>
      may
        ? whenKnown(authorizer.authorize(attributes), ({ allowed }): Right => (allowed ? 'read' : 'refused'))
        : 'unseen',
    )
  }
  const rights = new Map<string, Right>()
  for (const space of [...places.spaces()]) {
    rights.set(space, await rightIn(space))
    if (work.due) await work.rest()
  }
  const readable = new Set([...rights].flatMap(([space, right]) => (right === 'read' ? [space] : [])))
  if (readable.size === 0 && !user.groups.includes(GROUPS.masters)) {
    const attributes = { user, space: '*', verb: info.verb, path: info.path, ...(resource && { resource }) }
    throw forbidden(attributes, 'there is no space with placements where that may be read')
  }
  const change = (space: string): Soon<void> =>
    whenKnown(rightIn(space), right => {
      const before = rights.get(space) ?? 'unseen'
      if ((before === 'read') !== (right === 'read'))
        throw new StatusError('Expired', 'the spaces that may be read are others now: list again')
    })
  return {
    readable,
    refused: [...rights.values()].filter(right => right === 'refused').length,
    hold(access, permission, end) {
      const held: Held[] = [access.hold(permission, end)]
      const follow = (space: string): void => {
        const judge = async (): Promise<void> => {
          if (work.due) await work.rest()
          await change(space)
        }
        const { identity } = permission
        held.push(access.hold({ space, identity, judge }, end))
      }
      const followNew = (space: string): void => {
        if (rights.has(space)) return
        rights.set(space, 'unseen')
        follow(space)
      }
      for (const space of rights.keys()) follow(space)
      const unfollow = places.followClusters(followNew)
      // those that came while the watch was prepared
      for (const space of places.spaces()) followNew(space)
      return {
        get refusal() {
          return held.find(({ refusal }) => refusal !== undefined)?.refusal
        },
        release() {
          unfollow()
          for (const each of held) each.release()
        },
      }
    },
  }
}
