/** A cluster that its administrator drains, beside another one, with two teams: its users, the wait, and the way back. `status` over all spaces. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { kubectlKubestellar } from '../../src/cli/kubestellar/program.ts'
import { temporaryDir } from '../support/server.ts'
import { at, map, there } from '../syncer/support/installation.ts'
import { LOCATIONS, MAPS, NAMESPACES, namespace, PLACEMENTS } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { FLORIN, Florin, has, refusedByCordon } from './support/florin.ts'

const dir = temporaryDir(t)
const tokens = join(dir, 'tokens')
const people = ['ina,u-1,"inventory"', 'mia,u-2,"shops"', 'ida,u-3,"idle"', 'eve,u-4']
writeFileSync(tokens, people.map(person => `token-of-${person.split(',')[0]},${person}\n`).join(''))
const florin = await Florin.begin(t, { serverFlags: ['--token-auth-file', tokens] })
const { wds, cluster, inventory, kubeconfig: admin } = florin
const guilder = await florin.join('guilder', { env: 'prod' })

interface Asked {
  kubeconfig?: string
  answers?: string
  onErr?: (line: string) => void
}

async function ks(line: string, { kubeconfig = admin, answers, onErr = () => {} }: Asked = {}) {
  const [out, err]: [string[], string[]] = [[], []]
  const questions: string[] = []
  const ask = async (question: string): Promise<string> => {
    questions.push(question)
    return answers!
  }
  const terminal = {
    out: (text: string) => void out.push(text),
    err(text: string) {
      err.push(text)
      onErr(text)
    },
    ...(answers !== undefined && { ask }),
  }
  const code = await kubectlKubestellar([...line.split(' '), '--kubeconfig', kubeconfig], terminal)
  return { code, out: out.join('\n'), err: err.join('\n'), questions }
}

const BINDINGS = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' }
const isPlaced = ({ metadata }: KubeObject): boolean => metadata.name === 'a' || metadata.name === 'b'

const placement = (name: string, fields: object) => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'EdgePlacement',
  metadata: { name },
  spec: {
    locationSelectors: [{ matchLabels: { env: 'prod' } }],
    downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['team'], objectNames: ['*'] }],
    ...fields,
  },
})
const inTeam = (name: string) => ({ ...map(name, { x: '1' }), metadata: { name, namespace: 'team' } })

t.equal((await ks('ensure team shops --imw root:imw1 --members shops')).code, 0)
t.equal((await ks('ensure team idle --imw root:imw1 --members idle')).code, 0)
const shops = florin.space('root:shops')
await inventory.patch(LOCATIONS, FLORIN, 'merge', { metadata: { labels: { first: 'yes' } } })
await shops.create(NAMESPACES, namespace('team'))
for (const name of ['a', 'b']) await shops.create(MAPS, inTeam(name))
await shops.create(PLACEMENTS, placement('only', { locationSelectors: [{ matchLabels: { first: 'yes' } }] }))
await until(cluster, MAPS, { namespace: 'team', name: 'b' }, there)
await until(guilder.cluster, MAPS, at('page'), there)
await until(wds, PLACEMENTS, { name: 'p' }, has('Applied', 'True', 'AllApplied'))
await until(shops, PLACEMENTS, { name: 'only' }, has('Applied', 'True', 'AllApplied'))

const FLORIN_IN = 'florin --imw root:imw1'
const USERS = `2 placements of 2 spaces in "florin", with 3 copies; 1 placement leads nowhere else

SPACE        PLACEMENT   COPIES   TROUBLED   ELSEWHERE   MESSAGE
root:shops   only        2        0          nowhere
root:wmw1    p           1        0          1 cluster`
const KIND = 'synctarget.edge.kubestellar.io'
/** Came while florin was cordoned. */
let late: string

