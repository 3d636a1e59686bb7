/** The corners of a new kubectl: generators, prunes, waits, roll-outs, nodes, debugging. Everyday use is in `kubectl.test.ts`. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Api } from '../support/api.ts'
import { findKubectls, KubectlSession, minorOf, startOrreryHere } from '../support/orrery.ts'
import { FILE_LIMIT_MS, PATIENCE } from '../support/patience.ts'
import { accessOf, createSpace, temporaryDir } from '../support/server.ts'

// Some sixty runs of kubectl.
t.setTimeout(FILE_LIMIT_MS)

const kubectl = (await findKubectls()).at(-1)
// `wait --for=create` came with 1.31.
const skip = kubectl === undefined || minorOf(kubectl) < 31 ? 'no kubectl of 1.31 or later' : false

const configMaps = (...names: string[]): string =>
  names.map(name => `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}, labels: {set: one}}}`).join('\n---\n')

const status = (ready: number): string =>
  JSON.stringify({
    status: { observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: ready, availableReplicas: ready },
  })

t.test('the corners of kubectl', { skip }, async t => {
  const orrery = await startOrreryHere(t)
  const api = new Api(accessOf(orrery.kubeconfig))
  t.teardown(() => api.close())
  await createSpace(api, 'corners')
  const home = temporaryDir(t)
  const space = `--server=${orrery.url}/clusters/root:corners`
  const k = new KubectlSession(kubectl!, home, ['--kubeconfig', orrery.kubeconfig, space])

  await t.test('every generator of `create`, `run`, `expose` and `autoscale`', async t => {
    const made: [string, string][] = [
      ['create deployment web --image=nginx --port=80 --replicas=2', 'deployment.apps/web'],
      ['create service nodeport ext --tcp=80:8080 --node-port=31234', 'service/ext'],
      ['create service externalname far --external-name=example.com', 'service/far'],
      ['create job once --image=busybox -- echo hi', 'job.batch/once'],
      ["create cronjob often --image=busybox --schedule='*/5 * * * *'", 'cronjob.batch/often'],
      ['create job now --from=cronjob/often', 'job.batch/now'],
      ["create ingress in --rule='example.com/a*=web:80,tls=cert'", 'ingress.networking.k8s.io/in'],
      ['create role reader --verb=get,list --resource=pods,deployments.apps', 'role.rbac.authorization.k8s.io/reader'],
      ['create rolebinding read --role=reader --user=jane', 'rolebinding.rbac.authorization.k8s.io/read'],
      ['create clusterrole sum --aggregation-rule=a=b', 'clusterrole.rbac.authorization.k8s.io/sum'],
      ['create poddisruptionbudget two --selector=app=web --min-available=1', 'poddisruptionbudget.policy/two'],
      ['create priorityclass high --value=1000', 'priorityclass.scheduling.k8s.io/high'],
      ['create quota few --hard=services=20', 'resourcequota/few'],
      ['run alone --image=nginx --labels=app=alone --port=80', 'pod/alone'],
    ]
    for (const [command, name] of made) t.equal(await k.ok(command), `${name} created`)
    t.equal(await k.ok('expose pod alone --port=80'), 'service/alone exposed')
    t.match(await k.ok('autoscale deployment web --max=3'), 'horizontalpodautoscaler.autoscaling/web autoscaled')
    t.match(
      await k.ok('get all'),
      /pod\/alone[\s\S]*service\/ext[\s\S]*deployment.apps\/web[\s\S]*cronjob.batch\/often/,
    )
    const columns = 'get pods -o custom-columns=N:.metadata.name,I:.spec.containers[*].image --no-headers'
    t.match(await k.ok(columns), /^alone +nginx$/)
  })

  await t.test('waits and roll-outs end when the object is so far', async t => {
    const rollout = k.ok(`rollout status deployment/web --timeout=${PATIENCE}`)
    await k.ok(`patch deployment web --subresource=status --type=merge -p '${status(1)}'`)
    await k.ok(`patch deployment web --subresource=status --type=merge -p '${status(2)}'`)
    t.match(await rollout, 'deployment "web" successfully rolled out')
    const born = k.ok(`wait --for=create configmap/late --timeout=${PATIENCE}`)
    await k.ok('create configmap late')
    t.match(await born, 'configmap/late condition met')
    const gone = k.ok(`wait --for=delete configmap/late --timeout=${PATIENCE}`)
    await k.ok('delete configmap late')
    await gone
    t.match((await k.run('wait --for=condition=Nope deployment/web --timeout=0s')).err, /timed out|not met|no matching/)
    t.equal(await k.ok('rollout pause deployment/web'), 'deployment.apps/web paused')
    t.match((await k.run('rollout restart deployment/web')).err, 'paused')
    t.equal(await k.ok('rollout resume deployment/web'), 'deployment.apps/web resumed')
  })

  await t.test('sub-resources: scale by patch, edit and replace of a status', async t => {
    t.match(
      await k.ok(`patch deployment web --subresource=scale --type=merge -p '{"spec":{"replicas":5}}'`),
      'scale.autoscaling/web patched',
    )
    t.match(await k.ok('get deployment web --subresource=scale'), /^NAME +DESIRED +AVAILABLE +AGE\nweb +5 +2 /)
    const editor = join(home, 'editor.sh')
    writeFileSync(
      editor,
      '#!/bin/sh\nsed -i "s/updatedReplicas: 2/updatedReplicas: 1/; s/replicas: 5/replicas: 9/" "$1"\n',
    )
    chmodSync(editor, 0o755)
    await k.ok('edit deployment web --subresource=status', { env: { KUBE_EDITOR: editor } })
    const now = await k.ok("get deployment web -o jsonpath='{.spec.replicas} {.status.updatedReplicas}'")
    t.equal(now, '5 1', 'only the status was edited')
  })

  await t.test('what is no longer in the files is pruned, and nothing else', async t => {
    await k.ok('create configmap other')
    await k.ok('apply -f -', { input: configMaps('a', 'b') })
    const prune = 'apply -f - --prune -l set=one --prune-allowlist=core/v1/ConfigMap'
    t.match(await k.ok(prune, { input: configMaps('a') }), 'configmap/b pruned')
    const env = { KUBECTL_APPLYSET: 'true' }
    const set = 'apply -f - --server-side --force-conflicts --prune --applyset=secret/mine -n default'
    await k.ok(set, { env, input: configMaps('a', 'c') })
    t.match(await k.ok(set, { env, input: configMaps('c') }), 'configmap/a pruned')
    t.equal(await k.ok('get configmaps -o name -l set=one'), 'configmap/c')
    await k.ok('get configmap other')
    t.match(await k.ok('replace --force -f -', { input: configMaps('c') }), /deleted[\s\S]*configmap\/c replaced/)
  })

  await t.test('nodes: taint, cordon, drain', async t => {
    await k.ok('create -f -', { input: '{apiVersion: v1, kind: Node, metadata: {name: n1}}' })
    t.equal(await k.ok('taint node n1 a=b:NoSchedule'), 'node/n1 tainted')
    t.match((await k.run('taint node n1 a=b:NoSchedule')).err, 'already has a taint')
    t.equal(await k.ok('cordon n1'), 'node/n1 cordoned')
    t.match(await k.ok('get node n1'), 'SchedulingDisabled')
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'on-n1' } }
    const spec = { nodeName: 'n1', terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'i' }] }
    await k.ok('create -f -', { input: JSON.stringify({ ...pod, spec }) })
    t.match((await k.run('drain n1')).err, 'cannot delete Pods that declare no controller')
    t.match(await k.ok(`drain n1 --force --timeout=${PATIENCE}`), 'node/n1 drained')
    t.match((await k.run('get pod on-n1')).err, 'NotFound')
    t.equal(await k.ok('uncordon n1'), 'node/n1 uncordoned')
  })

  await t.test('a container to debug with is added to a Pod; what needs a kubelet says that there is none', async t => {
    await k.ok('debug alone --image=busybox -c look')
    t.equal(await k.ok("get pod alone -o jsonpath='{.spec.ephemeralContainers[*].name}'"), 'look')
    await k.ok('debug alone --image=busybox --copy-to=copy -c look')
    t.equal((await k.run('logs alone -c look')).out, '', 'no node has it yet')
    t.match((await k.run('exec alone -c look -- ls')).err, 'pod alone does not have a host assigned')
    t.match((await k.run('logs nobody')).err, 'pods "nobody" not found')
    t.match((await k.run('top pods')).err, 'Metrics API not available')
  })

  await t.test('manifests with faults are told about as a cluster does', async t => {
    const apply = async (manifest: string): Promise<string> => (await k.run('apply -f -', { input: manifest })).err
    const unknown = await apply('{apiVersion: v1, kind: ConfigMap, metadata: {name: x, labls: {}}, dta: {}}')
    t.match(unknown, 'strict decoding error: unknown field "dta", unknown field "metadata.labls"')
    const wrong = await apply('{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {k: 5}, dta: {}}')
    t.match(wrong, 'json: cannot unmarshal number into Go struct field ConfigMap.data of type string')
    t.match(
      await apply('{apiVersion: v9, kind: Nope, metadata: {name: x}}'),
      'no matches for kind "Nope" in version "v9"',
    )
    const patched = await k.run('patch deployment web -p \'"x"\'')
    t.match(patched.err, 'json: cannot unmarshal string into Go value of type map[string]interface {}')
    t.match((await k.run('get --raw /apis/nope/v1')).err, 'the server could not find the requested resource')
    t.match(
      (await k.run('replace --raw /nope -f -', { input: '{}' })).err,
      'the server could not find the requested resource',
    )
  })
})
