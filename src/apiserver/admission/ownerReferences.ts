/**
 * A right to hang an object on an owner implies its deletion, and may block the owner's: both need permission.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#ownerreferencespermissionenforcement
 */
import { statusError } from '../../apimachinery/errors.ts'
import { type KubeObject, type OwnerReference, parseApiVersion } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { questionOf } from '../auth/questions.ts'
import type { Authorizer } from '../auth/types.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { storageGroup } from '../registry/convert.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { nameOf } from './attributes.ts'

interface OwnerReferencesDeps {
  authorizer: Authorizer
  types: TypeRegistry
}

export function ownerReferences(deps: OwnerReferencesDeps): Admission {
  return {
    stage: 'validate',
    // `/status` may change metadata too
    handles: (_type, operation) => operation !== 'DELETE',
    reaches: ({ unstored, user }) => !unstored && !user.groups.includes('system:masters'),
    concerns: ({ object, old }) => changes(object, old),
    // nearly all have nothing to wait for
    admit: request => (changes(request.object, request.old) ? judge(deps, request) : undefined),
  }
}

async function judge(deps: OwnerReferencesDeps, request: AdmissionRequest): Promise<void> {
  const { object, old } = request
  const { requestType: type, context } = request
  const place = { namespace: object.metadata.namespace ?? '', name: nameOf(request) }
  const remove = await deps.authorizer.authorize(questionOf(context, 'delete', { ...typed(type), ...place }))
  if (!remove.allowed) {
    throw refuse(request, `cannot set an ownerRef on a resource you can't delete: ${remove.reason}, <nil>`)
  }
  for (const owner of newlyBlocking(object, old)) {
    const owners = typesOf(deps.types, context.space, owner)
    if (owners.length === 0) throw refuse(request, unknownKind(owner))
    for (const each of owners) {
      const namespace = each.namespaced ? place.namespace : ''
      const finalizers = { ...typed(each), subresource: 'finalizers', namespace, name: owner.name }
      const update = await deps.authorizer.authorize(questionOf(context, 'update', finalizers))
      if (update.allowed) continue
      const why =
        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: "
      throw refuse(request, `${why}${update.reason}, <nil>`)
    }
  }
}

const NONE: readonly OwnerReference[] = []

function changes(object: KubeObject, old: KubeObject | undefined): boolean {
  const now = object.metadata.ownerReferences ?? NONE
  const before = old?.metadata.ownerReferences ?? NONE
  return now.length !== before.length || now.some((owner, i) => !sameOwner(owner, before[i]!))
}

function sameOwner(a: OwnerReference, b: OwnerReference): boolean {
  return (
    a.apiVersion === b.apiVersion &&
    a.kind === b.kind &&
    a.name === b.name &&
    a.uid === b.uid &&
    a.controller === b.controller &&
    a.blockOwnerDeletion === b.blockOwnerDeletion
  )
}

/** References that block now and did not (or did not exist) before. */
function newlyBlocking(object: KubeObject, old: KubeObject | undefined): OwnerReference[] {
  const before = new Map((old?.metadata.ownerReferences ?? []).map(owner => [owner.uid, owner]))
  return (object.metadata.ownerReferences ?? []).filter(
    owner => owner.blockOwnerDeletion === true && before.get(owner.uid)?.blockOwnerDeletion !== true,
  )
}

function typesOf(types: TypeRegistry, space: string, owner: OwnerReference): ResourceType[] {
  const gv = parseApiVersion(owner.apiVersion)
  return types
    .in(space)
    .types.filter(type => type.group === gv?.group && type.version === gv.version && type.kind === owner.kind)
}

function unknownKind({ apiVersion, kind }: OwnerReference): string {
  const gv = parseApiVersion(apiVersion)
  const named = `${kind}${gv?.group ? `.${gv.group}` : ''}`
  const version = gv?.version ?? ''
  return `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(gv?.group ? `${gv.group}/${version}` : version || named)}`
}

function typed(type: ResourceType): { group: string; version: string; resource: string } {
  return { group: storageGroup(type), version: type.version, resource: type.resource }
}

function refuse(request: AdmissionRequest, why: string) {
  return statusError.forbidden(request.requestType, nameOf(request), why)
}
