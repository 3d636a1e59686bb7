/** URL paths and queries of the Kubernetes API. */
import type { GroupVersionResource } from '../../apimachinery/object.ts'

/** `/apis/apps/v1/namespaces/<ns>/deployments[/<name>[/<subresource>]]`, or below `/api` for the core group. */
export function resourcePath(
  { group, version, resource }: GroupVersionResource,
  at: { namespace?: string; name?: string; subresource?: string } = {},
): string {
  let path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  if (at.namespace) path += `/namespaces/${encodeURIComponent(at.namespace)}`
  path += `/${resource}`
  if (at.name !== undefined) path += `/${encodeURIComponent(at.name)}`
  return at.subresource ? `${path}/${at.subresource}` : path
}

/** `?a=b&c=d` of the parameters that have a value, or the empty string. */
export function queryOf(parameters: Record<string, string | number | boolean | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value))
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

/** The path of a host cluster below which it leads to the spaces of the server behind it. */
export const HOST_SPACES = '/apis/tenancy.kcp.io/v1alpha1/spaces'

/** Whether the URL of all spaces leads through a host cluster. */
export function leadsThroughHost(base: string): boolean {
  return base.endsWith(HOST_SPACES)
}

/**
 * Below the URL of all spaces: `/clusters/<space>`, and through a host cluster `/<space>/proxy`. Colons stay readable. The empty
 * string is the space that the credential implies.
 */
export function spacePath(base: string, space: string): string {
  if (space === '') return ''
  const name = encodeURIComponent(space).replaceAll('%3A', ':')
  return leadsThroughHost(base) ? `/${name}/proxy` : `/clusters/${name}`
}
