/**
 * The charts: linted, and rendered with each file of values under `ci/`. Orrery and a real kube-apiserver accept them without a complaint
 * about a field. Their refusals, too.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { yaml } from '../../src/apimachinery/yaml.ts'
import { programVersion } from '../../src/program/programVersion.ts'
import { noPeer, startPeer } from '../differential/peer.ts'
import type { Api } from '../support/api.ts'
import { startTestServer } from '../support/server.ts'
import {
  CHARTS,
  type ChartName,
  type Container,
  containerOf,
  helm,
  noHelm,
  ofKind,
  render,
  renderAs,
} from './support/helm.ts'

const NAMES: readonly ChartName[] = ['orrery', 'orrery-syncer']
const valuesOf = (chart: ChartName): string[] =>
  readdirSync(join(CHARTS, chart, 'ci')).map(file => join(CHARTS, chart, 'ci', file))
const RENDERED = noHelm
  ? []
  : NAMES.flatMap(chart => valuesOf(chart).map(file => ({ chart, file, objects: render(chart, '-f', file) })))
/** Kinds that only some clusters serve. */
const FOREIGN = ['Route', 'TLSRoute', 'Certificate', 'ServiceMonitor', 'PodMonitor']
const PLURALS: Readonly<Record<string, string>> = { NetworkPolicy: 'networkpolicies', Ingress: 'ingresses' }

