/** Effects of a namespace's labels on pods, on workloads, and on the namespace's own updates. */
import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { startTestServer } from '../../../support/server.ts'

const { api, faults } = await startTestServer(t)
const NAMESPACES = '/api/v1/namespaces'
const P = 'pod-security.kubernetes.io/'
const ALL_MISSING =
  'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ' +
  'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), ' +
  'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), ' +
  'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'
const HARDENED = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    { name: 'c', image: 'i', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } },
  ],
}
const PLAIN = { containers: [{ name: 'c', image: 'i' }] }

const namespace = async (name: string, labels: Record<string, string>): Promise<string> => {
  await api.ok(
    api.post(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: labelled(labels) } }),
  )
  return `${NAMESPACES}/${name}`
}
const labelled = (labels: Record<string, string>) =>
  Object.fromEntries(Object.entries(labels).map(([key, value]) => [P + key, value]))
const pod = (name: string, spec: object = PLAIN, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec,
})
const deployment = (spec: object = PLAIN): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec },
  },
})
const warningsOf = (answer: { headers: Record<string, unknown> }): string =>
  String(answer.headers.warning ?? '').replaceAll('\\"', '"')

t.test('enforce refuses pods that do less than the level asks for', async t => {
  const home = await namespace('strict', { enforce: 'restricted' })
  const answer = await api.post(`${home}/pods`, pod('p'))
  t.equal(answer.code, 403)
  t.match(answer.body, {
    reason: 'Forbidden',
    message: `pods "p" is forbidden: violates PodSecurity "restricted:latest": ${ALL_MISSING}`,
    details: { name: 'p', kind: 'pods' },
  })
  await api.ok(api.post(`${home}/pods`, pod('p', HARDENED)))
  const workload = await api.post(`/apis/apps/v1/namespaces/strict/deployments`, deployment())
  t.equal(workload.code, 201, 'a workload is not enforced on')
  t.equal(warningsOf(workload), '')
})

t.test('warn tells of pods and of what workloads would make', async t => {
  const home = await namespace('warned', { warn: 'baseline', 'warn-version': 'v1.30' })
  const spec = { ...PLAIN, hostNetwork: true, hostPID: true, volumes: [{ name: 'v', hostPath: { path: '/' } }] }
  const text =
    '299 - "would violate PodSecurity "baseline:v1.30": ' +
    'host namespaces (hostNetwork=true, hostPID=true), hostPath volumes (volume "v")"'
  const made = await api.post(`${home}/pods`, pod('p', spec))
  t.equal(made.code, 201)
  t.equal(warningsOf(made), text)
  const path = '/apis/apps/v1/namespaces/warned/deployments'
  t.equal(warningsOf(await api.post(path, deployment(spec))), text)
  const touched = await api.patch(`${path}/d`, 'merge', { metadata: { annotations: { x: 'y' } } })
  t.equal(warningsOf(touched), text, 'an update is warned of again')
  const job = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'j' },
    spec: {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: { spec: { ...PLAIN, hostIPC: true, restartPolicy: 'Never' } } } },
    },
  }
  t.match(
    warningsOf(await api.post('/apis/batch/v1/namespaces/warned/cronjobs', job)),
    /host namespaces \(hostIPC=true\)/,
  )
})

t.test('updates that change nothing that is checked pass, others are judged', async t => {
  const home = await namespace('later', {})
  await api.ok(api.post(`${home}/pods`, pod('old')))
  await api.ok(api.patch(home, 'merge', { metadata: { labels: labelled({ enforce: 'restricted' }) } }))
  await api.ok(api.patch(`${home}/pods/old`, 'merge', { metadata: { labels: { x: 'y' } } }))
  await api.ok(api.patch(`${home}/pods/old/status`, 'merge', { status: { phase: 'Running' } }))
  const image = await api.patch(`${home}/pods/old`, 'merge', { spec: { containers: [{ name: 'c', image: 'j' }] } })
  t.equal(image.code, 403)
  const debug = { spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } }
  const added = await api.patch(`${home}/pods/old/ephemeralcontainers`, 'merge', debug)
  t.match(added.body.message, /violates PodSecurity "restricted:latest": .*containers "c", "e" must set/)
})

t.test('a namespace whose level is tightened tells of the pods that are there', async t => {
  const home = await namespace('full', { enforce: 'privileged' })
  for (const name of ['b', 'a', 'c']) await api.ok(api.post(`${home}/pods`, pod(name)))
  await api.ok(api.post(`${home}/pods`, pod('host', { ...PLAIN, hostNetwork: true })))
  await api.ok(api.post(`${home}/pods`, pod('good', HARDENED)))
  const label = (labels: object) => api.patch(home, 'merge', { metadata: { labels } })
  const reasons = 'allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile'
  t.equal(
    warningsOf(await label(labelled({ enforce: 'restricted' }))),
    [
      'existing pods in namespace "full" violate the new PodSecurity enforce level "restricted:latest"',
      `a (and 2 other pods): ${reasons}`,
      `host: host namespaces, ${reasons}`,
    ]
      .map(text => `299 - "${text}"`)
      .join(', '),
  )
  t.equal(warningsOf(await label(labelled({ enforce: 'baseline' }))), '', 'a milder level says nothing')
  t.equal(warningsOf(await label({ other: 'label' })), '', 'nor does another label')
})

t.test('labels must be such that can be understood', async t => {
  const labels = { enforce: 'strict', 'warn-version': '1.2', audit: 'privileged', 'audit-version': 'v1.03' }
  const path = (label: string) => `metadata.labels[${P}${label}]`
  const answer = await api.post(NAMESPACES, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'odd', labels: labelled(labels) },
  })
  t.equal(answer.code, 422)
  t.equal(
    answer.body.message,
    `Namespace "odd" is invalid: [${path('enforce')}: Invalid value: "strict": must be one of privileged, baseline, restricted, ` +
      `${path('audit-version')}: Invalid value: "v1.03": must be "latest" or "v1.x", ` +
      `${path('warn-version')}: Invalid value: "1.2": must be "latest" or "v1.x"]`,
  )
  const home = await namespace('fine', {})
  const patched = await api.patch(home, 'merge', { metadata: { labels: labelled({ enforce: 'x' }) } })
  t.match(patched.body.message, /enforce\]: Invalid value: "x": must be one of privileged, baseline, restricted$/)
})

t.test('taking the label away ends it, at once', async t => {
  const home = await namespace('free', { enforce: 'baseline' })
  const bad = pod('p', { ...PLAIN, hostIPC: true })
  t.equal((await api.post(`${home}/pods`, bad)).code, 403)
  await api.ok(api.patch(home, 'merge', { metadata: { labels: { [`${P}enforce`]: null } } }))
  const made: KubeObject = await api.ok(api.post(`${home}/pods`, bad))
  t.equal(made.metadata.name, 'p')
})

t.test('labels that were there before the server started count', async t => {
  const first = await startTestServer(t)
  const labels = labelled({ enforce: 'baseline' })
  await first.api.ok(
    first.api.post(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kept', labels } }),
  )
  const second = await first.restart()
  const answer = await second.api.post(`${NAMESPACES}/kept/pods`, pod('p', { ...PLAIN, hostIPC: true }))
  t.equal(answer.code, 403)
})

t.test('the server made no mistake of its own', async t => {
  t.same(faults, [])
})
