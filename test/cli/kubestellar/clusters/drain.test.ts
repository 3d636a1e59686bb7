/** `cordon`, `drain` and `uncordon`: which clusters a name means, and the wait. The controllers' part is played by the test. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { at, str } from '../../../../src/apimachinery/fields.ts'
import { kubectlKubestellar } from '../../../../src/cli/kubestellar/program.ts'
import { FIRST_OBJECTS } from '../../../../src/cli/orrery/server/placementOptions.ts'
import { httpClient } from '../../../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../../../src/client/kubeconfig.ts'
import { LOCATIONS, SYNC_TARGETS } from '../../../../src/placement/words/placement.ts'
import { startTestServer, temporaryDir } from '../../../support/server.ts'

const { server } = await startTestServer(t, { more: { firstObjects: FIRST_OBJECTS } })
const { options, base } = await loadKubeconfig(server.kubeconfigPath)
const client = httpClient({ ...options, server: base })
t.teardown(() => client.close())
const inventory = client.in('root:imw1')
const admin = join(temporaryDir(t), 'admin')
copyFileSync(server.kubeconfigPath, admin)
const KIND = 'synctarget.edge.kubestellar.io'

async function ks(line: string, heard: (text: string) => void = () => {}) {
  const [out, err]: [string[], string[]] = [[], []]
  const said = (to: string[]) => (text: string) => {
    to.push(text)
    heard(text)
  }
  const terminal = { out: said(out), err: said(err) }
  const code = await kubectlKubestellar([...line.split(' '), '--imw', 'root:imw1', '--kubeconfig', admin], terminal)
  return { code, out, err }
}

const specOf = async (name: string) => (await inventory.get(SYNC_TARGETS, { name })).spec
/** As the center reports how many copies an eviction has left. */
async function report(name: string, remaining: number): Promise<void> {
  const after = str(await specOf(name), 'evictAfter')
  const body = { status: { outcome: { eviction: { after, remaining } } } }
  await inventory.patch(SYNC_TARGETS, { name }, 'merge', body, { subresource: 'status' })
}
const patch = (name: string, spec: object) => inventory.patch(SYNC_TARGETS, { name }, 'merge', { spec })

for (const name of ['florin', 'guilder']) await ks(`ensure location ${name} env=prod`)
await inventory.patch(LOCATIONS, { name: 'guilder' }, 'merge', {
  spec: { instanceSelector: { matchLabels: { no: 'one' } } },
})
const both = await inventory.get(LOCATIONS, { name: 'florin' })
await inventory.create(LOCATIONS, {
  ...both,
  metadata: { name: 'both' },
  spec: { ...(both.spec as object), instanceSelector: { matchLabels: { env: 'prod' } } },
})

t.test('a Location means all SyncTargets that it stands for', async t => {
  const all = (word: string) => [`${KIND}/florin ${word}`, `${KIND}/guilder ${word}`]
  t.same(await ks('cordon both'), { code: 0, out: all('cordoned'), err: [] })
  t.same(await ks('cordon florin'), { code: 0, out: [`${KIND}/florin already cordoned`], err: [] })
  for (const name of ['florin', 'guilder']) t.match(await specOf(name), { unschedulable: true })
  t.same(await ks('uncordon both'), { code: 0, out: all('uncordoned'), err: [] })
  t.match(await ks('cordon guilder'), {
    code: 1,
    err: [/^Error: Location "guilder" stands for no cluster: spec\.inst/],
  })
  await inventory.delete(LOCATIONS, { name: 'guilder' })
  t.same(await ks('cordon guilder'), { code: 0, out: [`${KIND}/guilder cordoned`], err: [] })
  t.match(await ks('uncordon guilde'), { code: 1, err: [/no Location "guilde"; did you mean "guilder"\?$/] })
  t.match(await ks('uncordon Guilder'), { code: 1, err: [/"Guilder" is not a valid name/] })
  t.match(await ks('drain guilder --timeout 0'), {
    code: 6,
    err: [/after 0 s: an unknown number in SyncTarget "guilder"\. They leave/],
  })
  await ks('uncordon guilder')
})

t.test('a drain follows the reports of its own eviction until nothing is left', async t => {
  await patch('florin', { evictAfter: '2020-01-01T00:00:00Z' })
  await report('florin', 0)
  await ks('uncordon florin')
  const reports: Promise<void>[] = []
  const result = await ks('drain florin', text => {
    if (text.endsWith('florin cordoned')) reports.push(evicted().then(() => report('florin', 2)))
    if (text.endsWith('2 copies are left')) reports.push(report('florin', 1))
    if (text.endsWith('1 copy is left')) reports.push(report('florin', 0))
  })
  await Promise.all(reports)
  t.equal(result.code, 0)
  t.same(result.err, [`${KIND}/florin 2 copies are left`, `${KIND}/florin 1 copy is left`])
  t.equal(result.out.at(-1), `${KIND}/florin drained`)
  t.equal(reports.length, 3, 'the report of an earlier eviction ends no drain')
  await ks('uncordon florin')
})

/** The drain has begun. */
async function evicted(): Promise<void> {
  while (str(await specOf('florin'), 'evictAfter') === '') {}
}

t.test('whoever takes the eviction back ends the wait, and one that is being removed is none', async t => {
  const back: Promise<unknown>[] = []
  const result = await ks('drain florin', text => {
    if (text.endsWith('florin cordoned')) back.push(evicted().then(() => patch('florin', { evictAfter: null })))
  })
  await Promise.all(back)
  t.match(result, { code: 1, err: [/^Error: SyncTarget "florin" was uncordoned meanwhile/] })
  t.equal(at(await specOf('florin'), 'unschedulable'), true)
  await inventory.patch(SYNC_TARGETS, { name: 'florin' }, 'merge', {
    metadata: { finalizers: ['edge.kubestellar.io/cluster'] },
  })
  await inventory.delete(SYNC_TARGETS, { name: 'florin' })
  t.match(await ks('drain florin'), { code: 1, err: [/SyncTarget "florin" is being removed: .* spec\.detachPolicy$/] })
})