/** Creates without creating. */
async function tryOut(api: Api, object: KubeObject): Promise<{ code: number; text: string }> {
  const { apiVersion = '', kind = '', metadata } = object
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const plural = PLURALS[kind] ?? `${kind.toLowerCase()}s`
  const where = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`
  return await api.post(`${root}${where}/${plural}?dryRun=All&fieldValidation=Strict`, object)
}

t.test('lint has nothing against them', { skip: noHelm }, async t => {
  for (const chart of NAMES) {
    const { code, out } = helm('lint', '--strict', join(CHARTS, chart))
    t.equal(code, 0, `${chart}: ${out}`)
    t.notMatch(out, /\[(WARNING|ERROR)\]/)
    const about = yaml().parse(readFileSync(join(CHARTS, chart, 'Chart.yaml'), 'utf8')) as Record<string, string>
    t.equal(about.appVersion, programVersion().version)
  }
})

t.test('every object is as Kubernetes has it', { skip: noHelm }, async t => {
  const { api } = await startTestServer(t, { spaces: false })
  await api.ok(api.post('/api/v1/namespaces', { metadata: { name: 'ns' } }))
  for (const { file, objects } of RENDERED)
    for (const object of objects.filter(({ kind = '' }) => !FOREIGN.includes(kind))) {
      const { code, text } = await tryOut(api, object)
      t.equal(code === 201 ? '' : text, '', `${basename(file)} ${object.kind}`)
    }
})

t.test('a real kube-apiserver takes them, too', { skip: noHelm || noPeer }, async t => {
  const api = await startPeer(t)
  await api.ok(api.post('/api/v1/namespaces', { metadata: { name: 'ns' } }))
  // of its time: kinds that are of one version later
  const former = (object: KubeObject): KubeObject =>
    object.apiVersion === 'policy/v1' ? { ...object, apiVersion: 'policy/v1beta1' } : object
  for (const { file, objects } of RENDERED)
    for (const object of objects.filter(({ kind = '' }) => !FOREIGN.includes(kind))) {
      const { code, text } = await tryOut(api, former(object))
      t.equal(code === 201 ? '' : text, '', `${basename(file)} ${object.kind}`)
    }
})

t.test('the server is one Pod of no rights but to its own Secret', { skip: noHelm }, async t => {
  const objects = render('orrery')
  const { spec } = ofKind(objects, 'StatefulSet') as unknown as {
    spec: { replicas: number; template: { spec: object } }
  }
  t.equal(spec.replicas, 1)
  t.match(spec.template.spec, {
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [{ securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } } }],
  })
  t.same((ofKind(objects, 'Role') as unknown as { rules: unknown }).rules, [
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['rel-orrery'], verbs: ['get', 'patch'] },
  ])
  t.match(containerOf(objects), { image: `orrery:${programVersion().version}`, command: ['/usr/local/bin/orrery'] })
  const { image } = containerOf(render('orrery', '--set', `image.digest=sha256:${'a'.repeat(64)}`))
  t.equal(image, `orrery@sha256:${'a'.repeat(64)}`)
  t.notOk(objects.some(({ kind }) => kind === 'ClusterRole' || kind === 'ClusterRoleBinding'))
})

t.test('a syncer that joins keeps what it gets in the one Secret that it may change', { skip: noHelm }, async t => {
  const objects = render('orrery-syncer', '-f', join(CHARTS, 'orrery-syncer/ci/bootstrap-values.yaml'))
  const name = 'rel-orrery-syncer-credential'
  t.ok(containerOf(objects).args.includes(`--credential-secret=ns/${name}`))
  const secrets = objects.filter(({ kind }) => kind === 'Secret')
  t.match(secrets, [{ metadata: { name } }])
  t.notOk('data' in secrets[0]!, 'an upgrade leaves what the syncer wrote')
  const verbs = ['get', 'list', 'watch', 'patch']
  t.match(ofKind(objects, 'Role'), { rules: [{ resources: ['secrets'], resourceNames: [name], verbs }] })
  t.match(ofKind(objects, 'RoleBinding'), { roleRef: { name }, subjects: [{ name: 'rel-orrery-syncer' }] })
  const plain = render('orrery-syncer', '--set', 'mailbox.existingSecret=m')
  t.notOk(plain.some(({ kind }) => kind === 'Secret' || kind === 'Role'))
})

t.test('behind its cluster, the server has a second port, for the front proxy', { skip: noHelm }, async t => {
  const objects = render('orrery', '-f', join(CHARTS, 'orrery/ci/aggregation-values.yaml'))
  const { args, ports } = containerOf(objects) as unknown as { args: string[]; ports: object[] }
  const flags = ['--aggregated', '--aggregated-service=ns/rel-orrery', '--aggregated-space=root:wmw1']
  t.same(
    flags.filter(flag => !args.includes(flag)),
    [],
  )
  t.match(ports.at(-1), { name: 'aggregated', containerPort: 7443 })
  t.match(ofKind(objects, 'Service'), { spec: { publishNotReadyAddresses: true } })
  t.match(ofKind(objects, 'Service'), { spec: { ports: [{ name: 'https' }, { name: 'aggregated', port: 7443 }] } })
  t.match(ofKind(objects, 'NetworkPolicy'), { spec: { ingress: [{}, { ports: [{ port: 'aggregated' }] }] } })
  t.notMatch(JSON.stringify(render('orrery')), /aggregated/)
})

t.test('archives are taken by Pods that the Service does not lead to', { skip: noHelm }, async t => {
  const objects = render('orrery', '-f', join(CHARTS, 'orrery/ci/backup-values.yaml'))
  const { spec } = ofKind(objects, 'CronJob') as unknown as {
    spec: { schedule: string; concurrencyPolicy: string; jobTemplate: { spec: { template: KubeObject } } }
  }
  const { metadata, spec: pod } = spec.jobTemplate.spec.template as KubeObject & { spec: { containers: Container[] } }
  t.match(spec, { schedule: '15 */6 * * *', concurrencyPolicy: 'Forbid' })
  t.same(pod.containers[0]!.args, [
    'backup',
    '/backup',
    '--kubeconfig=/etc/orrery/kubeconfig/cluster.kubeconfig',
    '--keep=28',
    '--key-file=/etc/orrery/key/backup.key',
  ])
  t.match(pod, {
    automountServiceAccountToken: false,
    volumes: [
      { persistentVolumeClaim: { claimName: 'rel-orrery-backup' } },
      { secret: { secretName: 'rel-orrery' } },
      { secret: { secretName: 'orrery-backup-key' } },
    ],
  })
  t.match(ofKind(objects, 'PersistentVolumeClaim'), {
    metadata: { name: 'rel-orrery-backup', annotations: { 'helm.sh/resource-policy': 'keep' } },
  })
  const service = (ofKind(objects, 'Service') as unknown as { spec: { selector: Record<string, string> } }).spec
  t.ok(Object.entries(service.selector).some(([label, value]) => metadata.labels?.[label] !== value))
  t.match(ofKind(objects, 'NetworkPolicy'), {
    spec: { ingress: [{ from: [{}, { podSelector: { matchLabels: metadata.labels } }] }] },
  })
  const others = render('orrery', '--set', 'backup.enabled=true,backup.existingClaim=c')
  t.notOk(others.some(({ kind }) => kind === 'PersistentVolumeClaim'))
  t.notOk(render('orrery').some(({ kind }) => kind === 'CronJob'))
})

t.test("KubeStellar's values mean what they meant", { skip: noHelm }, async t => {
  const objects = render('orrery', '-f', join(CHARTS, 'orrery/ci/kubestellar-values.yaml'))
  const { args } = containerOf(objects)
  for (const arg of [
    '--external-port=1119',
    '--ensure-imw=root:imw1,root:imw2',
    '--ensure-wmw=root:wmw1',
    '--log-level=debug',
  ])
    t.ok(args.includes(arg), arg)
  t.ok(args.some(arg => arg.startsWith('--external-hostname=kubestellar.core,rel-orrery.ns.svc,')))
  t.match(ofKind(objects, 'Route').spec, { host: 'kubestellar.core', tls: { termination: 'passthrough' } })
  t.match(ofKind(objects, 'StatefulSet').spec, {
    volumeClaimTemplates: [{ spec: { resources: { requests: { storage: '8Gi' } } } }],
  })
})

t.test('two releases in one namespace, and one name in two, do not meet', { skip: noHelm }, async t => {
  const mailbox = ['--set', 'mailbox.existingSecret=m', '--set', 'impersonate=true']
  const names = (release: string, ...args: string[]): string[] =>
    [...renderAs(release, 'orrery', ...args), ...renderAs(release, 'orrery-syncer', ...mailbox, ...args)].map(
      ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`,
    )
  const one = names('one')
  t.equal(new Set(one).size, one.length)
  for (const others of [names('two'), names('one', '--namespace', 'other')])
    t.same(
      one.filter(name => others.includes(name)),
      [],
    )
  const long = names('a-release-with-a-name-that-is-as-long-as-helm-allows')
  for (const name of long) t.ok(name.split('/')[1]!.length <= 63, name)
})

