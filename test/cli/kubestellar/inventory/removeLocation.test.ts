/** `remove location`: what becomes of the workload, and the wait for the syncer. The controllers' part is played by the test. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { removeLocation } from '../../../../src/cli/kubestellar/inventory/inventory.ts'
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
const FINALIZER = 'edge.kubestellar.io/cluster'
const FLORIN = { name: 'florin' }

async function ks(line: string, onErr: (text: string) => void = () => {}) {
  const [out, err]: [string[], string[]] = [[], []]
  const terminal = {
    out: (text: string) => void out.push(text),
    err(text: string) {
      err.push(text)
      onErr(text)
    },
  }
  const code = await kubectlKubestellar([...line.split(' '), '--imw', 'root:imw1', '--kubeconfig', admin], terminal)
  return { code, out, err }
}
const GONE = ['location.edge.kubestellar.io "florin" deleted']
const DELETED = [...GONE, 'synctarget.edge.kubestellar.io "florin" deleted']

/** Syncer that has reported. */
async function held(): Promise<string> {
  await ks('ensure location florin env=prod')
  const { metadata } = await inventory.patch(SYNC_TARGETS, FLORIN, 'merge', { metadata: { finalizers: [FINALIZER] } })
  return metadata.uid!
}
const letGo = () => inventory.patch(SYNC_TARGETS, FLORIN, 'merge', { metadata: { finalizers: null } })
const waitsFor = (message: string) =>
  inventory.patch(
    SYNC_TARGETS,
    FLORIN,
    'merge',
    {
      status: {
        conditions: [
          { type: 'Leaving', status: 'True', reason: 'X', message, lastTransitionTime: '2026-01-01T00:00:00Z' },
        ],
      },
    },
    { subresource: 'status' },
  )

t.test('without a syncer both go at once', async t => {
  await ks('ensure location florin env=prod')
  t.same(await ks('remove location florin'), { code: 0, out: DELETED, err: [] })
  const none = ['Error: there is no SyncTarget and no Location "florin"']
  t.same(await ks('remove location florin'), { code: 1, out: [], err: none })
  t.same(await ks('remove location florin --ignore-not-found'), { code: 0, out: [], err: [] })
  await ks('ensure location florin env=prod')
  t.match(await ks('remove location florim'), {
    code: 1,
    out: [],
    err: [/no Location "florim"; did you mean "florin"\?$/],
  })
})

t.test('it says what it waits for, and ends when the SyncTarget is gone', async t => {
  await held()
  await waitsFor('waits for the syncer to delete; to let it go without: annotate it')
  const going: Promise<unknown>[] = []
  const result = await ks('remove location florin --workload delete', text => {
    if (!text.includes('waits for the syncer to delete')) return
    going.push(inventory.get(SYNC_TARGETS, FLORIN).then(object => letGo().then(() => object)))
  })
  t.same(result, {
    code: 0,
    out: DELETED,
    err: ['synctarget.edge.kubestellar.io/florin waits for the syncer to delete'],
  })
  t.match(await Promise.all(going), [{ spec: { detachPolicy: 'Delete' } }])
})

t.test('a syncer that does not come is told after a while, with the remedy, which forces by the uid', async t => {
  const uid = await held()
  const late = await ks('remove location florin --workload keep --timeout 1')
  t.same(late.out, GONE, 'what waits is not said to be deleted')
  t.equal(late.code, 6)
  t.match(late.err.at(-1), /SyncTarget "florin" still waits for its syncer after 1 s; .* with --force/)
  t.match(await inventory.get(SYNC_TARGETS, FLORIN), { spec: { detachPolicy: 'Orphan' } })
  await ks('remove location florin --force --timeout 0')
  t.match((await inventory.get(SYNC_TARGETS, FLORIN)).metadata.annotations, { 'edge.kubestellar.io/force-detach': uid })
  await letGo()
})

t.test('wrong words touch nothing', async t => {
  await held()
  const wrong = await ks('remove location florin --workload orphan')
  t.equal(wrong.code, 1)
  t.match(wrong.err, ['Error: --workload: "orphan" is neither "keep" nor "delete"'])
  t.ok(await inventory.get(LOCATIONS, FLORIN))
})

/** As a person has it, who answers with yes, after what comes to pass `meanwhile`. */
async function removed(workload: string | undefined, meanwhile: () => Promise<unknown>) {
  const questions: string[] = []
  const ask = async (question: string): Promise<string> => {
    questions.push(question)
    await meanwhile()
    return 'y'
  }
  const terminal = { out: () => {}, err: () => {}, ask }
  const options = { timeout: 0, ...(workload !== undefined && { workload }) }
  const done = await removeLocation(inventory, 'florin', options, { terminal, show: async () => {} }).then(
    objects => objects.map(({ kind }) => kind),
    ({ message }: Error) => message,
  )
  return { questions, done }
}

t.test('a yes takes no cluster that came into the place of the one in the question', async t => {
  await ks('remove location florin --timeout 0')
  await letGo()
  for (const workload of [undefined, 'delete']) {
    await ks('ensure location florin env=prod')
    const { done } = await removed(workload, async () => {
      await ks('remove location florin')
      await ks('ensure location florin env=prod')
    })
    t.match(done, /deleted and then recreated|metadata\.uid: .*immutable/)
    const { spec, metadata } = await inventory.get(SYNC_TARGETS, FLORIN)
    t.strictSame([spec, metadata.deletionTimestamp], [undefined, undefined])
  }
})

t.test('a Location alone leads to clusters too, and goes after a question', async t => {
  await inventory.delete(SYNC_TARGETS, FLORIN)
  t.match(await removed(undefined, async () => {}), {
    questions: [/deletes the Location "florin", and takes what it leads to its clusters off them\. Go on/],
    done: ['Location'],
  })
})
