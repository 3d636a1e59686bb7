/** Bodies of very many small things, and questions that nobody could mean. */
import { type Attack, attack } from '../attack.ts'
import { crowd, type Ground } from '../ground.ts'

const numbered = (count: number, prefix: string): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`)
const record = (count: number, value: string): Record<string, string> =>
  Object.fromEntries(numbered(count, 'k').map(name => [name, value]))
const map = (name: string, data: Record<string, string>): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})
/** As many as a body may have. */
const MOST = 99_000
/** Fields of one map. */
const WIDEST = 39_000
const APPLY = 'application/apply-patch+yaml'
const MERGE = 'application/merge-patch+json'

const json = (name: string, items: string): string =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},"x":[${items}]}`

async function account({ admin, space }: Ground): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'asked' } }
  await admin.in(space.id).post('/api/v1/namespaces/default/serviceaccounts', body)
}

export const bodies: readonly Attack[] = [
  attack('too-many-values', {
    does: 'bodies of 500,000 empty objects, in JSON, as patches and as YAML',
    prepare: async ({ alice, space }) => {
      await alice.must({ path: space.maps, body: map('patched', {}) })
    },
    run: async ({ alice, space, size }) => {
      const body = json('patched', `${'{},'.repeat(size(500_000, 101_000))}{}`)
      await crowd(size(60, 1), 16, i =>
        i % 4 === 0
          ? alice.send({ path: space.maps, body })
          : alice.send({
              method: 'PATCH',
              path: `${space.maps}/patched?fieldManager=me`,
              type: [MERGE, APPLY, 'application/strategic-merge-patch+json'][i % 3]!,
              body,
            }),
      )
    },
    hears: [413],
    keepsMb: 20,
  }),
  attack('many-values', {
    does: 'bodies with as many fields and elements as they may have, of several kinds',
    run: async ({ alice, space, size }) => {
      const most = size(MOST, 2000)
      const env = numbered(most / 5, 'E').map(name => ({ name, value: 'v' }))
      const rules = numbered(most / 8, 'r').map(each => ({ apiGroups: ['x'], resources: [each], verbs: ['get'] }))
      const asked: readonly [path: string, body: object | string][] = [
        [space.maps, map('wide', record(Math.min(most / 2, WIDEST), 'v'))],
        [space.maps, json('wide', `${'{},'.repeat(most - 100)}{}`)],
        [
          `${space.prefix}/api/v1/namespaces/default/pods`,
          {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { name: 'p' },
            spec: { containers: [{ name: 'c', image: 'i', env }] },
          },
        ],
        [
          `${space.prefix}/apis/rbac.authorization.k8s.io/v1/clusterroles`,
          { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'r' }, rules },
        ],
      ]
      await crowd(size(24, 4), 8, i => {
        const [path, body] = asked[i % asked.length]!
        return alice.send({ path: `${path}?dryRun=All`, body })
      })
    },
    keepsMb: 40,
  }),
  attack('many-digits', {
    does: 'bodies of runs of 308 digits, and of 40,000 fields with a number with an exponent behind them',
    run: async ({ alice, space, size }) => {
      const head = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'd-' } }
      const digits = { ...head, data: { a: `${'1'.repeat(308)} `.repeat(size(9000, 300)) } }
      const names = Array.from({ length: size(WIDEST, 3000) }, (_, i) => [`field${i}`, 1])
      const numbers = JSON.stringify({ ...head, x: Object.fromEntries(names) }).replace(/}}$/, ',"y":1e200}}')
      await crowd(size(24, 2), 6, i =>
        alice.send({ path: `${space.maps}?dryRun=All`, body: i % 2 === 0 ? digits : numbers }),
      )
    },
    hears: [201, 413, 422],
  }),
  attack('many-claims', {
    does: 'small patches of an object whose 39,000 fields are claimed, and applies of all of them',
    prepare: async ({ alice, space, size }) => {
      await alice.must({ path: space.maps, body: map('claimed', record(size(WIDEST, 1000), 'v')) })
    },
    run: async ({ alice, space, size }) => {
      const path = `${space.maps}/claimed?fieldManager=me&force=true`
      const whole = map('claimed', record(size(WIDEST, 1000), 'v'))
      await crowd(size(24, 4), 6, i =>
        i % 3 === 0
          ? alice.send({ method: 'PATCH', path, type: APPLY, body: whole })
          : alice.send({
              method: 'PATCH',
              path: `${space.maps}/claimed`,
              type: MERGE,
              body: { data: { k1: `${Math.random()}` } },
            }),
      )
    },
    keepsMb: 250,
  }),
  attack('token-requests', {
    does: 'tokens for thousands of audiences',
    prepare: account,
    run: async ({ alice, space, size }) => {
      const path = `${space.prefix}/api/v1/namespaces/default/serviceaccounts/asked/token`
      await crowd(size(400, 4), 64, i =>
        alice.send({ path, body: { spec: { audiences: numbered(i % 2 === 0 ? 100 : 5000, 'https://audience-') } } }),
      )
    },
    hears: [422],
    keepsMb: 20,
  }),
  attack('token-reviews', {
    does: 'reviews of tokens of 2 MB, of nothing but dots, of claims that are long, and for thousands of audiences',
    run: async ({ alice, space, size }) => {
      const path = `${space.prefix}/apis/authentication.k8s.io/v1/tokenreviews`
      const bytes = size(2_000_000, 200_000)
      const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
      const head = encoded({ alg: 'RS256', kid: 'x'.repeat(bytes / 4) })
      const tokens = [
        'x'.repeat(bytes),
        '.'.repeat(bytes),
        `${head}.${encoded({ iss: 'x', aud: numbered(bytes / 40, 'audience-') })}.${'x'.repeat(1000)}`,
      ]
      await crowd(size(40, 4), 8, i => {
        const audiences = i % 4 === 3 ? { audiences: numbered(5000, 'https://audience-') } : {}
        return alice.send({ path, body: { spec: { token: tokens[i % tokens.length]!, ...audiences } } })
      })
    },
    hears: [422],
    keepsMb: 20,
  }),
  attack('signing-requests', {
    does: 'signing requests of 64 KiB that are none, and of 30 KiB',
    run: async ({ alice, space, size }) => {
      const path = `${space.prefix}/apis/certificates.k8s.io/v1/certificatesigningrequests`
      await crowd(size(400, 4), 64, i => {
        const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${'MIIB'.repeat(i % 2 === 0 ? 5500 : 12_000)}\n-----END CERTIFICATE REQUEST-----\n`
        const spec = {
          request: Buffer.from(pem).toString('base64'),
          signerName: 'kubernetes.io/kube-apiserver-client',
          usages: ['client auth'],
        }
        const metadata = { generateName: 'c-' }
        const kind = 'CertificateSigningRequest'
        return alice.send({ path, body: { apiVersion: 'certificates.k8s.io/v1', kind, metadata, spec } })
      })
    },
    hears: [422],
    keepsMb: 20,
  }),
  attack('access-reviews', {
    does: 'access reviews for ten thousand groups, extra values and selectors, and for more',
    run: async ({ alice, space, size }) => {
      const path = `${space.prefix}/apis/authorization.k8s.io/v1/subjectaccessreviews`
      const most = size(10_000, 1000)
      const specs = [
        { groups: numbered(most, 'g') },
        { user: 'u', extra: { k: numbered(most - 1, 'v') } },
        { groups: numbered(40_000, 'g') },
        { user: 'u', extra: Object.fromEntries(numbered(20_000, 'k').map(key => [key, ['v']])) },
      ]
      await crowd(size(200, 4), 16, i => {
        const spec = { resourceAttributes: { verb: 'get', resource: 'pods' }, ...specs[i % specs.length] }
        return alice.send({ path, body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec } })
      })
    },
    hears: [422],
    keepsMb: 20,
  }),
]