const REFUSED: readonly (readonly [ChartName, string[], RegExp])[] = [
  ['orrery', ['externalHostnme=a'], /Additional property externalHostnme is not allowed/],
  ['orrery', ['replicaCount=3'], /replicaCount does not match: 1/],
  ['orrery', ['externalPort=99999'], /externalPort: Must be less than or equal to 65535/],
  ['orrery', ['image.digest=latest'], /image\.digest: Does not match pattern/],
  ['orrery', ['persistence.accessModes={ReadWriteMany}'], /persistence\.accessModes\.0: .*must be one of/],
  ['orrery', ['ESPW_NAME=core'], /ESPW_NAME does not match: "espw"/],
  ['orrery', ['ingress.enabled=true'], /ingress\.enabled needs externalHostname: the name by which clients come in/],
  ['orrery', ['clusterType=OpenShift'], /route\.enabled needs externalHostname/],
  ['orrery', ['gateway.enabled=true', 'externalHostname=a'], /gateway\.enabled needs gateway\.parentRefs/],
  [
    'orrery',
    ['externalHostname=a', 'EXTERNAL_HOSTNAME=b'],
    /externalHostname is "a" and EXTERNAL_HOSTNAME is "b": give one/,
  ],
  ['orrery', ['tls.existingSecret=s'], /a certificate in tls is for externalHostname: give that, too/],
  ['orrery', ['tls.certManager.enabled=true', 'externalHostname=a'], /needs tls\.certManager\.issuerRef\.name/],
  ['orrery', ['metrics.serviceMonitor.enabled=true'], /needs tokenAuth\.existingSecret: a Secret whose tokens\.csv/],
  ['orrery', ['persistence.enabled=false', 'persistence.existingClaim=c'], /shall the server keep its data, or not\?/],
  [
    'orrery',
    ['backup.enabled=true', 'kubeconfigSecret.enabled=false'],
    /backup\.enabled needs kubeconfigSecret\.enabled/,
  ],
  ['orrery', ['backup.schedule=daily'], /backup\.schedule: Does not match pattern/],
  ['orrery', ['backup.keep=0'], /backup\.keep: Must be greater than or equal to 1/],
  ['orrery-syncer', [], /the syncer needs the kubeconfig of its mailbox: make it in the center with/],
  [
    'orrery-syncer',
    ['mailbox.kubeconfig=florin.kubeconfig'],
    /is the text of a kubeconfig, not its path: .*--set-file/,
  ],
  ['orrery-syncer', ['mailbox.existingSecret=s', 'mailbox.kubeconfig=current-context'], /exclude each other/],
  [
    'orrery-syncer',
    ['mailbox.existingSecret=s', 'replicaCount=2', 'persistence.enabled=true'],
    /one claim for one Pod/,
  ],
  ['orrery', ['extraArgs={--secure-port=1}'], /extraArgs has --secure-port, .* by the value securePort/],
  ['orrery', ['extraArgs={--log-format,text}'], /extraArgs has --log-format, which the chart gives itself/],
  ['orrery', ['extraArgs[0]='], /extraArgs\.0: String length must be greater/],
  ['orrery-syncer', ['mailbox.existingSecret=s', 'extraArgs={--impersonate}'], /by the value impersonate/],
  ['orrery-syncer', ['mailbox.existingSecret=s', 'extraArgs={--health-address=:1}'], /extraArgs has --health-address/],
  ['orrery-syncer', ['mailbox.existingSecret=s', 'mailbox.bootstrap=true'], /say which by syncTarget\.name/],
  ['orrery-syncer', ['mailbox.existingSecret=s', 'allow.kinds=pods'], /allow\.kinds: Invalid type\. Expected: /],
]

