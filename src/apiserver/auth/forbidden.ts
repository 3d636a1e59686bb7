/** The refusal of a request, worded as kube-apiserver words it. */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import type { Attributes } from './types.ts'

/** `User "u" cannot list resource "pods" in API group "" in the namespace "default"`. */
export function forbiddenMessage(attributes: Attributes): string {
  const user = `User ${JSON.stringify(attributes.user.name)} cannot ${attributes.verb}`
  const { resource } = attributes
  if (resource === undefined) return `${user} path ${JSON.stringify(attributes.path)}`
  const name = resource.subresource === '' ? resource.resource : `${resource.resource}/${resource.subresource}`
  const where =
    resource.namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(resource.namespace)}`
  return `${user} resource ${JSON.stringify(name)} in API group ${JSON.stringify(resource.group)} ${where}`
}

/** The 403 for a denied request; `reason` is the authorizer's. */
export function forbidden(attributes: Attributes, reason = ''): StatusError {
  const message = reason === '' ? forbiddenMessage(attributes) : `${forbiddenMessage(attributes)}: ${reason}`
  const { resource } = attributes
  if (resource === undefined) return new StatusError('Forbidden', `forbidden: ${message}`, {})
  return statusError.forbidden(resource, resource.name, message)
}
