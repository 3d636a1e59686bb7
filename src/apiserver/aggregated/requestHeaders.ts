/**
 * The front proxy of a host cluster, as ConfigMap `kube-system/extension-apiserver-authentication` describes it, and the user
 * that its headers name.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/
 */
import { X509Certificate } from 'node:crypto'
import { messageOf } from '../../apimachinery/messageOf.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { utf8 } from '../auth/headerText.ts'
import type { UserInfo } from '../auth/types.ts'

export const AUTHENTICATION_NAMESPACE = 'kube-system'
export const AUTHENTICATION_NAME = 'extension-apiserver-authentication'

export interface FrontProxy {
  /** Vouches for the certificate of the front proxy. */
  readonly caPem: string
  /** Common names of that certificate; empty: any. */
  readonly allowedNames: readonly string[]
  /** Header names in lower case. */
  readonly usernameHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly extraPrefixes: readonly string[]
}

/** Values of each header apart, by lower-case names. */
type DistinctHeaders = NodeJS.Dict<string[]>

/** @throws Error that names the field of the ConfigMap */
export function frontProxyOf(object: KubeObject): FrontProxy {
  const data = (object.data ?? {}) as Record<string, string | undefined>
  const caPem = data['requestheader-client-ca-file']
  if (!caPem)
    throw new Error(
      'data.requestheader-client-ca-file is missing: the host needs kube-apiserver --requestheader-client-ca-file, see its aggregation layer',
    )
  try {
    new X509Certificate(caPem)
  } catch (error) {
    throw new Error(`data.requestheader-client-ca-file holds no certificate: ${messageOf(error)}`, { cause: error })
  }
  const names = (field: string): string[] => listIn(field, data[field]).map(name => name.toLowerCase())
  const usernameHeaders = names('requestheader-username-headers')
  if (usernameHeaders.length === 0) throw new Error('data.requestheader-username-headers names no header')
  return {
    caPem,
    allowedNames: listIn('requestheader-allowed-names', data['requestheader-allowed-names']),
    usernameHeaders,
    groupHeaders: names('requestheader-group-headers'),
    uidHeaders: names('requestheader-uid-headers'),
    extraPrefixes: names('requestheader-extra-headers-prefix'),
  }
}

/** A JSON array in a text, as the host writes all of these. */
function listIn(field: string, text: string | undefined): string[] {
  if (text === undefined || text === '') return []
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch {
    list = undefined
  }
  if (!Array.isArray(list) || !list.every(item => typeof item === 'string'))
    throw new Error(`data.${field} is no JSON array of strings`)
  return list
}

/** `undefined` where they name none. */
export function userIn(headers: DistinctHeaders, proxy: FrontProxy): UserInfo | undefined {
  const name = firstOf(headers, proxy.usernameHeaders)
  if (name === undefined) return undefined
  const uid = firstOf(headers, proxy.uidHeaders)
  const groups = proxy.groupHeaders.flatMap(header => headers[header]?.map(utf8) ?? [])
  const extra = extraIn(headers, proxy.extraPrefixes)
  return { name, ...(uid !== undefined && { uid }), groups, ...(extra && { extra }) }
}

function firstOf(headers: DistinctHeaders, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name]?.[0]
    if (value) return utf8(value)
  }
  return undefined
}

function extraIn(headers: DistinctHeaders, prefixes: readonly string[]): Record<string, string[]> | undefined {
  const found: [string, string[]][] = []
  for (const header in headers) {
    const prefix = prefixes.find(each => header.startsWith(each))
    if (prefix !== undefined) found.push([unescaped(header.slice(prefix.length)), headers[header]!.map(utf8)])
  }
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
