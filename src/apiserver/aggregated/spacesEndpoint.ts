/** `spaces`, as a host's users read them: each space that the reader may enter, and the path by which the host leads there. */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { apiVersionOf, type KubeObject } from '../../apimachinery/object.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import { HOST_SPACES, spacePath } from '../../client/http/paths.ts'
import type { Work, WorkTurns } from '../../program/workTurns.ts'
import type { AuthorizedRequest } from '../access/accessControl.ts'
import type { Authorizer, UserInfo } from '../auth/types.ts'
import { effectiveUser } from '../auth/users.ts'
import { checkPartial } from '../exchange/answers/respond.ts'
import type { Answer } from '../http/answer.ts'
import { type Form, isPartial, negotiate } from '../http/negotiate.ts'
import { methodNotAllowed } from '../http/paths.ts'
import type { Request } from '../http/request.ts'
import { type Selection, selectionFor } from '../registry/selection.ts'
import { ROOT, type Space, type SpaceTree } from '../spaces/tree.ts'
import { partialMetadata, tableFor } from '../tables/table.ts'
import { SPACES } from './hostKinds.ts'

export interface SpacesEndpointDeps {
  tree: Pick<SpaceTree, 'below' | 'resolve' | 'isDeleting'>
  authorizer: Authorizer & { mayAccessSpace(user: UserInfo, space: string): Soon<boolean> }
  work: Pick<WorkTurns, 'begin'>
}

/** Names in an answer; a list is not paged. */
export const LISTED_SPACES = 10_000

const API_VERSION = apiVersionOf(SPACES)

export type SpacesEndpoint = (request: Request, answer: Answer, authorized: AuthorizedRequest) => Promise<void>

export function spacesEndpoint(deps: SpacesEndpointDeps): SpacesEndpoint {
  return async (request, answer, { info, user }) => {
    const isList = info.verb === 'list'
    if (!isList && info.verb !== 'get') {
      answer.header('allow', 'GET')
      throw methodNotAllowed(SPACES, info.verb)
    }
    const form = negotiate(request.headers.accept, noProtobuf, hasTable)
    if (form.as !== 'Table') checkPartial({ form, type: SPACES }, isList)
    const shown = (object: KubeObject): KubeObject => (isPartial(form) ? partialMetadata(object, form.version) : object)
    if (!isList) {
      const object = await oneOf(deps, user, info.resource?.name ?? '')
      return sendJson(answer, form.as === 'Table' ? tableOf(form, [object], info.query) : shown(object))
    }
    const selection = selectionFor(SPACES, undefined, {
      labelSelector: info.query.get('labelSelector') ?? undefined,
      fieldSelector: info.query.get('fieldSelector') ?? undefined,
    })
    const work = deps.work.begin({ owner: ROOT, isAbandoned: () => answer.destroyed })
    const items = await allOf(deps, user, { selection, work })
    if (form.as === 'Table') return sendJson(answer, tableOf(form, items, info.query))
    const kind = isPartial(form)
      ? { apiVersion: `meta.k8s.io/${form.version}`, kind: form.as }
      : { apiVersion: API_VERSION, kind: SPACES.listKind }
    sendJson(answer, { ...kind, metadata: {}, items: items.map(shown) })
  }
}

const noProtobuf = (): boolean => false
const hasTable = (): boolean => true

function tableOf({ version }: Form, objects: readonly KubeObject[], query: URLSearchParams): object {
  const wanted = query.get('includeObject')
  const includeObject = wanted === 'None' || wanted === 'Object' ? wanted : 'Metadata'
  return tableFor({ type: SPACES, objects, listMeta: {}, includeObject, version, now: new Date(), headers: true })
}

/** @throws StatusError NotFound, also for a space that is closed to the user */
async function oneOf({ tree, authorizer }: SpacesEndpointDeps, user: UserInfo, name: string): Promise<KubeObject> {
  const found = tree.resolve(name)
  const isThere = found.found && !tree.isDeleting(found.space.id)
  if (!isThere || !(await mayEnter(authorizer, user, found.space.id))) throw statusError.notFound(SPACES, name)
  return objectOf(found.space)
}

async function allOf(
  { tree, authorizer }: SpacesEndpointDeps,
  user: UserInfo,
  { selection, work }: { selection: Selection; work: Work },
): Promise<KubeObject[]> {
  const found: KubeObject[] = []
  for (const space of tree.below(ROOT)) {
    if (work.due) await work.rest()
    const object = objectOf(space)
    if (!selection.matches(object) || tree.isDeleting(space.id)) continue
    if (!(await mayEnter(authorizer, user, space.id))) continue
    if (found.length === LISTED_SPACES)
      throw new StatusError(
        'RequestEntityTooLarge',
        `you may enter more than ${LISTED_SPACES} spaces, which is more than one list has: get a space by its name`,
      )
    found.push(object)
  }
  return found.sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
}

function mayEnter(authorizer: SpacesEndpointDeps['authorizer'], user: UserInfo, space: string): Soon<boolean> {
  return authorizer.mayAccessSpace(effectiveUser(user, space), space)
}

function objectOf({ id, path, type }: Space): KubeObject {
  return {
    apiVersion: API_VERSION,
    kind: SPACES.kind,
    metadata: { name: path },
    spec: { id, type: type.name },
    status: { proxyPath: `${HOST_SPACES}${spacePath(HOST_SPACES, path)}` },
  } as unknown as KubeObject
}

function sendJson(answer: Answer, document: unknown): void {
  answer.type('application/json').send(Buffer.from(`${JSON.stringify(document)}\n`))
}
