/**
 * InventoryBindings: who writes one decides where everything of the space goes, so it is judged like writing all of its EdgePlacements. The
 * state of an inventory, and its existence, are visible only to users who may see it.
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { dns1123Label } from '../../apimachinery/names.ts'
import { isRecord, isSameResource, type KubeObject } from '../../apimachinery/object.ts'
import { SPACE_TYPES, serves } from '../../placement/spaces/spaceTypes.ts'
import { EDGE_PLACEMENTS, INVENTORY_BINDINGS, isInMailbox, LOCATIONS } from '../../placement/words/placement.ts'
import { forbiddenMessage } from '../auth/forbidden.ts'
import { questionOf } from '../auth/questions.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { refused, requireNone } from '../registry/admissionFrame.ts'
import type { WriteContext } from '../registry/context.ts'
import type { AuthorityDeps } from './authorityDeps.ts'
import { maySee, pathProblems } from './spacePaths.ts'

/** Each lists the Locations of an inventory in the space. */
export const MAX_BINDINGS = 32
const FIELD = 'spec.path'

export function bindingAdmission(deps: AuthorityDeps): Admission {
  return {
    handles: (type, _operation, subresource) => isSameResource(type, INVENTORY_BINDINGS) && subresource === '',
    async admit(request) {
      await checkRights(deps, request)
      const { operation, object, old } = request
      if (operation === 'DELETE') return
      requireNone(request, operation === 'CREATE' ? await problemsOf(deps, request) : moved(object, old))
      if (operation === 'CREATE') await warnOfNone(deps, request.context, pathIn(object))
    },
  }
}

function pathIn({ spec }: KubeObject): string {
  return isRecord(spec) && typeof spec.path === 'string' ? spec.path : ''
}

async function checkRights({ authorizer }: AuthorityDeps, request: AdmissionRequest): Promise<void> {
  for (const verb of ['create', 'update', 'delete']) {
    const question = questionOf(request.context, verb, EDGE_PLACEMENTS)
    if ((await authorizer.authorize(question)).allowed) continue
    throw refused(request, `it decides where every EdgePlacement of the space leads: ${forbiddenMessage(question)}`)
  }
}

function moved(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  if (old === undefined || pathIn(object) === pathIn(old)) return []
  const remedy = 'field is immutable; make another InventoryBinding, and delete this one'
  return [fieldError.invalid(FIELD, pathIn(object), remedy)]
}

async function problemsOf(deps: AuthorityDeps, { object, context }: AdmissionRequest): Promise<FieldError[]> {
  const name = object.metadata.name ?? ''
  const path = pathIn(object)
  // the name begins those of GrantedLocations, and ends there with a dot
  const named = dns1123Label(name).map(detail => fieldError.invalid('metadata.name', name, detail))
  const problems = [...named, ...pathProblems(FIELD, path)]
  if (problems.length > 0) return problems
  const crowded = await crowd(deps, context.space, path)
  return [...crowded, ...(await noInventory(deps, context, path))]
}

/** One binding for each inventory, and not too many. */
async function crowd({ store, parsed }: AuthorityDeps, space: string, path: string): Promise<FieldError[]> {
  const { group, resource } = INVENTORY_BINDINGS
  const { items } = await store.list({ space, group, resource }, { limit: MAX_BINDINGS, uncounted: true })
  const same = items.map(stored => parsed.get(stored)).find(other => pathIn(other) === path)
  if (same !== undefined) {
    const detail = `InventoryBinding "${same.metadata.name}" is for this inventory already; use that one`
    return [fieldError.invalid(FIELD, path, detail)]
  }
  if (items.length < MAX_BINDINGS) return []
  const detail = `the space has ${MAX_BINDINGS} InventoryBindings, and may have no more; delete one first`
  return [fieldError.forbidden(FIELD, detail)]
}

async function noInventory({ tree, authorizer }: AuthorityDeps, { user }: WriteContext, path: string) {
  const resolved = tree.resolve(path)
  if (!resolved.found || !(await authorizer.mayAccessSpace(user, resolved.space.id))) return []
  const { type } = resolved.space
  if (serves(type, LOCATIONS) && !isInMailbox(path)) return []
  const types = [...SPACE_TYPES.values()].filter(one => serves(one, LOCATIONS)).map(({ name }) => name)
  const detail = `a space of type "${type.name}" is no inventory; name one of type ${types.sort().join(' or ')}`
  return [fieldError.invalid(FIELD, path, detail)]
}

/** Only a user who could have seen it gets the warning that it is not there. */
async function warnOfNone(deps: AuthorityDeps, context: WriteContext, path: string): Promise<void> {
  if (deps.tree.resolve(path).found || !(await maySee(deps, context.user, path))) return
  context.warn(`there is no space ${path} yet; the binding counts once there is, and grants this space`)
}
