/** Accounts of readers. */
import type { Api } from '../../support/api.ts'

/** A ServiceAccount in the Namespace `app` of a space, which may do that there. */
export async function account(admin: Api, space: string, name: string, rules: object[]): Promise<Api> {
  const api = admin.in(space)
  const RBAC = 'rbac.authorization.k8s.io'
  const subjects = [{ kind: 'ServiceAccount', name, namespace: 'app' }]
  await api.ok(api.post('/api/v1/namespaces/app/serviceaccounts', { metadata: { name } }))
  const natured = { 'edge.kubestellar.io/natured': 'true' }
  const meta = { name, labels: natured }
  await api.ok(api.post(`/apis/${RBAC}/v1/clusterroles`, { metadata: meta, rules }))
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name }
  await api.ok(api.post(`/apis/${RBAC}/v1/clusterrolebindings`, { metadata: meta, roleRef, subjects }))
  const { status } = await api.ok(
    api.post(`/api/v1/namespaces/app/serviceaccounts/${name}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {},
    }),
  )
  return admin.as((status as { token: string }).token)
}

/** Somebody with an identity of the whole server, and no rights. */
export function person(admin: Api, name: string): Pick<Api, 'get' | 'watch' | 'ok'> {
  const as = { 'Impersonate-User': name }
  return {
    get: path => admin.get(path, as),
    watch: path => admin.watch(path, as),
    ok: answer => admin.ok(answer),
  }
}

/** Lets somebody enter a space and do that there. */
export async function grant(admin: Api, space: string, user: string, rules: object[], name = user): Promise<void> {
  const api = admin.in(space)
  const RBAC = 'rbac.authorization.k8s.io'
  const meta = { name, labels: { 'edge.kubestellar.io/natured': 'true' } }
  const enter = { nonResourceURLs: ['/'], verbs: ['access'] }
  await api.ok(api.post(`/apis/${RBAC}/v1/clusterroles`, { metadata: meta, rules: [enter, ...rules] }))
  await api.ok(
    api.post(`/apis/${RBAC}/v1/clusterrolebindings`, {
      metadata: meta,
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
      subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
    }),
  )
}