t.test('what cannot be is refused, with what to do', { skip: noHelm }, async t => {
  for (const [chart, values, message] of REFUSED) {
    const { code, err } = helm('template', 'rel', join(CHARTS, chart), ...values.flatMap(value => ['--set', value]))
    t.not(code, 0, values.join(' '))
    t.match(err, message)
  }
})

t.test('every helm command of the page renders', { skip: noHelm }, async t => {
  const page = readFileSync(join(CHARTS, '../../docs/kubernetes.md'), 'utf8')
  const commands = [
    ...page.matchAll(/^helm (?:install|upgrade --install) (\S+) deploy\/chart\/(\S+) ((?:.*\\\n)*.*)$/gm),
  ]
  t.ok(commands.length >= 5, `${commands.length}`)
  const file = join(t.testdir({ kubeconfig: 'current-context: c' }), 'kubeconfig')
  /** Given values of each release so far. */
  const given = new Map<string, readonly string[]>()
  for (const [command, release, chart, rest] of commands) {
    const flags = rest!
      .replaceAll('\\\n', ' ')
      .replace('florin.kubeconfig', file)
      .replaceAll("'", '')
      .trim()
      .split(/\s+/)
    // what only an installation has
    const known = flags.filter(flag => flag !== '--create-namespace' && flag !== '--reuse-values')
    const before = flags.includes('--reuse-values') ? (given.get(release!) ?? []) : []
    given.set(release!, [...before, ...known])
    t.ok(renderAs(release!, chart as ChartName, ...before, ...known), command)
  }
})
