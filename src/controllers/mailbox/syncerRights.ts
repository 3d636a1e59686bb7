/** What the syncer needs inside its own mailbox, and nothing outside it: an identity and the run of that one space. */
import { isStatusError } from '../../apimachinery/errors.ts'
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import { SYNCER_NAME, SYNCER_NAMESPACE } from '../../apimachinery/placement.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { SpaceClient } from '../../client/client.ts'

const RBAC = 'rbac.authorization.k8s.io'
const rbac = (resource: string): GroupVersionResource => ({ group: RBAC, version: 'v1', resource })
const SERVICE_ACCOUNTS: GroupVersionResource = { group: '', version: 'v1', resource: 'serviceaccounts' }

interface Wanted {
  resource: GroupVersionResource
  object: KubeObject
  /** Fields that must say exactly this. */
  fields: readonly string[]
}

/** In the order in which they are made. */
export function syncerRights(): Wanted[] {
  return [
    {
      resource: SERVICE_ACCOUNTS,
      object: {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { namespace: SYNCER_NAMESPACE, name: SYNCER_NAME },
      },
      fields: [],
    },
    {
      resource: rbac('clusterroles'),
      object: {
        apiVersion: `${RBAC}/v1`,
        kind: 'ClusterRole',
        metadata: { name: SYNCER_NAME },
        rules: [
          { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
          { nonResourceURLs: ['/'], verbs: ['access'] },
        ],
      },
      fields: ['rules'],
    },
    {
      resource: rbac('clusterrolebindings'),
      object: {
        apiVersion: `${RBAC}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: SYNCER_NAME },
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: SYNCER_NAME },
        subjects: [{ kind: 'ServiceAccount', name: SYNCER_NAME, namespace: SYNCER_NAMESPACE }],
      },
      fields: ['subjects'],
    },
  ]
}

/** Makes what is missing and mends what differs. */
export async function ensureSyncerRights(api: SpaceClient): Promise<void> {
  const options = { fieldManager: 'mailbox-controller' }
  for (const { resource, object, fields } of syncerRights()) {
    const { namespace, name = '' } = object.metadata
    try {
      const current = await api.get(resource, { ...(namespace && { namespace }), name })
      if (fields.every(field => equalJson(current[field], object[field]))) continue
      const mended = Object.fromEntries(fields.map(field => [field, object[field]]))
      await api.update(resource, { ...current, ...mended }, options)
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
      await api.create(resource, object, options)
    }
  }
}
