/** People's work with kubectl, old and new, runs in a space as in a cluster, and stays in that space. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Api } from '../support/api.ts'
import { findKubectls, type Kubectl, KubectlSession, minorOf, startOrreryHere } from '../support/orrery.ts'
import { FILE_LIMIT_MS, PATIENCE } from '../support/patience.ts'
import { accessOf, createSpace, temporaryDir } from '../support/server.ts'

// Each kubectl runs some sixty times.
t.setTimeout(FILE_LIMIT_MS)

/**
 * The oldest and one of the newest: what they send differs most. The oldest leaves out what they send alike. ORRERY_TEST_KUBECTLS=all
 * runs all of each.
 */
const all = await findKubectls()
const isAll = process.env.ORRERY_TEST_KUBECTLS === 'all'
const kubectls = isAll ? all : [...new Set([all[0], all.at(-1)])].filter(k => k !== undefined)

const DEPLOYMENT = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: 'nginx:1'}]
`
const CONFIG = (value: string): string => `
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {key: ${value}}
`
const CRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wi]}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            description: What is wanted of a widget.
            properties: {size: {type: integer, description: How large it shall be.}}
`
const WIDGET = `
apiVersion: shop.example.com/v1
kind: Widget
metadata: {name: w}
spec: {size: 3}
`
const PLACEMENT = `
apiVersion: edge.kubestellar.io/v2alpha1
kind: EdgePlacement
metadata: {name: shop}
spec: {locationSelectors: [{}], downsync: [{apiGroup: '', resources: [configmaps]}]}
`

if (kubectls.length === 0) {
  t.test('kubectl', { skip: 'no kubectl: not in KUBEBUILDER_ASSETS, the Google Cloud SDK or the PATH' }, async () => {})
} else {
  const orrery = await startOrreryHere(t)
  const api = new Api(accessOf(orrery.kubeconfig))
  t.teardown(() => api.close())
  const suffix = (kubectl: Kubectl): string => `k${minorOf(kubectl)}`
  for (const kubectl of kubectls)
    for (const name of ['one', 'two']) await createSpace(api, `${name}-${suffix(kubectl)}`)
  for (const kubectl of kubectls) {
    const home = temporaryDir(t)
    const at = (space: string): KubectlSession =>
      new KubectlSession(kubectl, home, ['--kubeconfig', orrery.kubeconfig, `--server=${orrery.url}/clusters/${space}`])
    const [one, two] = [at(`root:one-${suffix(kubectl)}`), at(`root:two-${suffix(kubectl)}`)]
    t.test(`kubectl ${kubectl.version}`, t => everyday(t, { kubectl, home, one, two, every: at('*') }))
  }
}

interface Scene {
  kubectl: Kubectl
  home: string
  one: KubectlSession
  two: KubectlSession
  every: KubectlSession
}

