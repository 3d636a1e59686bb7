import t from 'tap'
import { parse } from 'yaml'
import { at, objects, strings } from '../../../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { checkObjectName, lifetime, parseLabels, timeoutSeconds } from '../../../../src/cli/kubestellar/arguments.ts'
import {
  credentialSecret,
  syncerId,
  syncerKubeconfig,
  syncerManifest,
} from '../../../../src/cli/kubestellar/syncers/syncerManifest.ts'
import type { SyncerLimits } from '../../../../src/cli/kubestellar/syncers/syncerRights.ts'

const syncTarget = { name: 'florin', uid: '98df7462-f835-499a-a37d-6d416031763c' }
const manifest = (token: string, server = 'https://h/clusters/abc') =>
  syncerManifest({ syncTarget, access: { server, caPem: 'PEM', token }, image: 'i:1', replicas: 1, qps: 20, burst: 30 })

t.test('one SyncTarget has one syncer, whatever is long or dotted in its name', async t => {
  t.equal(syncerId(syncTarget), syncerId({ ...syncTarget }))
  t.not(syncerId(syncTarget), syncerId({ ...syncTarget, uid: '18df7462-f835-499a-a37d-6d416031763c' }))
  for (const name of ['florin', 'a.b.example.com', `${'x'.repeat(34)}.${'y'.repeat(100)}`]) {
    t.match(
      syncerId({ ...syncTarget, name }),
      /^kubestellar-syncer-[a-z0-9-]{1,35}[a-z0-9]-[a-z0-9]{8}$|^kubestellar-syncer-/,
    )
    t.match(syncerId({ ...syncTarget, name }), /^(?=.{1,63}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)
  }
})

t.test('the manifest holds all that a syncer needs, under one name', async t => {
  const objects = manifest('tok')
  const id = syncerId(syncTarget)
  t.strictSame(
    objects.map(({ kind, metadata }) => [kind, metadata.namespace, metadata.name]),
    [
      ['Namespace', undefined, id],
      ['ServiceAccount', id, id],
      ['Secret', id, `${id}-token`],
      ['ClusterRole', undefined, id],
      ['ClusterRoleBinding', undefined, id],
      ['Secret', id, id],
      ['PodDisruptionBudget', id, id],
      ['Deployment', id, id],
    ],
  )
  const { kubeconfig } = objects[5]!.stringData as { kubeconfig: string }
  t.match(parse(kubeconfig), {
    clusters: [{ cluster: { server: 'https://h/clusters/abc', 'certificate-authority-data': 'UEVN' } }],
    users: [{ user: { tokenFile: '/kubestellar/credential' } }],
    'current-context': 'default-context',
  })
  t.notMatch(JSON.stringify(objects), /tok"/, 'the credential is a Secret of its own')
  t.match(credentialSecret(syncTarget, 'tok'), {
    metadata: { name: `${id}-credential`, namespace: id },
    stringData: { credential: 'tok' },
  })
  t.match(objects[7], {
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      template: {
        spec: {
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          volumes: [
            { projected: { sources: [{ secret: { name: id } }, { secret: { name: `${id}-credential` } }] } },
            { name: 'state', emptyDir: {} },
          ],
          containers: [
            {
              image: 'i:1',
              imagePullPolicy: 'IfNotPresent',
              command: ['orrery'],
              args: [
                'syncer',
                '--from-kubeconfig=/kubestellar/kubeconfig',
                '--sync-target-name=florin',
                `--sync-target-uid=${syncTarget.uid}`,
                '--qps=20',
                '--burst=30',
                '--state-dir=/state',
                '--health-address=:8399',
              ],
              livenessProbe: { httpGet: { path: '/healthz', port: 'health' } },
              readinessProbe: { httpGet: { path: '/readyz', port: 'health' } },
              resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '256Mi' } },
              securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
              volumeMounts: [{}, { name: 'state', mountPath: '/state' }],
            },
          ],
        },
      },
    },
  })
})

t.test('a proxy on the way to the center stands in the kubeconfig', async t => {
  const access = { server: 'https://h/clusters/abc', token: 'tok', proxyUrl: 'http://proxy:3128' }
  t.match(syncerKubeconfig(access), { clusters: [{ cluster: { 'proxy-url': 'http://proxy:3128' } }] })
})

