/** Objects and patches that are small to send, and dear to take in or to carry along. */
import { issueCa } from '../../../src/apiserver/pki/issue.ts'
import { dsaKeyPem } from '../../support/dsaKey.ts'
import { type Attack, attack } from '../attack.ts'
import { crowd, type Ground } from '../ground.ts'

const map = (metadata: object, data: Record<string, string> = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata,
  data,
})
const numbered = (count: number, prefix: string): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`)
const record = (names: readonly string[], value: string): Record<string, string> =>
  Object.fromEntries(names.map(name => [name, value]))

async function pod({ alice, admin, space }: Ground, name: string, spec: object): Promise<string> {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
  await admin.in(space.id).post('/api/v1/namespaces/default/serviceaccounts', account)
  const path = `${space.prefix}/api/v1/namespaces/default/pods`
  await alice.must({ path, body: { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec } })
  return `${path}/${name}`
}

const MERGE = 'application/merge-patch+json'
const STRATEGIC = 'application/strategic-merge-patch+json'
const JSON_PATCH = 'application/json-patch+json'
const APPLY = 'application/apply-patch+yaml'

export const writes: readonly Attack[] = [
  attack('managed-fields', {
    does: '20,000 forged entries of managedFields, then apply',
    run: async ({ alice, space, size }) => {
      const managedFields = numbered(size(20_000, 2000), 'm').map(manager => ({
        manager,
        operation: 'Apply',
        apiVersion: 'v1',
        time: '2020-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:a': {} } },
      }))
      await crowd(size(6, 1), 3, async i => {
        const name = `f-${i}-${Math.random().toString(36).slice(2)}`
        await alice.send({ path: space.maps, body: map({ name, managedFields }, { a: 'b' }) })
        await alice.send({
          method: 'PATCH',
          path: `${space.maps}/${name}?fieldManager=me&force=true`,
          type: APPLY,
          body: map({ name }, { a: 'c' }),
        })
      })
    },
    keepsMb: 30,
  }),
  attack('large-metadata', {
    does: '100,000 finalizers, labels of 2 MB, 20,000 owners',
    run: async ({ alice, space, size }) => {
      const finalizers = numbered(size(100_000, 2000), 'a.example.com/f')
      const labels = record(numbered(size(60_000, 5000), 'label-'), 'v')
      const ownerReferences = numbered(size(20_000, 1000), 'o').map(name => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name,
        uid: name,
      }))
      await crowd(size(12, 3), 6, async i => {
        const metadata = [{ finalizers }, { labels }, { ownerReferences }][i % 3]
        await alice.send({ path: space.maps, body: map({ generateName: 'h-', ...metadata }) })
      })
    },
    keepsMb: 60,
  }),
  attack('json-patch', {
    does: '10,000 operations at the head of a long list, and copies of copies',
    prepare: async ground => {
      const args = numbered(ground.size(50_000, 500), 'argument')
      await pod(ground, 'listed', { containers: [{ name: 'c', image: 'i', args }] })
    },
    run: async ({ alice, space, size }) => {
      const path = `${space.prefix}/api/v1/namespaces/default/pods/listed?dryRun=All`
      const send = (operations: readonly object[]) =>
        alice.send({ method: 'PATCH', path, type: JSON_PATCH, body: JSON.stringify(operations) })
      const at = '/spec/containers/0/args'
      const add = numbered(size(10_000, 1000), 'x').map(value => ({ op: 'add', path: `${at}/0`, value }))
      const move = add.map(() => ({ op: 'move', from: `${at}/0`, path: `${at}/49` }))
      const copy = numbered(30, 'c').map((_, i) => ({ op: 'copy', from: at, path: `/spec/copy${i}` }))
      const test = add.map(() => ({ op: 'test', path: at, value: [] }))
      await crowd(size(12, 4), 4, i => send([add, move, copy, test][i % 4]!))
    },
    hears: [400, 413, 422],
    keepsMb: 20,
  }),
  attack('strategic-patch', {
    does: 'merges of lists with thousands of elements, reordered and deleted',
    prepare: async ground => {
      const env = numbered(ground.size(15_000, 300), 'E').map(name => ({ name, value: 'v' }))
      await pod(ground, 'listed', { containers: [{ name: 'c', image: 'i', env }] })
    },
    run: async ({ alice, space, size }) => {
      const path = `${space.prefix}/api/v1/namespaces/default/pods/listed?dryRun=All`
      const names = numbered(size(15_000, 300), 'E')
      const order = names.toReversed().map(name => ({ name }))
      const container = (content: object) => ({ spec: { containers: [{ name: 'c', ...content }] } })
      const patches = [
        container({ '$setElementOrder/env': order, env: order.map(({ name }) => ({ name, value: 'w' })) }),
        container({ env: names.map(name => ({ $patch: 'delete', name })) }),
        container({ env: names.map(name => ({ name: `${name}x`, value: 'n' })) }),
        { metadata: { $retainKeys: names, finalizers: names, '$deleteFromPrimitiveList/finalizers': names } },
      ]
      await crowd(size(12, 4), 4, i =>
        alice.send({ method: 'PATCH', path, type: STRATEGIC, body: JSON.stringify(patches[i % 4]) }),
      )
    },
    keepsMb: 20,
  }),
  attack('long-deployments', {
    does: 'updates of a Deployment with 30,000 variables, of a label or of its image',
    prepare: async ({ alice, space, size }) => {
      const env = numbered(size(30_000, 300), 'E').map(name => ({ name, value: 'v' }))
      const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i', env }] } }
      const spec = { selector: { matchLabels: { a: 'b' } }, template }
      const path = `${space.prefix}/apis/apps/v1/namespaces/default/deployments`
      await alice.must({ path, body: { metadata: { name: 'long' }, spec } })
    },
    run: async ({ alice, space, size }) => {
      const path = `${space.prefix}/apis/apps/v1/namespaces/default/deployments/long`
      const send = (body: object): Promise<unknown> =>
        alice.send({ method: 'PATCH', path, type: STRATEGIC, body: JSON.stringify(body) })
      await crowd(size(12, 4), 4, i => {
        const turn = `${i}-${Math.random()}`
        const containers = [{ name: 'c', image: turn }]
        return send(i % 4 > 0 ? { metadata: { labels: { turn } } } : { spec: { template: { spec: { containers } } } })
      })
    },
    keepsMb: 60,
  }),
  attack('apply-wide', {
    does: 'server-side apply of 20,000 keys by turns of many managers',
    prepare: async ({ alice, space }) => {
      await alice.must({ path: space.maps, body: map({ name: 'wide' }) })
    },
    run: async ({ alice, space, size }) => {
      const data = record(numbered(size(20_000, 1000), 'k'), 'v')
      await crowd(size(24, 2), 4, i =>
        alice.send({
          method: 'PATCH',
          path: `${space.maps}/wide?fieldManager=m${i}&force=true`,
          type: APPLY,
          body: map({ name: 'wide' }, { ...data, [`own-${i}`]: 'x' }),
        }),
      )
    },
    keepsMb: 60,
  }),
  attack('update-large', {
    does: 'one object of 1 MB changed as fast as it goes, watched by 50',
    prepare: async ({ alice, space }) => {
      await alice.must({ path: space.maps, body: map({ name: 'large' }, { a: 'x'.repeat(900_000) }) })
    },
    run: async ({ alice, space, size }) => {
      await crowd(size(50, 3), 50, () => alice.unread({ path: `${space.maps}?watch=1` }))
      await crowd(size(300, 5), 16, i =>
        alice.send({
          method: 'PATCH',
          path: `${space.maps}/large`,
          type: MERGE,
          body: { data: { a: `${i}`.repeat(300_000).slice(0, 900_000) } },
        }),
      )
      alice.leave()
    },
    keepsMb: 120,
  }),
  attack('quotas', {
    does: '300 ResourceQuotas over 600 objects, while these are written',
    prepare: async ({ alice, space, size }) => {
      const quotas = `${space.prefix}/api/v1/namespaces/default/resourcequotas`
      await crowd(size(600, 20), 16, i => alice.must({ path: space.maps, body: map({ name: `q-${i}` }) }))
      await crowd(size(300, 10), 8, i =>
        alice.must({
          path: quotas,
          body: {
            apiVersion: 'v1',
            kind: 'ResourceQuota',
            metadata: { name: `q-${i}` },
            spec: {
              hard: { 'count/configmaps': '100000', 'count/secrets': '100000', pods: '100', 'requests.cpu': '1k' },
            },
          },
        }),
      )
    },
    run: async ({ alice, space, size }) => {
      await crowd(size(200, 5), 16, () => alice.send({ path: space.maps, body: map({ generateName: 'n-' }) }))
    },
    keepsMb: 60,
  }),
  attack('collection', {
    does: 'a collection of 10,000 is filled and deleted at once',
    prepare: async ({ alice, space, size }) => {
      await crowd(size(10_000, 50), 48, i => alice.must({ path: space.maps, body: map({ name: `c-${i}` }) }))
    },
    run: async ({ alice, space, size }) => {
      await crowd(size(2000, 20), 48, () => alice.send({ path: space.maps, body: map({ generateName: 'c-' }) }))
      await alice.send({ method: 'DELETE', path: space.maps })
    },
    keepsMb: 100,
  }),
  attack('owners', {
    does: '3,000 objects that own one another in turn, then the first goes',
    run: async ({ alice, space, size }) => {
      const count = size(3000, 20)
      const tag = Math.random().toString(36).slice(2)
      const uids: string[] = []
      for (let level = 0; level < 3; level++)
        await crowd(count / 3, 48, async i => {
          const owner = uids[i % Math.max(1, uids.length)]
          const ownerReferences =
            owner === undefined
              ? []
              : [{ apiVersion: 'v1', kind: 'ConfigMap', name: `${tag}-0-0`, uid: owner, blockOwnerDeletion: true }]
          const { text } = await alice.send({
            path: space.maps,
            body: map({ name: `${tag}-${level}-${i}`, finalizers: [], ownerReferences }),
          })
          const uid = /"uid":"([^"]+)"/.exec(text)?.[1]
          if (uid !== undefined && level === 0 && i === 0) uids.push(uid)
        })
      await alice.send({ method: 'DELETE', path: `${space.maps}/${tag}-0-0?propagationPolicy=Foreground` })
    },
    keepsMb: 60,
  }),
  attack('aggregated-roles', {
    does: 'a role that is made of 300 roles of 100 rules, while they change',
    run: async ({ alice, space, size }) => {
      const roles = `${space.prefix}/apis/rbac.authorization.k8s.io/v1/clusterroles`
      const base = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }
      const rules = numbered(100, 'r').map(resource => ({
        apiGroups: ['x.example.com'],
        resources: [resource],
        verbs: ['get'],
      }))
      await alice.send({
        path: roles,
        body: {
          ...base,
          metadata: { name: 'all' },
          aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
        },
      })
      await crowd(size(300, 5), 8, i =>
        alice.send({
          method: 'PATCH',
          path: `${roles}/part-${i}?fieldManager=me&force=true`,
          type: APPLY,
          body: { ...base, metadata: { name: `part-${i}`, labels: { a: 'b', t: `${Date.now()}` } }, rules },
        }),
      )
    },
    keepsMb: 150,
  }),
  attack('dear-keys', {
    does: 'Secrets with DSA keys of 12,000 to 400,000 bits, whose public half is to be computed',
    run: async ({ alice, space, size }) => {
      const path = `${space.prefix}/api/v1/namespaces/default/secrets`
      const { certPem } = await issueCa({ commonName: 'x', nowMs: Date.now(), days: 1 })
      for (const bits of [12_000, 100_000, 400_000].slice(0, size(3, 2))) {
        const data = { 'tls.crt': btoa(certPem), 'tls.key': btoa(dsaKeyPem(bits)) }
        const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: `s-${bits}` } }
        await alice.must({ path, body: { ...secret, type: 'kubernetes.io/tls', data } })
        await alice.must({ method: 'DELETE', path: `${path}/s-${bits}` })
      }
    },
  }),
]
