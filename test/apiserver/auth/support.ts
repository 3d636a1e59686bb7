/** Roles and bindings in a store, written as the registry writes them. */
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { RBAC_GROUP } from '../../../src/apiserver/auth/rbacRules.ts'
import type { Key, Store } from '../../../src/storage/store.ts'

const KINDS: Record<string, string> = {
  Role: 'roles',
  ClusterRole: 'clusterroles',
  RoleBinding: 'rolebindings',
  ClusterRoleBinding: 'clusterrolebindings',
}

export function role(
  name: string,
  rules: object[],
  more: { namespace?: string; [field: string]: unknown } = {},
): KubeObject {
  const { namespace, labels, ...fields } = more
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: namespace ? 'Role' : 'ClusterRole',
    metadata: {
      name,
      ...(namespace && { namespace }),
      ...(labels ? { labels: labels as Record<string, string> } : {}),
    },
    rules,
    ...fields,
  }
}

/** `subject` is `User:name`, `Group:name` or `ServiceAccount:namespace/name`; `to` is `ClusterRole:name` or `Role:name`. */
export function binding(name: string, to: string, subjects: string[], namespace?: string): KubeObject {
  const [kind, roleName] = splitAt(to)
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: namespace ? 'RoleBinding' : 'ClusterRoleBinding',
    metadata: { name, ...(namespace && { namespace }) },
    roleRef: { apiGroup: RBAC_GROUP, kind, name: roleName },
    subjects: subjects.map(subject => {
      const [subjectKind, who] = splitAt(subject)
      if (subjectKind !== 'ServiceAccount') return { kind: subjectKind, name: who, apiGroup: RBAC_GROUP }
      const [home, account] = who.split('/')
      return { kind: 'ServiceAccount', name: account, namespace: home }
    }),
  }
}

export async function put(store: Store, space: string, ...objects: KubeObject[]): Promise<void> {
  for (const object of objects) {
    const text = JSON.stringify({ ...object, metadata: { ...object.metadata, resourceVersion: '@' } })
    const [head, tail] = text.split('@') as [string, string]
    await store.update(keyOf(space, object), () => ({ type: 'put', text: { head, tail } }))
  }
}

export async function remove(store: Store, space: string, object: KubeObject): Promise<void> {
  const text = { head: '{"metadata":{"resourceVersion":"', tail: '"}}' }
  await store.update(keyOf(space, object), () => ({ type: 'delete', text }))
}

/** Lets the running watches in this process receive the writes. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
}

function keyOf(space: string, object: KubeObject): Key {
  const { name = '', namespace = '' } = object.metadata
  return { space, group: RBAC_GROUP, resource: KINDS[object.kind]!, namespace, name }
}

function splitAt(text: string): [string, string] {
  const colon = text.indexOf(':')
  return [text.slice(0, colon), text.slice(colon + 1)]
}