function kubeconfigOf(user: string, space: string): string {
  const path = join(dir, user)
  const config = {
    clusters: [{ name: 'c', cluster: { server: `${florin.url}/clusters/${space}`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: `token-of-${user}` } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  }
  writeFileSync(path, JSON.stringify(config))
  return path
}

t.test(
  'users of a cluster are placements, with their copies there and the clusters that they lead to besides',
  async t => {
    t.same(await ks(`users ${FLORIN_IN}`), { code: 0, out: USERS, err: '', questions: [] })
    const { users, ...rest } = JSON.parse((await ks(`users ${FLORIN_IN} -o json`)).out)
    t.match(rest, {
      kind: 'ClusterUsers',
      location: 'florin',
      inventory: 'root:imw1',
      syncTargets: ['florin'],
      unknown: [],
    })
    t.same(users, {
      items: [
        { space: 'root:shops', placement: 'only', copies: 2, troubled: 0, elsewhere: 0 },
        { space: 'root:wmw1', placement: 'p', copies: 1, troubled: 0, elsewhere: 1 },
      ],
      total: 2,
    })
    t.equal((await ks(`users ${FLORIN_IN} -o name`)).out, 'root:shops/edgeplacement/only\nroot:wmw1/edgeplacement/p')
    t.match(await ks('users guilder --imw root:imw1'), { out: /^1 placement of 1 space in "guilder", with 1 copy\n/ })
    t.match(await ks('users florim --imw root:imw1'), {
      code: 1,
      err: /no Location "florim"; did you mean "florin"\?$/,
    })
    t.match(await ks('users florin --imw root:shops'), { code: 1, err: /root:shops serves no SyncTargets/ })
  },
)

t.test('removal shows the same before it asks', async t => {
  const { code, out, questions } = await ks(`remove location ${FLORIN_IN}`, { answers: 'n' })
  t.match(
    { code, out, questions },
    { code: 1, out: `${USERS}\n`, questions: [/^This takes the cluster "florin" out of/] },
  )
})

t.test('a cluster that is cordoned keeps what it has and gets nothing new', async t => {
  t.equal((await ks(`cordon ${FLORIN_IN}`)).out, `${KIND}/florin cordoned`)
  t.equal((await ks(`cordon ${FLORIN_IN}`)).out, `${KIND}/florin already cordoned`)
  late = await refusedByCordon(wds, cluster)
  await until(guilder.cluster, MAPS, at(late), there)
  t.notOk((await cluster.list(MAPS, { namespace: 'shop' })).items.some(({ metadata }) => metadata.name === late))
  t.match(await ks('status -A'), { out: /root:imw1 +florin +Ready .*cordoned: nothing new is placed there/ })
  t.equal((await ks(`uncordon ${FLORIN_IN}`)).out, `${KIND}/florin uncordoned`)
  await until(cluster, MAPS, at(late), there)
})

t.test('a drain shows what leaves, asks, waits until the cluster is empty, and is undone', async t => {
  const asked = await ks(`drain ${FLORIN_IN}`, { answers: '' })
  t.match(asked, { code: 1, out: /root:shops +only +2 +0 +nowhere/, err: 'Error: nothing was changed' })
  t.match(asked.questions, [/^This takes all of it off "florin", and nothing is placed there until it is uncordoned\./])
  t.ok(await cluster.get(MAPS, at('page')))

  const drained = await ks(`drain ${FLORIN_IN}`)
  t.equal(drained.code, 0, drained.err)
  t.match(drained.out, new RegExp(`\n${KIND}/florin cordoned\n${KIND}/florin drained$`))
  for (const name of ['page', late])
    t.same((await cluster.list(MAPS, { fieldSelector: `metadata.name=${name}` })).items, [])
  t.same((await cluster.list(MAPS, { fieldSelector: 'metadata.namespace=team' })).items.filter(isPlaced), [])
  t.ok(await guilder.cluster.get(MAPS, at('page')))
  t.match(await ks(`drain ${FLORIN_IN}`), { code: 0, out: new RegExp(`already cordoned\n${KIND}/florin drained$`) })

  await until(shops, PLACEMENTS, { name: 'only' }, has('Scheduled', 'False', 'Evicted'))
  await until(wds, PLACEMENTS, { name: 'p' }, has('Scheduled', 'False', 'Evicted'))
  const { out } = await ks('status -A')
  t.match(out, /^3 workload spaces, 2 placements \(2 in trouble\), .*; 1 inventory space, 2 locations\n/)
  t.match(out, /root:shops +only +Evicted /)
  t.match(
    out,
    /root:imw1 +florin +Ready .*drained: nothing is placed there\n(.*\n)*.*nothing is placed at florin: the time in/,
  )
  const objects = JSON.parse((await ks(`uncordon ${FLORIN_IN} -o json`)).out)
  t.match(objects, { kind: 'List', items: [{ kind: 'SyncTarget', spec: { unschedulable: false } }] })
  await until(cluster, MAPS, { namespace: 'team', name: 'b' }, there)
  await until(cluster, MAPS, at('page'), there)
})

t.test('what a pause keeps is named before, and counted when the time is over', async t => {
  await wds.patch(PLACEMENTS, { name: 'p' }, 'merge', { spec: { paused: true } })
  await until(wds, PLACEMENTS, { name: 'p' }, has('Paused', 'True', 'PlacementPaused'))
  const early = await ks(`drain ${FLORIN_IN} --timeout 1`)
  t.equal(early.code, 6)
  t.match(early.out, /root:wmw1 +p +2 +2 +1 cluster +paused: its copies stay until that ends/)
  t.match(
    early.err,
    /copies are still there after 1 s: .* in SyncTarget "florin"\. .*; to undo: kubectl kubestellar uncordon florin/,
  )
  t.ok(await cluster.get(MAPS, at('page')))
  let isTold = false
  const drained = await ks(`drain ${FLORIN_IN}`, {
    onErr(line) {
      if (isTold || !/florin \d+ (copy is|copies are) left/.test(line)) return
      isTold = true
      void wds.patch(PLACEMENTS, { name: 'p' }, 'merge', { spec: { paused: false } })
    },
  })
  t.ok(isTold, drained.err)
  t.match(drained, { code: 0, out: /drained$/ })
  await ks(`uncordon ${FLORIN_IN}`)
  await until(cluster, MAPS, at('page'), there)
})

t.test('whoever may not read all spaces learns which', async t => {
  const grant = (role: string, group: string) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: group },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
  })
  await inventory.create(BINDINGS, grant('cluster-admin', 'inventory'))
  const ina = kubeconfigOf('ina', 'root:imw1')
  const users = await ks('users florin', { kubeconfig: ina })
  t.match(users, {
    code: 0,
    out: /^as far as you may read: 0 pl.*\n\nnot known: root:idle, root:shops, root:wmw1: you may not list what is placed/,
  })
  const { code, questions } = await ks('drain florin', { kubeconfig: ina, answers: 'n' })
  t.match({ code, questions }, { code: 1, questions: [/^This takes all of it, also what is not known, off "florin"/] })
  const all = await ks('status --all-spaces', { kubeconfig: ina })
  t.match(all, { code: 0, out: /root:imw1 +florin +Ready/ })
  t.match(all.out, /not known: root: you may not list what is placed or joined there$/)
  await until(shops, PLACEMENTS, { name: 'only' }, has('Healthy', 'True', 'AllHealthy'))
  const mia = kubeconfigOf('mia', 'root:shops')
  const hers = await ks('status -A --exit-code', { kubeconfig: mia })
  t.match(hers, { code: 1, out: /root:shops +only +/ })
  t.notMatch(hers.out, 'root:wmw1')
  t.match(await ks('drain florin --imw root:imw1', { kubeconfig: mia }), { code: 1, err: /forbidden|may not/i })
  t.match(await ks('status -A --space root:wmw1', { kubeconfig: mia }), {
    code: 1,
    out: '',
    err: /^Error: workspace "root:wmw1" not found, or closed to you$/,
  })
  const idle = await ks('status -A', { kubeconfig: kubeconfigOf('ida', 'root:idle') })
  t.match(idle, { code: 0, out: /^1 workload space, 0 placements, / }, 'a space without placements is one')
  t.match(await ks('status -A', { kubeconfig: kubeconfigOf('eve', 'root:idle') }), {
    code: 1,
    out: '',
    err: /^Error: nothing is to be seen from root, root:idle: root, root:idle: you may not list/,
  })
  t.match(await ks('status -A --exit-code --space root:imw9'), {
    code: 2,
    out: '',
    err: /workspace "root:imw9" not found.*did you mean "imw1"/,
  })
  t.match(await ks('approve florin --imw root:imw1', { kubeconfig: mia }), {
    code: 2,
    err: /^Error: credentials of syncers take the rights of an administrator of the server: forbidden: /,
  })
  t.match(await ks('status -A -w'), { code: 1, err: /--watch follows one space/ })
  t.match(await ks('status -A --space root:shops -o name'), { code: 0, out: '' })
})
