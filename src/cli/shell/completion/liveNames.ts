/** Names of spaces and clusters for completion, from the server; none when it does not answer soon. */
import type { GroupVersionResource } from '../../../apimachinery/object.ts'
import { WORKSPACES } from '../../../apimachinery/resources.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { GRANTED_LOCATIONS, SYNC_TARGETS } from '../../../placement/words/placement.ts'
import { currentPath, pathOf, type Session, withSession } from '../session/session.ts'
import { typeOf } from '../session/spaces.ts'
import type { Candidate, NameQuery } from './complete.ts'

/** Somebody waits at the keyboard. */
const PATIENCE_MS = 1500
/** More are no help. */
const PAGE = 500

/** Never throws: whoever completes a word does not want to read why it cannot be. */
export async function liveNames(query: NameQuery): Promise<readonly Candidate[]> {
  const { kubeconfig, context, space } = query.given
  const options = {
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    ...(space !== undefined && query.what !== 'space' && { space }),
  }
  const { promise, resolve } = Promise.withResolvers<readonly Candidate[]>()
  const timer = setTimeout(() => resolve([]), PATIENCE_MS)
  withSession(options, session => namesOf(session, query)).then(resolve, () => resolve([]))
  return await promise.finally(() => clearTimeout(timer))
}

async function namesOf(session: Session, { what, word, given }: NameQuery): Promise<Candidate[]> {
  if (what === 'space') return await spacesAt(session, word)
  if (what === 'synctarget')
    return await listed(session.client.in(await pathOf(session, given.imw ?? '.')), SYNC_TARGETS)
  return await listed(session.client.in(await currentPath(session)), GRANTED_LOCATIONS)
}

/** Children of what the word names up to its last colon. */
async function spacesAt(session: Session, word: string): Promise<Candidate[]> {
  const end = word.lastIndexOf(':') + 1
  const lead = word.slice(0, end)
  const parent =
    lead === '' ? await currentPath(session) : lead === ':' ? 'root' : await pathOf(session, lead.slice(0, -1))
  const { items } = await session.client.in(parent).list(WORKSPACES, { limit: PAGE })
  const children = items.map(item => ({ value: `${lead}${item.metadata.name ?? ''}`, description: typeOf(item) }))
  const top = lead === '' ? [{ value: 'root', description: 'the root of all spaces' }] : []
  return [...children, ...top]
}

async function listed(space: SpaceClient, resource: GroupVersionResource): Promise<Candidate[]> {
  const { items } = await space.list(resource, { limit: PAGE })
  return items.map(({ metadata }) => ({ value: metadata.name ?? '' }))
}
