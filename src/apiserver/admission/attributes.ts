/**
 * One request as rules, webhooks and CEL expressions see it: in a served version of its kind, with the AdmissionRequest fields.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#request
 */
import { apiVersionOf, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { AdmissionRequest } from '../registry/admission.ts'
import { convertTo } from '../registry/convert.ts'
import { forgetRemembered } from './requestMemory.ts'

interface Kind {
  group: string
  version: string
  kind: string
}

/** The request's object and its old state, as one version (or the sub-resource's own kind) shows them. */
export interface Shown {
  object: KubeObject | null
  old: KubeObject | null
}

/**
 * `null` where the operation has none: CREATE has no old object, DELETE no new one. Not to be changed. Objects of that version already are
 * the request's own, as a space may have thousands of webhooks and policies that look at a large object.
 */
export function shownAs(request: AdmissionRequest, type: ResourceType): Shown {
  const { operation, object, old, view } = request
  const version = apiVersionOf(type)
  const show = (source: KubeObject): KubeObject => {
    if (view) return view.of(cloneJson(source))
    return source.apiVersion === version ? source : convertTo(cloneJson(source), version, type)
  }
  return {
    object: operation === 'DELETE' ? null : show(object),
    old: old === undefined ? null : show(old),
  }
}

/** The request's object as it is now, whatever {@link takeBack} makes of it; what is in it is shared wherever that may be. */
export function asItIs({ object, view }: AdmissionRequest): Readonly<KubeObject> {
  return view ? cloneJson(object) : { ...object }
}

/** Puts a changed copy of what {@link shownAs} gave back into the request's object, of which no part is changed: parts are replaced. */
export function takeBack(request: AdmissionRequest, type: ResourceType, changed: KubeObject): void {
  const { object, view } = request
  forgetRemembered(request)
  if (view) {
    view.into(object, changed)
    return
  }
  changed.metadata = isRecord(changed.metadata) ? changed.metadata : {}
  // the request's object is in the version that the registry handles its kind in
  const stored = convertTo(changed, object.apiVersion, type)
  request.rounds?.settle(stored)
  for (const field of Object.keys(object)) delete object[field]
  Object.assign(object, stored)
}

/** The kind in a webhook's or a policy's view of `type`. */
function kindOf(request: AdmissionRequest, type: ResourceType): Kind {
  const { view } = request
  if (view) return { group: view.group, version: view.version, kind: view.kind }
  return { group: type.group, version: type.version, kind: type.kind }
}

export function nameOf(request: AdmissionRequest): string {
  return request.object.metadata.name ?? ''
}

/** For Namespaces their own name, as upstream has it; `''` for other cluster-scoped kinds. */
export function namespaceOf(request: AdmissionRequest): string {
  const { requestType, object } = request
  if (requestType.namespaced) return object.metadata.namespace ?? ''
  return isNamespace(requestType) ? nameOf(request) : ''
}

export function isNamespace(type: { group: string; resource: string }): boolean {
  return type.group === '' && type.resource === 'namespaces'
}

/** The fields of an `AdmissionRequest` but `uid`, `object` and `oldObject`, in upstream's order. */
export function requestFields(request: AdmissionRequest, type: ResourceType): Record<string, unknown> {
  const { requestType, subresource, operation, context } = request
  const { user } = context
  const name = nameOf(request)
  const namespace = namespaceOf(request)
  const resourceOf = ({ group, version, resource }: ResourceType) => ({ group, version, resource })
  return {
    kind: kindOf(request, type),
    resource: resourceOf(type),
    ...(subresource && { subResource: subresource }),
    requestKind: kindOf(request, requestType),
    requestResource: resourceOf(requestType),
    ...(subresource && { requestSubResource: subresource }),
    ...(name && { name }),
    ...(namespace && { namespace }),
    operation,
    userInfo: {
      ...(user.name && { username: user.name }),
      ...(user.uid && { uid: user.uid }),
      ...(user.groups.length > 0 && { groups: [...user.groups] }),
      ...(user.extra && Object.keys(user.extra).length > 0 && { extra: user.extra }),
    },
    dryRun: context.dryRun,
    options: request.options,
  }
}
