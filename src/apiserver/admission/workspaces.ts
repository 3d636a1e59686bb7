/** The server's fields of a Workspace: its id, URL and owner at creation, and their permanence; as its finalizer does. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { dns1123Label } from '../../apimachinery/names.ts'
import { isRecord, isSameResource, type KubeObject } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { SPACE_TYPES, type SpaceType, TYPES_PATH } from '../../placement/spaces/spaceTypes.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { refused, requireNone } from '../registry/admissionFrame.ts'
import { systemUser, trustedName } from '../registry/context.ts'
import { BOOTSTRAP } from '../spaces/initialSpaces.ts'
import { COMPONENT } from '../spaces/spaceContent.ts'
import type { SpaceTree } from '../spaces/tree.ts'
import { OWNER_ANNOTATION, WORKSPACE_FINALIZER } from '../spaces/workspace.ts'

const ID_LENGTH = 16
const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz'
/** For an id, and for bytes that make no digit: nearly always enough. */
const RANDOM_BYTES = 20
/** Spaces that one may stand below, `root` among them: each write counts for all of them, and each path names them all. */
export const MOST_LEVELS = 100
const FIXED = ['cluster', 'URL', 'type'] as const

export interface WorkspaceAdmissionDeps {
  tree: SpaceTree
  externalUrl: () => string
  randomBytes: (size: number) => Buffer
}

export function workspaceAdmission(deps: WorkspaceAdmissionDeps): Admission {
  return {
    handles: (type, operation) => operation !== 'DELETE' && isSameResource(type, WORKSPACES),
    admit(request) {
      const { operation, context, object, old } = request
      if (operation === 'CREATE') {
        const name = object.metadata.name ?? ''
        requireNone(
          request,
          dns1123Label(name).map(detail => fieldError.invalid('metadata.name', name, detail)),
        )
        if (deps.tree.lineageOf(context.space).length > MOST_LEVELS)
          throw refused(request, `spaces stand at most ${MOST_LEVELS} levels deep: make it in a space further up`)
        const spec = isRecord(object.spec) ? object.spec : {}
        const path = deps.tree.get(context.space)?.path ?? context.space
        object.spec = {
          ...spec,
          type: typeFor(request, spec.type, deps.tree.typeOf(context.space)),
          cluster: newSpaceId(deps.randomBytes),
          URL: `${deps.externalUrl()}/clusters/${path}:${name}`,
        }
        object.status = { phase: 'Scheduling' }
        const owner = { username: context.user.name, groups: context.user.groups }
        object.metadata.annotations = { ...object.metadata.annotations, [OWNER_ANNOTATION]: JSON.stringify(owner) }
        object.metadata.finalizers = [...new Set([...(object.metadata.finalizers ?? []), WORKSPACE_FINALIZER])]
        return
      }
      if (old === undefined) return
      keepFixed(request, old)
      if (trustedName(context.user) !== systemUser(COMPONENT)) keepFinalizer(object, old)
    },
  }
}

/**
 * The type of a new child: the requested one, or the first that the parent allows.
 * @throws StatusError Invalid when there is no such type, or the parent does not allow it
 */
function typeFor(request: AdmissionRequest, requested: unknown, parent: SpaceType): SpaceTypeReference {
  const isBootstrap = trustedName(request.context.user) === systemUser(BOOTSTRAP)
  const wanted: Record<string, unknown> = isRecord(requested) ? requested : {}
  const allowed = isBootstrap ? [...SPACE_TYPES.keys()] : parent.children
  const path = wanted.path ?? TYPES_PATH
  const found = { name: wanted.name ?? parent.children[0], path }
  const invalid = (error: FieldError): void => requireNone(request, [error])
  if (found.path !== TYPES_PATH) invalid(fieldError.notSupported('spec.type.path', path, [TYPES_PATH]))
  if (allowed.length === 0) {
    invalid(fieldError.forbidden('spec.type', `a space of type "${parent.name}" has no children; create it elsewhere`))
  }
  if (typeof found.name !== 'string' || !SPACE_TYPES.has(found.name)) {
    invalid(fieldError.notSupported('spec.type.name', found.name, [...allowed]))
  }
  if (!allowed.includes(String(found.name))) {
    const detail = `a space of type "${parent.name}" may have children of type ${allowed.join(', ')} only`
    invalid(fieldError.invalid('spec.type.name', found.name, detail))
  }
  return { name: String(found.name), path: TYPES_PATH }
}

interface SpaceTypeReference {
  name: string
  path: string
}

/** @throws StatusError Invalid when a field that stays is another one */
function keepFixed(request: AdmissionRequest, old: KubeObject): void {
  const { object } = request
  const before = isRecord(old.spec) ? old.spec : {}
  const now = isRecord(object.spec) ? object.spec : {}
  object.spec = now
  for (const field of FIXED) {
    if (now[field] === undefined) now[field] = before[field]
    if (!equalJson(now[field], before[field]))
      requireNone(request, [fieldError.invalid(`spec.${field}`, now[field], 'field is immutable')])
  }
  const owner = old.metadata.annotations?.[OWNER_ANNOTATION]
  if (owner !== undefined) object.metadata.annotations = { ...object.metadata.annotations, [OWNER_ANNOTATION]: owner }
}

/** Without it the Workspace would go at once, and what is in its space would stay for ever where nobody can reach it. */
function keepFinalizer(object: KubeObject, old: KubeObject): void {
  const finalizers = object.metadata.finalizers ?? []
  if (!old.metadata.finalizers?.includes(WORKSPACE_FINALIZER) || finalizers.includes(WORKSPACE_FINALIZER)) return
  object.metadata.finalizers = [...finalizers, WORKSPACE_FINALIZER]
}

/** As many random digits of base 36. */
function newSpaceId(randomBytes: (size: number) => Buffer): string {
  let id = ''
  while (id.length < ID_LENGTH)
    // what is left of 256 above the last multiple of 36 would make some digits likelier than others
    for (const byte of randomBytes(RANDOM_BYTES)) if (byte < 252 && id.length < ID_LENGTH) id += DIGITS[byte % 36]
  return id
}
