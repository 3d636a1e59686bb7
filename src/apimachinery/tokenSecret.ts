/**
 * Secrets that a server fills with a token of a ServiceAccount. The author of one requests a token of that server. Such a Secret therefore
 * travels empty, each cluster fills its own, and a filled one never leaves its server.
 * @see https://kubernetes.io/docs/concepts/configuration/secret/#serviceaccount-token-secrets
 */
import type { KubeObject } from './object.ts'

export const TOKEN_SECRET_TYPE = 'kubernetes.io/service-account-token'
const ACCOUNT_NAME = 'kubernetes.io/service-account.name'
const ACCOUNT_UID = 'kubernetes.io/service-account.uid'
/** Labels by which a server keeps account of how such a token is used. */
const USE = 'kubernetes.io/legacy-token-'

/** Items of a list, which lack their apiVersion, are looked at, too. */
export function isTokenSecret({ kind, type }: Readonly<KubeObject>): boolean {
  return kind === 'Secret' && type === TOKEN_SECRET_TYPE
}

/** Name of the ServiceAccount in the same namespace; `undefined` of all other objects. */
export function accountOf(object: Readonly<KubeObject>): string | undefined {
  return isTokenSecret(object) ? object.metadata.annotations?.[ACCOUNT_NAME] : undefined
}

/** The Secret as its author wrote it. */
export function withoutToken(secret: KubeObject): KubeObject {
  const { data: _data, stringData: _stringData, metadata, ...rest } = secret
  const { [ACCOUNT_UID]: _uid, ...annotations } = metadata.annotations ?? {}
  const labels = Object.entries(metadata.labels ?? {}).filter(([key]) => !key.startsWith(USE))
  return {
    ...rest,
    metadata: { ...metadata, annotations, ...(metadata.labels && { labels: Object.fromEntries(labels) }) },
  }
}
