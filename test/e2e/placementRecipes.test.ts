/**
 * What docs/placement.md says to type, recipes and all, as it stands there, with a real server, clusters and syncers; and what
 * docs/api.md says about an EdgePlacement.
 */
import { execFile } from 'node:child_process'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { is } from '../syncer/support/installation.ts'
import { MAPS, PLACEMENTS, TARGETS } from '../syncer/support/kinds.ts'
import { Program, until } from '../syncer/support/processes.ts'
import { condition, Florin, has } from './support/florin.ts'
import { shellBlocks } from './support/typedIn.ts'

const ROOT = join(import.meta.dirname, '../..')
const ROLLOUT = `
kubectl ws root:shop
kubectl apply -f - <<END
apiVersion: edge.kubestellar.io/v2alpha1
kind: EdgePlacement
metadata: { name: alone }
spec:
  locationSelectors: [{ matchLabels: { env: prod } }]
  downsync: [{ apiGroup: apps, resources: [deployments], namespaces: [shop], objectNames: [alone] }]
  wantSingletonReportedState: true
END
kubectl create deployment alone -n shop --image=web:1
kubectl rollout status deployment/alone -n shop --timeout=60s
kubectl set image deployment/alone -n shop web=web:2
kubectl rollout status deployment/alone -n shop --timeout=60s
`
const SECOND_CLUSTER = `
kubectl ws root
kubectl kubestellar ensure location guilder --imw root:imw1 env=prod
kubectl kubestellar prep-for-syncer guilder --imw root:imw1 --kubeconfig-output guilder-syncer.kubeconfig
`
const PRICES = { namespace: 'shop', name: 'prices' }

t.test('the recipes', { timeout: FILE_LIMIT_MS }, async t => {
  const florin = await Florin.begin(t)
  const dir = temporaryDir(t)
  const KUBECONFIG = join(dir, 'kubeconfig')
  copyFileSync(florin.kubeconfig, KUBECONFIG)
  const env = { ...process.env, KUBECONFIG, PATH: `${join(ROOT, 'bin')}:${process.env.PATH}` }
  const run = (block: string) =>
    new Promise<{ code: number; told: string }>(resolve => {
      execFile('bash', ['-c', `set -e\n${block}`], { cwd: dir, env }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), told: out + err }),
      )
    })
  const page = readFileSync(join(ROOT, 'docs/placement.md'), 'utf8')
  const blocks = shellBlocks(page).map(({ script }) => script)
  const [views = '', waits = '', both = '', forth = '', back = '', rollout = '', git = '', helm = ''] = blocks
  t.equal(blocks.length, 8)
  const price = (coffee: string): Promise<KubeObject | undefined> =>
    until(florin.cluster, MAPS, PRICES, is('data', { coffee }))

  t.match(await run(both), { code: 0 })
  const first = await price('2.40')
  t.match(await run(forth), { code: 0, told: /prices .*Applied/ })
  const second = await price('2.60')
  t.equal(second?.metadata.uid, first?.metadata.uid, 'it was never away')
  t.match(await run(back), { code: 0 })
  t.equal((await price('2.40'))?.metadata.uid, first?.metadata.uid)

  // what Argo CD, Flux and `helm --wait` go by: the status of what runs in one cluster comes back, of the newest spec
  t.match(await run(ROLLOUT), { code: 0, told: /successfully rolled out[\s\S]*successfully rolled out/ })

  t.match(await run(SECOND_CLUSTER), { code: 0 })
  const guilder = ['--name', 'guilder', '--data-dir', join(dir, 'guilder'), '--secure-port', '0']
  await Program.orrery(t, ['simulate-wec', ...guilder]).said('ready')
  const ends = [join(dir, 'guilder-syncer.kubeconfig'), join(dir, 'guilder', 'admin.kubeconfig')] as const
  Program.orrery(t, ['syncer', '--from-kubeconfig', ends[0], '--to-kubeconfig', ends[1], '--qps', '0'])
  await until(florin.inventory, TARGETS, { name: 'guilder' }, has('Ready', 'True', 'SyncerAlive'))
  const rolled = await run(rollout)
  t.match(rolled, { code: 0, told: /successfully rolled out[\s\S]*successfully rolled out/ })
  for (const name of ['florin', 'guilder'])
    t.match(rolled.told, new RegExp(`^${name} +Deployment +web +Applied +Healthy`, 'm'), 'it waited for both')
  const alone = await until(
    florin.space('root:shop'),
    PLACEMENTS,
    { name: 'alone' },
    has('StatusWithheld', 'True', 'InSeveralClusters'),
  )
  t.match(
    condition(alone, 'StatusWithheld').message,
    /deployments\.apps \(such as "shop\/alone", in 2\).*wantMultiWECReportedState/,
  )
  t.match(await run('kubectl kubestellar why deployment/alone -n shop'), {
    code: 0,
    told: /StatusWithheld: it is in 2 clusters/,
  })

  const looks = views.split('\n')
  const watch = looks.filter(line => / -w$/.test(line))
  t.match(await run(`kubectl ws root:shop\n${looks.filter(line => !watch.includes(line)).join('\n')}`), {
    code: 0,
    told: /Name: +shop\n[\s\S]*imw1\.florin:deployments\.apps:web/,
  })
  t.equal(watch.length, 1)
  await Program.spawned(t, 'env', [`KUBECONFIG=${KUBECONFIG}`, ...watch[0]!.split(' ')]).said('florin')
  t.match(await run(waits), { code: 0, told: /(condition met\n[\s\S]*){3}/ })
  const api = shellBlocks(readFileSync(join(ROOT, 'docs/api.md'), 'utf8'))
  t.equal(api.length, 2)
  for (const { script } of api)
    t.match(
      await run(script.replaceAll(/edgeplacement prices|=NAME$/gm, found => found.replace(/prices|NAME/, 'shop'))),
      {
        code: 0,
        told: /shop/,
      },
    )

  t.match(await run(git), { code: 0, told: /^yes$/m })
  t.match(await run(helm), { code: 0, told: /web-config/ })
  await until(florin.cluster, MAPS, { namespace: 'shop', name: 'web-config' }, is('data', { greeting: 'hello' }))
})