t.test('the rights in the cluster are made from what its owner allows', async t => {
  const access = { server: 'https://h/clusters/abc', token: 'tok' }
  const made = (limits: SyncerLimits) =>
    syncerManifest({ syncTarget, access, image: 'i:1', replicas: 1, qps: 20, burst: 30, limits })
  const rules = (limits: SyncerLimits): unknown => made(limits).find(({ kind }) => kind === 'ClusterRole')?.rules
  const [read, write] = [
    ['get', 'list', 'watch'],
    ['create', 'patch', 'delete'],
  ]
  const definitions = { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: read }
  const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
  t.strictSame(rules({}), everything)
  t.strictSame(rules({ adoptExisting: true }), everything)
  t.equal(made({ adoptExisting: true }).length, 8)
  t.strictSame((rules({ kinds: ['deployments.apps'], associated: ['pods'] }) as unknown[]).slice(-4), [
    { apiGroups: [''], resources: ['pods'], verbs: read },
    { apiGroups: ['apps'], resources: ['deployments', 'replicasets', 'statefulsets', 'daemonsets'], verbs: read },
    { apiGroups: ['batch'], resources: ['jobs'], verbs: read },
    definitions,
  ])
  t.match((rules({ associated: ['*'] }) as unknown[]).length, 1, 'without other flags it may do all anyway')
  const refused = (associated: string[]) => () => rules({ kinds: ['deployments.apps'], associated })
  t.throws(refused(['pods', '*']), /reads all kinds reads Secrets; name them/)
  t.throws(refused(['secrets']), /--associated-kinds: secrets are never reported/)
  t.throws(refused(['*.rbac.authorization.k8s.io']), /never reported/)
  const limits = { namespaces: ['shop', 'b'], kinds: ['*.apps', 'secrets', 'configmaps'], clusterScoped: ['a.x.io'] }
  t.strictSame(rules(limits), [
    { apiGroups: ['apps'], resources: ['*'], verbs: [...read, ...write] },
    { apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: [...read, ...write] },
    { apiGroups: ['x.io'], resources: ['a'], verbs: [...read, ...write] },
    { apiGroups: [''], resources: ['namespaces'], verbs: [...read, 'create'] },
    { apiGroups: [''], resources: ['namespaces'], resourceNames: ['shop', 'b'], verbs: ['patch', 'delete'] },
    definitions,
  ])
  t.strictSame(rules({ kinds: ['configmaps'], impersonate: true }), [
    { apiGroups: [''], resources: ['configmaps'], verbs: read },
    { apiGroups: [''], resources: ['namespaces'], verbs: read },
    definitions,
    { apiGroups: [''], resources: ['users'], verbs: ['impersonate'] },
  ])
  const objects = made(limits)
  t.strictSame(
    objects.slice(5, 7).map(({ kind, metadata }) => [kind, metadata.namespace, metadata.name]),
    [
      ['Role', 'kube-system', syncerId(syncTarget)],
      ['RoleBinding', 'kube-system', syncerId(syncTarget)],
    ],
  )
  t.match(JSON.stringify(objects.at(-1)), '"--allow-kinds=*.apps,secrets,configmaps","--allow-cluster-scoped=a.x.io"')
  t.throws(() => rules({ kinds: ['deploy*.apps'] }), {
    message:
      '--allow-kinds: a ClusterRole cannot say "deploy*.apps"; name each kind, as resource.group, or all of a group, as *.group',
  })
})

t.test('a new token does not restart a running syncer; a new mailbox does', async t => {
  t.strictSame(manifest('one')[7], manifest('two')[7])
  t.not(JSON.stringify(manifest('one')[7]), JSON.stringify(manifest('one', 'https://h/clusters/new')[7]))
})

t.test('what the user types is checked before anything is sent', async t => {
  t.strictSame(parseLabels(['env=prod', 'example.com/zone=a.b', 'ring-']), {
    labels: { env: 'prod', 'example.com/zone': 'a.b' },
    removed: ['ring'],
  })
  for (const [args, message] of [
    [[], /at least one label/],
    [['x'], /^"x" is no label: write NAME=VALUE, or NAME- to take one away$/],
    [['a=b=c'], /^"a=b=c" is no label: write NAME=VALUE, or NAME- to take one away$/],
    [['-a=b'], /^syntax error in key of -a=b: /],
    [['a='], /^syntax error in value of a=: /],
    [['a=-b'], /^syntax error in value of a=-b: /],
    [['id=b'], /^'id' label may not be specified$/],
  ] as const) {
    t.throws(() => parseLabels(args), { message, exitCode: 1 }, args.join(' '))
  }
  t.throws(() => checkObjectName('Florin'), { message: /"Florin" is not a valid name: use lower-case letters, digits/ })
  const read = lifetime(90 * 24 * 3600, '; that is enough')
  t.equal(read('1h30m5s'), 5405)
  t.equal(read('2160h'), 90 * 24 * 3600)
  for (const text of ['87600h', '2160h1s', '5m', '10y'])
    t.throws(() => read(text), { message: 'It is no duration between 10m and 2160h; that is enough.' })
  t.strictSame(['0', '90', '1m30s', '24h'].map(timeoutSeconds), [0, 90, 90, 86_400])
  t.strictSame(['1.001s', '1ms'].map(timeoutSeconds), [2, 1], 'timers of Node take whole milliseconds')
  for (const text of ['soon', '25h'])
    t.throws(() => timeoutSeconds(text), { message: 'It is no duration such as 90s or 5m, of at most 24h.' })
})

t.test('a manifest with a bootstrap credential has an empty Secret for what the syncer gets', async t => {
  const access = { server: 'https://h/clusters/root:espw', caPem: 'PEM', token: 'boot' }
  const limits = { kinds: ['configmaps'] }
  const objects = syncerManifest({
    syncTarget,
    access,
    joins: true,
    image: 'i:1',
    replicas: 1,
    qps: 20,
    burst: 30,
    limits,
  })
  const id = syncerId(syncTarget)
  const secret = `${id}-credential`
  const named = (kind: string, name: string) =>
    objects.find(object => object.kind === kind && object.metadata.name === name && object.metadata.namespace === id)
  t.same(named('Secret', secret), { apiVersion: 'v1', kind: 'Secret', metadata: { name: secret, namespace: id } })
  t.match(named('Role', secret), {
    rules: [{ resources: ['secrets'], resourceNames: [secret], verbs: ['get', 'list', 'watch', 'patch'] }],
  })
  t.match(named('RoleBinding', secret), { roleRef: { kind: 'Role', name: secret }, subjects: [{ name: id }] })
  const { kubeconfig } = named('Secret', id)!.stringData as { kubeconfig: string }
  t.match(parse(kubeconfig), { users: [{ user: { token: 'boot' } }] })
  const { args, volumes } = podOf(named('Deployment', id)!)
  t.ok(args.includes(`--credential-secret=${id}/${secret}`))
  t.match(volumes, [{ projected: { sources: [{ secret: { name: id } }] } }, {}])
})

function podOf({ spec }: KubeObject): { args: string[]; volumes: object[] } {
  const pod = at(spec, 'template', 'spec')
  return { args: strings(pod, 'containers', 0, 'args'), volumes: objects(pod, 'volumes') }
}
