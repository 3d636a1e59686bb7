/**
 * The first week of a platform administrator and of two teams, as typed on a terminal. Server, clusters, syncers and kubectl are real.
 * Each step has the answer that a person relies on.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startHarness } from '../cli/support.ts'
import type { Ran } from '../support/orrery.ts'
import { FILE_LIMIT_MS, PATIENCE, PATIENCE_MS } from '../support/patience.ts'
import { Command } from '../syncer/support/processes.ts'
import { noKubectl } from './support/example1.ts'
import { Terminal } from './support/terminal.ts'

const EDGE = 'edge.kubestellar.io/v2alpha1'

const FLEET = `name,labels,label:region,annotation:registry
florin,env=prod,eu,registry.eu.example
guilder,env=prod,us,registry.us.example
thaler,env=test,eu,registry.eu.example
`
const APP = `apiVersion: v1
kind: Namespace
metadata: { name: shop, labels: { app: shop } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop, labels: { app: shop } }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: 'web:1' }] }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: page, namespace: shop, labels: { app: shop } }
data: { title: coffee }
`
const SCALER = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web, namespace: shop, labels: { app: shop } }
spec: { maxReplicas: 5, scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web } }
`
const placement = (name: string, env: string): string => `apiVersion: ${EDGE}
kind: EdgePlacement
metadata: { name: ${name} }
spec:
  locationSelectors: [{ matchLabels: { env: ${env} } }]
  downsync: [{ labelSelectors: [{ matchLabels: { app: shop } }] }]
`
/** A kind that the members of a team may not read. */
const ROLE = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: till, namespace: shop, labels: { app: shop } }
rules: [{ apiGroups: [""], resources: [configmaps], verbs: [get] }]
`

/** Its image from the registry of each region, and more replicas in one of them alone. */
const OWN = `${APP.replace('namespace: shop, labels', 'namespace: shop, annotations: { edge.kubestellar.io/customizer: own }, labels')}---
apiVersion: ${EDGE}
kind: Customizer
metadata: { name: own, namespace: shop, annotations: { edge.kubestellar.io/expand-parameters: 'true' } }
replacements:
- { path: '$.spec.template.spec.containers[0].image', value: '"%(registry)/web:2"' }
- { locationSelector: { matchLabels: { region: us } }, path: $.spec.replicas, value: '3' }
`
type Wanted = Partial<Record<keyof Ran, unknown>>

t.test('the first week', { skip: noKubectl(), timeout: FILE_LIMIT_MS }, async t => {
  const { dir, kubeconfig } = await startHarness(t)
  const admin = kubeconfig('admin')
  const [mia, ben] = [join(dir, 'mia.kubeconfig'), join(dir, 'ben.kubeconfig')]
  let typed = 0
  const file = (name: string, text: string): void => writeFileSync(join(dir, name), text)
  const terminal = new Terminal(t, { dir })
  const run = (who: string, command: string): Promise<Ran> => {
    terminal.env.KUBECONFIG = who
    return terminal.run(command)
  }
  const type = async (who: string, command: string, wanted: Wanted = {}): Promise<void> => {
    typed += 1
    const ran = await run(who, command)
    t.match(ran, { code: 0, ...wanted }, `${command}\n${ran.out}\n${ran.err}`)
  }
  /** Types it again until it succeeds and has the answer. */
  const see = async (who: string, command: string, out: RegExp): Promise<void> => {
    typed += 1
    const signal = AbortSignal.timeout(PATIENCE_MS)
    let answer = await run(who, command)
    while ((answer.code !== 0 || !out.test(answer.out)) && !signal.aborted) answer = await run(who, command)
    t.match(answer, { code: 0, out }, command)
  }
  const day = (title: string): void => {
    t.comment(title)
  }

  day('Monday: the platform lists its clusters, and two of them join')
  file('fleet.csv', FLEET)
  await type(admin, 'kubectl kubestellar ensure location -f fleet.csv --imw root:imw1', {
    out: /\n3 locations: 3 created, 0 changed, 0 unchanged\n$/,
    err: '',
  })
  file('typo.csv', FLEET.replace('labels', 'lables'))
  await type(admin, 'kubectl kubestellar ensure location -f typo.csv --imw root:imw1', {
    code: 1,
    err: /row 1: there is no column "lables".*did you mean "labels"/,
  })
  for (const name of ['florin', 'guilder']) {
    const cluster = new Command(t, [
      'simulate-wec',
      '--name',
      name,
      '--data-dir',
      join(dir, name),
      '--secure-port',
      '0',
    ])
    await cluster.said('ready')
    const from = `${name}-syncer.kubeconfig`
    await type(admin, `kubectl kubestellar prep-for-syncer ${name} --imw root:imw1 --kubeconfig-output ${from}`)
    const to = join(dir, name, 'admin.kubeconfig')
    new Command(t, ['syncer', '--from-kubeconfig', join(dir, from), '--to-kubeconfig', to, '--qps', '0'])
  }
  await type(admin, 'kubectl kubestellar bootstrap create --imw root:imw1 -o bootstrap.kubeconfig', { err: '' })
  await type(
    admin,
    'kubectl kubestellar prep-for-syncer thaler --imw root:imw1 --bootstrap-kubeconfig bootstrap.kubeconfig -o thaler.yaml',
    { out: /kubectl kubestellar approve thaler --imw root:imw1/ },
  )
  await type(admin, 'grep -c -- --credential-secret= thaler.yaml', { out: '1\n' })
  await type(
    admin,
    `kubectl ws root:imw1\nkubectl wait synctarget florin guilder --for condition=Ready --timeout=${PATIENCE}`,
  )

  day('Tuesday: two teams')
  for (const [team, user, namespaces] of [
    ['shops', 'mia', 'shop,shop-*'],
    ['bakery', 'ben', 'shop'],
  ]) {
    await type(
      admin,
      `kubectl kubestellar ensure team ${team} --imw root:imw1 --locations env=prod --namespaces '${namespaces}' --members ${team}`,
    )
    await type(admin, `kubectl kubestellar kubeconfig --for ${user} --space root:${team}`, { err: '' })
  }
  const oidc = '--oidc-issuer-url https://id.example.org --oidc-client-id orrery'
  await type(admin, `kubectl kubestellar kubeconfig --for shops --space root:shops ${oidc}`, {
    out: /Wrote the kubeconfig of shops to shops\.kubeconfig: its user signs in at https:\/\/id\.example\.org/,
  })
  await type(mia, 'kubectl kubestellar status', { out: /0 placements/ })
  const slip = OWN.slice(OWN.indexOf('apiVersion: edge')).replace('region: us', 'region: uss')
  file('slip.yaml', slip.replace('namespace: shop', 'namespace: default'))
  await type(mia, 'kubectl apply --dry-run=server -f slip.yaml', {
    err: /locationSelector matches no Location that this space may place on: none has region=uss/,
  })

  day('Wednesday: the first deployment')
  file('app.yaml', APP)
  file('placement.yaml', placement('web', 'prod'))
  await type(mia, 'kubectl apply -f placement.yaml', {
    err: /Warning: .* selects only kinds that its author may get and list; it skips .*roles\.rbac/,
  })
  await type(mia, 'kubectl kubestellar preview -f app.yaml', { code: 1, out: /web/, err: '' })
  await type(mia, 'kubectl apply -f app.yaml', { out: /deployment\.apps\/web created/, err: '' })
  await type(mia, `kubectl kubestellar wait -f app.yaml --for healthy --timeout ${PATIENCE}`)
  await type(mia, 'kubectl kubestellar why deploy/web -n shop', {
    out: /imw1\.florin +Applied.*imw1\.guilder +Applied/s,
  })
  // a status of a placement is written once a second
  await see(mia, 'kubectl kubestellar status --exit-code', /web/)
  file('role.yaml', ROLE)
  await type(admin, 'kubectl ws root:shops\nkubectl apply -f role.yaml')
  await type(admin, 'kubectl kubestellar why role/till -n shop --space root:shops', {
    out: /without roles\.rbac\.authorization\.k8s\.io.*kubectl annotate edgeplacement web edge\.kubestellar\.io/s,
  })
  await type(mia, 'kubectl kubestellar why deploy/wbe -n shop', { code: 1, err: /did you mean "web"/ })
  await type(mia, 'kubectl kubestellar status --space root:shosp', { code: 1, err: /root:shosp/ })

  day('Thursday: a value of each region, and what is easily got wrong')
  file('own.yaml', OWN)
  await type(mia, 'kubectl apply -f own.yaml', { err: '' })
  await type(mia, `kubectl kubestellar wait -f own.yaml --for healthy --timeout ${PATIENCE}`)
  for (const [name, out] of [
    ['florin', /^2 registry\.eu\.example\/web:2$/],
    ['guilder', /^3 registry\.us\.example\/web:2$/],
  ] as const) {
    const template = '{.spec.replicas} {.spec.template.spec.containers[0].image}'
    await see(join(dir, name, 'admin.kubeconfig'), `kubectl get deploy/web -n shop -o 'jsonpath=${template}'`, out)
  }
  file('typo.yaml', OWN.replace('%(registry)', '%(regsitry)'))
  await type(mia, 'kubectl apply -f typo.yaml', { err: /regsitry/ })
  await type(mia, 'kubectl apply -f own.yaml')
  file('scaler.yaml', SCALER)
  await type(mia, 'kubectl apply -f scaler.yaml', { err: /replicas/ })
  await type(mia, 'kubectl delete -f scaler.yaml')
  await type(mia, 'kubectl kubestellar why deploy/web -n shop --space root:bakery', { code: 1, err: /root:bakery/ })
  file('selector.yaml', placement('web', 'prd'))
  await type(mia, 'kubectl kubestellar preview -f selector.yaml', { code: 1, out: /deleted/ })
  await type(mia, 'kubectl apply -f selector.yaml', {
    err: /Warning: .* leads nowhere.*\n.*the brake holds them/,
  })
  await see(mia, 'kubectl kubestellar status', /DeletionHeld/)
  await type(mia, 'kubectl kubestellar status --exit-code', { code: 1 })
  await type(mia, 'kubectl apply -f placement.yaml', { err: '' })

  day('Friday: two teams want one object')
  file('theirs.yaml', APP.replace('web:1', 'bakery:1'))
  await type(ben, 'kubectl apply -f placement.yaml -f theirs.yaml')
  await see(ben, 'kubectl kubestellar why deploy/web -n shop', /Conflict/)
  await type(ben, `kubectl kubestellar wait -f theirs.yaml --for applied --timeout 0`, { code: 1 })
  await type(admin, 'kubectl kubestellar why deploy/web -n shop --space root:bakery', { out: /root:shops/ })
  await type(ben, 'kubectl delete --ignore-not-found -f placement.yaml -f theirs.yaml')
  await type(mia, `kubectl kubestellar wait -f app.yaml --for healthy --timeout ${PATIENCE}`)
  await type(admin, 'kubectl kubestellar remove team bakery --yes', {
    out: /workspace\.tenancy\.kcp\.io "bakery" deleted/,
  })

  day('Saturday: a cluster is repaired')
  const at = 'florin --imw root:imw1'
  await type(admin, `kubectl kubestellar users ${at}`, { out: /root:shops/ })
  await type(admin, `kubectl kubestellar drain ${at} --yes --timeout ${PATIENCE}`, { out: /florin/ })
  await type(mia, 'kubectl kubestellar why deploy/web -n shop', { out: /imw1\.guilder +Applied/ })
  await type(admin, `kubectl kubestellar uncordon ${at}`)
  await type(mia, `kubectl kubestellar wait -f own.yaml --for healthy --timeout ${PATIENCE}`)
  await type(admin, 'kubectl kubestellar status -A', { out: /root:shops/ })
  t.comment(`${typed} commands`)
})