async function everyday(t: Test, { kubectl, home, one, two, every }: Scene): Promise<void> {
  const modern = minorOf(kubectl) >= 24
  const isWhole = isAll || kubectl === kubectls.at(-1)

  await t.test('create: what it sends is taken, what it prints is as ever', async t => {
    t.equal(await one.ok('create namespace team'), 'namespace/team created')
    t.equal(await one.ok('create configmap conf --from-literal=key=one'), 'configmap/conf created')
    t.equal(await one.ok('create secret generic pass --from-literal=word=s3cret'), 'secret/pass created')
    t.equal(await one.ok('create deployment made --image=nginx'), 'deployment.apps/made created')
    t.equal(await one.ok('create serviceaccount robot'), 'serviceaccount/robot created')
    t.equal(await one.ok("get secret pass -o jsonpath='{.data.word}'"), Buffer.from('s3cret').toString('base64'))
    t.match((await one.run('create configmap conf')).err, 'configmaps "conf" already exists')
  })

  if (isWhole)
    await t.test('two spaces do not meet', async t => {
      await two.ok('create configmap conf --from-literal=key=two')
      t.equal(await one.ok("get configmap conf -o jsonpath='{.data.key}'"), 'one')
      t.equal(await two.ok("get configmap conf -o jsonpath='{.data.key}'"), 'two')
      t.match((await two.run('get namespace team')).err, 'Error from server (NotFound): namespaces "team" not found')
      const list = await every.ok("get configmaps -A -o jsonpath='{range .items[*]}{.metadata.name}={.data.key} {end}'")
      t.match(list, /conf=one /)
      t.match(list, /conf=two /)
      const table = await every.ok('get configmaps -A')
      t.match(table, /^NAMESPACE +SPACE +NAME +DATA +AGE\n/)
      for (const name of ['one', 'two'])
        t.match(table, new RegExp(`^default +root:${name}-k${minorOf(kubectl)} +conf +1 +\\S+$`, 'm'))
    })

  if (isWhole)
    await t.test('the slice of a placement has its columns', async t => {
      await one.ok('create -f -', { input: PLACEMENT })
      await one.ok(`wait --for=condition=Resolved=false edgeplacement/shop --timeout=${PATIENCE}`)
      t.match(await one.ok('get singleplacementslices'), /^NAME +PLACEMENT +DESTINATIONS +AGE\nshop +shop +0 +\S+$/)
    })

  if (isWhole)
    await t.test('get in all its forms', async t => {
      t.match(await one.ok('get configmap conf'), /^NAME +DATA +AGE\nconf +1 +\d+s$/)
      t.match(
        await one.ok('get deployment made -o wide'),
        /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR\n/,
      )
      t.equal(await one.ok('get configmap conf -o name'), 'configmap/conf')
      t.match(JSON.parse(await one.ok('get configmap conf -o json')), { kind: 'ConfigMap', data: { key: 'one' } })
      t.match(await one.ok('get configmap conf -o yaml'), /^apiVersion: v1\ndata:\n {2}key: one\nkind: ConfigMap\n/)
      t.match(await one.ok('get cm,secret'), /configmap\/conf[\s\S]*secret\/pass/)
      t.match(await one.ok('get all'), 'deployment.apps/made')
      t.match(await one.ok('get ns --show-labels'), 'kubernetes.io/metadata.name=team')
      t.match((await one.run('get configmaps -n nowhere')).err, 'No resources found in nowhere namespace.')
      t.match((await one.run('get nonsense')).err, `the server doesn't have a resource type "nonsense"`)
      t.match(await one.ok('get cm --field-selector metadata.name=conf --sort-by=.metadata.name'), 'conf')
      t.match(await one.ok('get --raw /version'), '"gitVersion"')
    })

  if (isWhole)
    await t.test('get -w shows changes as they come', async t => {
      const watch = one.follow('get configmaps -l watched -w --output-watch-events --no-headers')
      await one.ok('create configmap seen')
      await one.ok('label configmap seen watched=yes')
      t.match((await watch.lines.next()).value, /ADDED +seen/)
      await one.ok('annotate configmap seen a=b')
      t.match((await watch.lines.next()).value, /MODIFIED +seen/)
      await one.ok('delete configmap seen')
      t.match((await watch.lines.next()).value, /DELETED +seen/)
      watch.stop()
    })

  await t.test('apply on the client side', async t => {
    t.equal(await two.ok('apply -f -', { input: DEPLOYMENT }), 'deployment.apps/web created')
    t.equal(await two.ok('apply -f -', { input: DEPLOYMENT }), 'deployment.apps/web unchanged')
    const changed = DEPLOYMENT.replace('replicas: 2', 'replicas: 3')
    const diff = await two.run('diff -f -', { input: changed })
    t.equal(diff.code, 1)
    t.match(diff.out, /- {2}replicas: 2\n\+ {2}replicas: 3/)
    t.equal(
      await two.ok('apply -f - --dry-run=server', { input: changed }),
      'deployment.apps/web configured (server dry run)',
    )
    t.equal(await two.ok('apply -f -', { input: changed }), 'deployment.apps/web configured')
    t.equal(await two.ok("get deploy web -o jsonpath='{.spec.replicas}'"), '3')
    const wrong = await two.run('apply -f -', { input: DEPLOYMENT.replace('replicas: 2', 'replicaz: 2') })
    t.not(wrong.code, 0)
    t.match(wrong.err, modern ? 'strict decoding error: unknown field "spec.replicaz"' : 'unknown field "replicaz"')
  })

  await t.test('apply on the server side', async t => {
    t.equal(
      await one.ok('apply --server-side -f -', { input: CONFIG('x').replace('conf', 'ssa') }),
      'configmap/ssa serverside-applied',
    )
    const other = await one.run('apply --server-side --field-manager=other -f -', {
      input: CONFIG('second').replace('conf', 'ssa'),
    })
    t.not(other.code, 0)
    t.match(other.err, 'Apply failed with 1 conflict: conflict with "kubectl"')
    t.match(other.err, '.data.key')
    await one.ok('apply --server-side --field-manager=other --force-conflicts -f -', {
      input: CONFIG('second').replace('conf', 'ssa'),
    })
    t.equal(await one.ok("get cm ssa -o jsonpath='{.data.key}'"), 'second')
  })

  await t.test('edit, patch, label, annotate, replace, scale', async t => {
    const editor = join(home, 'editor.sh')
    writeFileSync(editor, '#!/bin/sh\nsed -i "s/key: one/key: edited/" "$1"\n')
    chmodSync(editor, 0o755)
    t.match(await one.ok('edit configmap conf', { env: { KUBE_EDITOR: editor } }), 'configmap/conf edited')
    t.equal(await one.ok("get cm conf -o jsonpath='{.data.key}'"), 'edited')
    t.equal(await one.ok(`patch cm conf --type=merge -p '{"data":{"more":"1"}}'`), 'configmap/conf patched')
    t.equal(
      await one.ok(`patch cm conf --type=json -p '[{"op":"remove","path":"/data/more"}]'`),
      'configmap/conf patched',
    )
    t.equal(await one.ok(`patch cm conf -p '{"data":{"key":"one"}}'`), 'configmap/conf patched')
    t.equal(await one.ok('label cm conf tier=front'), 'configmap/conf labeled')
    t.match((await one.run('label cm conf tier=back')).err, /already has a value/)
    t.equal(await one.ok('label cm conf tier=back --overwrite'), 'configmap/conf labeled')
    // Some releases of kubectl say "annotate".
    t.match(await one.ok('annotate cm conf note=hello'), /^configmap\/conf annotated?$/)
    t.equal(await one.ok('replace -f -', { input: CONFIG('replaced') }), 'configmap/conf replaced')
    t.equal(await one.ok('scale deployment made --replicas=4'), 'deployment.apps/made scaled')
    t.equal(await one.ok("get deploy made -o jsonpath='{.spec.replicas}'"), '4')
    t.match(await one.ok('set image deployment/made nginx=nginx:2'), 'deployment.apps/made image updated')
    t.match(await one.ok('rollout restart deployment/made'), 'deployment.apps/made restarted')
    t.match((await one.run('rollout status deployment/made --timeout=1s')).out, 'Waiting for deployment')
    t.match(await one.ok('rollout history deployment/made'), 'deployment.apps/made')
  })

  await t.test('describe, explain, api-resources, api-versions', async t => {
    t.match(await one.ok('describe configmap conf'), /^Name: +conf\nNamespace: +default\n[\s\S]*key:\n----\nreplaced/)
    t.match(await one.ok('describe deployment made'), /Replicas: +4 desired/)
    t.match(await one.ok('explain configmap.data'), /Data contains the configuration data/)
    t.match(await one.ok('explain deployment.spec.replicas'), /Number of desired pods/)
    const resources = await one.ok('api-resources')
    for (const line of [
      /^configmaps +cm +v1 +true +ConfigMap$/m,
      /^deployments +deploy +apps\/v1 +true +Deployment$/m,
      /^workspaces +ws +tenancy/m,
    ])
      t.match(resources, line)
    t.match(await one.ok('api-versions'), /^apps\/v1$/m)
    t.match(await one.ok('version'), /Server Version/)
  })

  if (isWhole)
    await t.test('wait, auth can-i, create token', async t => {
      const active = `wait namespace/team --for=jsonpath='{.status.phase}'=Active --timeout=${PATIENCE}`
      if (modern) t.equal(await one.ok(active), 'namespace/team condition met')
      t.equal(await one.ok('auth can-i create deployments'), 'yes')
      const robot = await one.run('auth can-i create deployments --as=system:serviceaccount:default:robot')
      t.match(robot.out, /^no/)
      t.match(
        (await one.run('get cm --as=system:serviceaccount:default:robot')).err,
        'Error from server (Forbidden): configmaps is forbidden: User "system:serviceaccount:default:robot" cannot list resource "configmaps" in API group "" in the namespace "default"',
      )
      if (modern) t.match(await one.ok('create token robot'), /^[\w-]+\.[\w-]+\.[\w-]+$/)
    })

  await t.test('a custom resource from its definition to its end', async t => {
    t.match(await one.ok('apply -f -', { input: CRD }), 'widgets.shop.example.com created')
    t.match(
      await one.ok(`wait crd/widgets.shop.example.com --for=condition=Established --timeout=${PATIENCE}`),
      'condition met',
    )
    t.equal(await one.ok('apply -f -', { input: WIDGET }), 'widget.shop.example.com/w created')
    t.match(await one.ok('get wi'), /^NAME +SIZE\nw +3$/)
    t.match(await one.ok('explain widget.spec'), /How large it shall be/)
    t.match(await one.ok('describe widget w'), /Size: +3/)
    t.match((await two.run('get widgets')).err, `the server doesn't have a resource type "widgets"`)
    t.equal(await one.ok('apply -f -', { input: WIDGET.replace('3', '5') }), 'widget.shop.example.com/w configured')
    t.match(await one.ok('delete crd widgets.shop.example.com'), 'deleted')
    t.match(
      (await one.run('get widgets')).err,
      /the server doesn't have a resource type "widgets"|could not find the requested resource/,
    )
  })

  if (isWhole)
    await t.test('delete waits until it is done', async t => {
      t.match(await one.ok('delete configmap conf ssa'), /configmap "conf" deleted.*\nconfigmap "ssa" deleted/)
      await one.ok('create configmap inside -n team')
      t.match(await one.ok(`delete namespace team --timeout=${PATIENCE}`), 'namespace "team" deleted')
      t.match((await one.run('get namespace team')).err, 'NotFound')
      t.match(await one.ok('delete deployment --all'), 'deployment.apps "made" deleted')
      t.equal(
        await two.ok("get configmap conf -o jsonpath='{.data.key}'"),
        'two',
        'the other space has noticed nothing',
      )
    })
}
