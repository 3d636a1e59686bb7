/** Objects that name many others: owners, and subjects of bindings. */
import { type Attack, attack } from '../attack.ts'
import { crowd } from '../ground.ts'

const RBAC = 'rbac.authorization.k8s.io'

export const references: readonly Attack[] = [
  attack('absent-owners', {
    does: '2,000 Secrets with 20 owners each of which one is there, and this one goes and leaves them behind',
    run: async ({ alice, space, size }) => {
      const tag = Math.random().toString(36).slice(2)
      const { text } = await alice.must({ path: space.maps, body: { metadata: { name: tag } } })
      const uid = /"uid":"([^"]+)"/.exec(text)![1]!
      const owner = (name: string, uid: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid })
      await crowd(size(2000, 20), 16, i => {
        const absent = Array.from({ length: 19 }, (_, k) => owner(`no-${k}`, `${tag}-${i}-${k}`))
        const metadata = { name: `${tag}-${i}`, ownerReferences: [owner(tag, uid), ...absent] }
        return alice.must({ path: `${space.prefix}/api/v1/namespaces/default/secrets`, body: { metadata } })
      })
      await alice.must({ method: 'DELETE', path: `${space.maps}/${tag}?propagationPolicy=Orphan` })
    },
    keepsMb: 100,
  }),
  attack('many-owners', {
    does: 'objects with 1,000 owners each, none of which is there',
    run: async ({ alice, space, size }) => {
      const tag = Math.random().toString(36).slice(2)
      await crowd(size(200, 2), 4, i => {
        const ownerReferences = Array.from({ length: size(1000, 500) }, (_, k) => ({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          name: `absent-${k}`,
          // two objects each name the same ones
          uid: `${tag}-${i >> 1}-${k}`,
        }))
        return alice.must({ path: space.maps, body: { metadata: { generateName: 'owned-', ownerReferences } } })
      })
    },
    // 125 KB each, until the collector has looked for all of its owners
    keepsMb: 250,
  }),
  attack('owner-chains', {
    does: 'a chain and a ring of 1,500 objects, each owned by the one before, whose first goes in the foreground',
    run: async ({ alice, space, size }) => {
      const tag = Math.random().toString(36).slice(2)
      const count = size(1500, 10)
      const type = 'application/merge-patch+json'
      for (const shape of ['chain', 'ring'] as const) {
        const name = (i: number): string => `${tag}-${shape}-${i}`
        const uids: string[] = []
        await crowd(count, 32, async i => {
          const { text } = await alice.must({ path: space.maps, body: { metadata: { name: name(i) } } })
          uids[i] = /"uid":"([^"]+)"/.exec(text)![1]!
        })
        await crowd(count, 32, i => {
          const before = (i + count - 1) % count
          const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: name(before), uid: uids[before] }
          const ownerReferences = i === 0 && shape === 'chain' ? [] : [{ ...owner, blockOwnerDeletion: true }]
          return alice.must({
            method: 'PATCH',
            path: `${space.maps}/${name(i)}`,
            type,
            body: { metadata: { ownerReferences } },
          })
        })
        await alice.must({ method: 'DELETE', path: `${space.maps}/${name(0)}?propagationPolicy=Foreground` })
      }
    },
    keepsMb: 100,
  }),
  attack('foreground-star', {
    does: '10,000 dependents that hold their owner up, and are let go one by one',
    run: async ({ alice, space, size }) => {
      const tag = Math.random().toString(36).slice(2)
      const count = size(10_000, 20)
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: `owner-${tag}` }
      const made = await alice.must({ path: space.maps, body: { metadata: { name: owner.name } } })
      const { uid } = (JSON.parse(made.text) as { metadata: { uid: string } }).metadata
      const ownerReferences = [{ ...owner, uid, blockOwnerDeletion: true }]
      await crowd(count, 32, i => {
        const metadata = { name: `${tag}-${i}`, ownerReferences, finalizers: ['example.com/held'] }
        return alice.must({ path: space.maps, body: { metadata } })
      })
      const body = { propagationPolicy: 'Foreground' }
      await alice.must({ method: 'DELETE', path: `${space.maps}/${owner.name}`, body })
      const type = 'application/merge-patch+json'
      const free = { metadata: { finalizers: null } }
      await crowd(count, 32, i => alice.must({ method: 'PATCH', path: `${space.maps}/${tag}-${i}`, type, body: free }))
    },
    keepsMb: 100,
  }),
  attack('subjects', {
    does: '40 RoleBindings of 1,200 subjects each, changed again and again',
    run: async ({ alice, space, size }) => {
      const path = `${space.prefix}/apis/${RBAC}/v1/namespaces/default/rolebindings`
      const tag = Math.random().toString(36).slice(2)
      const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: 'view' }
      const count = size(40, 2)
      await crowd(count, 4, i => {
        const subjects = Array.from({ length: 1200 }, (_, k) => ({
          apiGroup: RBAC,
          kind: 'User',
          name: `${tag}-${i}-${k}`,
        }))
        return alice.must({ path, body: { metadata: { name: `${tag}-${i}` }, roleRef, subjects } })
      })
      await crowd(size(120, 4), 4, i =>
        alice.must({
          method: 'PATCH',
          path: `${path}/${tag}-${i % count}`,
          type: 'application/merge-patch+json',
          body: { metadata: { annotations: { a: `${i}` } } },
        }),
      )
    },
    keepsMb: 60,
  }),
  attack('stars', {
    does: 'a role for a URL of a million stars with something behind them, and reviews that ask about it',
    run: async ({ alice, space }) => {
      const path = `${space.prefix}/apis/${RBAC}/v1`
      const name = Math.random().toString(36).slice(2)
      const rules = [{ nonResourceURLs: [`/a${'*'.repeat(1_000_000)}x*`], verbs: ['get'] }]
      await alice.must({ path: `${path}/clusterroles`, body: { metadata: { name }, rules } })
      const subjects = [{ apiGroup: RBAC, kind: 'User', name: 'zoe' }]
      for (const role of [name, 'system:kcp:workspace:access']) {
        const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: role }
        const body = { metadata: { generateName: 'stars-' }, roleRef, subjects }
        await alice.must({ path: `${path}/clusterrolebindings`, body })
      }
      const spec = { user: 'zoe', nonResourceAttributes: { path: '/a/b', verb: 'get' } }
      const reviews = `${space.prefix}/apis/authorization.k8s.io/v1/subjectaccessreviews`
      await crowd(20, 4, () => alice.must({ path: reviews, body: { spec } }))
      await alice.must({ method: 'DELETE', path: `${path}/clusterroles/${name}` })
    },
    keepsMb: 20,
  }),
]
