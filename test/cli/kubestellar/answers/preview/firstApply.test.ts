/** `preview` before the first apply: files that hold a Namespace or a definition, and objects of these. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { PATIENCE } from '../../../../support/patience.ts'
import { pluginHere } from '../../../../support/runHere.ts'
import { startHarness } from '../../../support.ts'

const yaml = (...objects: object[]) => objects.map(object => `---\n${JSON.stringify(object)}\n`).join('')
const map = (name: string, namespace: string | undefined, v = '1') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(namespace !== undefined && { namespace }) },
  data: { v },
})
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.org' },
  spec: {
    group: 'example.org',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}
const widget = { apiVersion: 'example.org/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'shop' }, size: 1 }
const placement = (downsync: object[] = [{ namespaces: ['shop'] }]) => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'EdgePlacement',
  metadata: { name: 'shop' },
  spec: { locationSelectors: [{}], downsync },
})
const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
  },
}
const scaler = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, minReplicas: 2, maxReplicas: 4 },
}

t.test('a first deployment is previewed whole', async t => {
  const { kubeconfig, dir, url } = await startHarness(t)
  const admin = kubeconfig('admin')
  const ks = (...args: string[]) => pluginHere('kubestellar', ...args, '--kubeconfig', admin)
  t.match(await ks('ensure', 'location', 'florin', 'env=prod', '--imw', 'root:imw1'), { code: 0 })
  const file = (...objects: object[]) => {
    const path = join(dir, 'app.yaml')
    writeFileSync(path, yaml(...objects))
    return path
  }
  const kubectl = async (...args: string[]) => {
    const all = ['--kubeconfig', admin, '--server', `${url}/clusters/root:wmw1`, ...args]
    return (await promisify(execFile)('kubectl', all)).stdout
  }
  const preview = (path: string, ...args: string[]) => ks('preview', '-f', path, '--space', 'root:wmw1', ...args)
  await kubectl(
    'wait',
    'grantedlocation/imw1.florin',
    '--for=jsonpath={.metadata.name}=imw1.florin',
    `--timeout=${PATIENCE}`,
  )

  await t.test('a Namespace, a definition and what is in them', async t => {
    const path = file(map('a', 'shop'), namespace, placement(), definition, widget, map('here', 'default'))
    const told = await preview(path)
    t.equal(told.code, 1, told.err)
    t.match(
      told.err,
      /^Note: kubectl apply makes objects of Widget in a second run: the definition comes with these files\.$/m,
    )
    t.match(told.out, /^configmaps "shop\/a" created in imw1\.florin$/m)
    t.match(told.out, /^widgets\.example\.org "shop\/w" created in imw1\.florin$/m)
    t.match(
      told.out,
      /^customresourcedefinitions\.apiextensions\.k8s\.io "widgets\.example\.org" created in imw1\.florin$/m,
    )
    t.match(told.out, /^configmaps "default\/here": no EdgePlacement selects it$/m)
    t.match(told.out, /^6 objects: 3 created in clusters$/m)
    const json = JSON.parse((await preview(path, '-o', 'json')).out)
    t.match(json, { changes: true, counts: { Create: 3 } })
    const missing = await preview(file(map('a', 'shop'), namespace, map('b', 'other')))
    t.match(missing, { code: 2, out: '', err: /namespaces "other" not found/ })
  })

  await t.test('objects without a namespace go where -n says', async t => {
    const told = await preview(file(map('a', undefined), namespace, placement()), '-n', 'shop')
    t.match(told, { code: 1, err: '', out: /^configmaps "shop\/a" created/m })
    const other = await preview(file(map('a', 'shop'), namespace), '-n', 'default')
    t.match(other, { code: 2, err: /"shop" does not match the namespace "default"; leave -n out/ })
  })

  await t.test('more objects than one question holds', async t => {
    const many = Array.from({ length: 130 }, (_, i) => map(`m${i}`, 'shop'))
    const told = await preview(file(namespace, placement(), ...many), '-o', 'json')
    t.match(JSON.parse(told.out), { counts: { Create: 130 }, objects: { length: 132 } }, told.err)
  })

  await t.test('an autoscaler beside spec.replicas is warned of, once', async t => {
    const path = file(namespace, web, scaler, placement())
    const told = await preview(path)
    t.match(
      told.err,
      /^Warning: HorizontalPodAutoscaler "web" scales Deployment "web", and its spec\.replicas: 3 .*\n$/,
    )
    const markdown = await preview(path, '-o', 'markdown')
    t.match(markdown, { err: '', out: /^- `HorizontalPodAutoscaler "web" scales/m })
  })

  await t.test('objects that change between the question to kubectl and that to the center', async t => {
    await kubectl('apply', '-f', file(namespace, placement(), map('a', 'shop')))
    const bin = join(dir, 'bin')
    mkdirSync(bin)
    const change = `kubectl --kubeconfig ${admin} --server ${url}/clusters/root:wmw1 annotate edgeplacement/shop a=b`
    const script = `PATH="\${PATH#*:}"\nkubectl "$@" || exit\n[ "$1" != apply ] || [ -e ${bin}/changed ] || { : > ${bin}/changed; ${change} >&2; }\n`
    writeFileSync(join(bin, 'kubectl'), `#!/bin/sh\n${script}`, { mode: 0o755 })
    const { PATH } = process.env
    process.env.PATH = `${bin}:${PATH}`
    t.teardown(() => {
      process.env.PATH = PATH
    })
    const told = await preview(file(placement([{ namespaces: ['shop'], resources: ['secrets'] }])))
    t.match(told, { code: 1, out: /^configmaps "shop\/a" deleted/m })
    t.ok(existsSync(join(bin, 'changed')))
  })

  await t.test('deletions are folded, and counted as the brake does', async t => {
    await kubectl('apply', '-f', file(namespace))
    await kubectl('apply', '-f', file(placement(), ...['a', 'b', 'c'].map(name => map(name, 'shop'))))
    await kubectl('wait', 'edgeplacement/shop', '--for=jsonpath={.status.counts.copies}=3', `--timeout=${PATIENCE}`)
    const path = file({ ...placement(), spec: { locationSelectors: [], downsync: [{ namespaces: ['shop'] }] } })
    const told = await preview(path)
    t.match(told.out, /^configmaps "shop\/a" deleted in imw1\.florin$/m)
    t.notMatch(told.out, /^-/m)
    t.match((await preview(path, '-o', 'wide')).out, /^- {2}v: "1"$/m)
    t.notMatch((await preview(path, '-o', 'markdown')).out, /<details>/)
    t.match(told.out, /3 deleted in clusters; deletions would be held until they are confirmed$/m)
    await kubectl('apply', '-f', path)
    await kubectl('wait', 'edgeplacement/shop', '--for=condition=DeletionHeld', `--timeout=${PATIENCE}`)
    const message = '{.status.conditions[?(@.type=="DeletionHeld")].message}'
    t.match(await kubectl('get', 'edgeplacement/shop', '-o', `jsonpath=${message}`), /^3 copies in 1 cluster/)
  })
})
