/** The spaces below one, as far as the user may list them. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { WORKSPACES } from '../../../apimachinery/resources.ts'
import { atMost } from '../../../client/atMost.ts'
import type { Client } from '../../../client/client.ts'
import { listAll } from '../../../client/listWatch.ts'
import { type SpaceType, spaceType, UNIVERSAL } from '../../../placement/spaces/spaceTypes.ts'
import { ROOT_SPACE } from './spacePath.ts'
import { discovers, typeOf } from './spaces.ts'

export interface FoundSpace {
  readonly path: string
  /** `undefined` where nothing tells it: the walk began there. */
  readonly type: SpaceType | undefined
  /** Paths, in the order of their names. */
  readonly children: readonly string[]
  /** Why there are no children: they may not be seen, or nothing of the space may. */
  readonly hidden: 'children' | 'space' | undefined
}

const PAGE = 500
/** Lists that are under way at once. */
export const AT_ONCE = 8

/**
 * A space and those below it, by path. Spaces that the user may not see, or that vanish meanwhile, do not hide the others.
 * @param entersInto whether spaces below one of that type are of interest. Default: always
 */
export async function spacesFrom(
  client: Client,
  path: string,
  entersInto: (type: SpaceType) => boolean = () => true,
): Promise<ReadonlyMap<string, FoundSpace>> {
  const found = new Map<string, FoundSpace>()
  let level = [{ path, type: path === ROOT_SPACE ? UNIVERSAL : undefined }]
  while (level.length > 0) {
    const next: { path: string; type: SpaceType }[][] = level.map(() => [])
    await atMost(AT_ONCE, level.entries(), async ([i, one]) => {
      const { below, hidden } =
        one.type === undefined || entersInto(one.type)
          ? await spacesIn(client, one.path)
          : { below: [], hidden: undefined }
      found.set(one.path, { ...one, children: below.map(child => child.path), hidden })
      next[i] = below
    })
    level = next.flat()
  }
  return found
}

async function spacesIn(client: Client, path: string) {
  try {
    const { items } = await listAll(client.in(path), WORKSPACES, { limit: PAGE }, ({ metadata, ...rest }) =>
      metadata.deletionTimestamp
        ? []
        : [
            {
              path: `${path}:${metadata.name}`,
              type: spaceType(
                typeOf({ metadata, ...rest })
                  .split(':')
                  .at(-1) ?? '',
              ),
            },
          ],
    )
    return { below: items.flat(), hidden: undefined }
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return { below: [], hidden: undefined }
    // who works in a space need not be one who may list those below it
    if (!isStatusError(error, 'Forbidden')) throw error
    const hidden: FoundSpace['hidden'] = (await discovers(client, path)) === 'yes' ? 'children' : 'space'
    return { below: [], hidden }
  }
}
