/**
 * The volume through which the containers of a Pod reach their API server: a token of its ServiceAccount, the server's authority
 * and the namespace. Each server adds one of its own.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#bound-service-account-token-volume
 */
import { isRecord } from './object.ts'
import { equalJson } from './values.ts'

export const TOKEN_VOLUME_PREFIX = 'kube-api-access-'
export const TOKEN_MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'

/** An hour, and a few seconds by which servers recognize the default. */
const EXPIRATION_SECONDS = 3607
const READABLE = 0o644

export function tokenVolume(name: string): Record<string, unknown> {
  const items = [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }]
  return {
    name,
    projected: {
      defaultMode: READABLE,
      sources: [
        { serviceAccountToken: { expirationSeconds: EXPIRATION_SECONDS, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items } },
      ],
    },
  }
}

/** Whether a server made the volume, and nobody changed anything of it. */
export function isTokenVolume(volume: unknown): volume is { name: string } {
  if (!isRecord(volume) || typeof volume.name !== 'string' || !volume.name.startsWith(TOKEN_VOLUME_PREFIX)) return false
  return equalJson(volume, tokenVolume(volume.name))
}
