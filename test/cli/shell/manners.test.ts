/** How the plugins behave towards people and scripts: what destroys asks, slips are understood, documents for programs. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { WORKSPACES } from '../../../src/apimachinery/resources.ts'
import { kubectlKubestellar } from '../../../src/cli/kubestellar/program.ts'
import { FIRST_OBJECTS } from '../../../src/cli/orrery/server/placementOptions.ts'
import { kubectlWs } from '../../../src/cli/ws/program.ts'
import { httpClient } from '../../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../../src/client/kubeconfig.ts'
import { SYNC_TARGETS } from '../../../src/placement/words/placement.ts'
import { startTestServer, temporaryDir } from '../../support/server.ts'

const { server } = await startTestServer(t, { more: { firstObjects: FIRST_OBJECTS } })
const { options, base } = await loadKubeconfig(server.kubeconfigPath)
const client = httpClient({ ...options, server: base })
t.teardown(() => client.close())
const main = join(temporaryDir(t), 'main')
copyFileSync(server.kubeconfigPath, main)

/** Runs a plugin; `answer`: the input of a person at a terminal's prompt, after what comes to pass `meanwhile`. */
async function run(line: string, answer?: string, meanwhile?: () => Promise<unknown>) {
  const [out, err, asked]: [string[], string[], string[]] = [[], [], []]
  const terminal = {
    out: (text: string) => void out.push(text),
    err: (text: string) => void err.push(text),
    ...(answer !== undefined && {
      async ask(question: string) {
        asked.push(question)
        await meanwhile?.()
        return answer
      },
    }),
  }
  const [plugin, ...args] = line.split(' ')
  const program = plugin === 'ws' ? kubectlWs : kubectlKubestellar
  const code = await program([...args, '--kubeconfig', main], terminal)
  return { code, out, err, asked }
}

async function document(line: string): Promise<Record<string, unknown>> {
  const { code, out } = await run(`${line} -o json`)
  t.equal(code, 0, line)
  return JSON.parse(out.join('\n'))
}

const names = async (parent: string): Promise<string[]> =>
  (await client.in(parent).list(WORKSPACES)).items.map(({ metadata }) => metadata.name!)

t.test('a space is deleted with what is below it, and a person is asked before', async t => {
  await run('ws ensure root:shops:milano')
  t.match(await run('ws delete root:shops', 'n'), {
    code: 1,
    asked: [
      'This deletes the workspace "root:shops", 1 workspace in it with all objects, and what it placed in clusters. Go on? [y/N] ',
    ],
    out: [],
    err: ['Error: nothing was changed'],
  })
  t.match(await run('ws delete root:shops', ''), { code: 1 }, 'whoever leaves the question has not confirmed')
  t.ok((await names('root')).includes('shops'))
  t.match(await run('ws delete shops', 'y'), { code: 0, out: ['workspace.tenancy.kcp.io "shops" deleted'] })
  t.notOk((await names('root')).includes('shops'))

  await run('ws ensure root:bars')
  t.match(await run('ws delete :root:bars --yes', 'n'), { code: 0, asked: [] }, 'who says so is not asked')
  await run('ws ensure root:bars')
  t.match(await run('ws delete root:bars'), { code: 0, asked: [] }, 'a script is not asked')
  t.match(await run('ws delete root:bars --ignore-not-found'), { code: 0, out: [], err: [] })
  t.match(await run('ws delete root:bars', 'y'), {
    code: 1,
    asked: [],
    err: [/^Error: workspace "root:bars" not found/],
  })
  t.match(await run('ws delete root:wmw2'), {
    code: 1,
    err: ['Error: workspace "root:wmw2" not found; did you mean "wmw1"?'],
  })
  for (const path of ['.', '-', '~', ':root', ''])
    t.match(await run(`ws delete ${path}`), { code: 1, out: [], err: [/^Error: .*(name a workspace|no parent)/] }, path)
})

t.test('a yes is about what the question was about, and not about one that came into its place', async t => {
  const anew = () => run('ws delete root:shops').then(() => run('ws ensure root:shops'))
  for (const line of ['ws delete root:shops', 'kubestellar remove team shops']) {
    await run('kubestellar ensure team shops --imw root:imw1 --members shops')
    const { code, err } = await run(line, 'y', anew)
    t.match({ code, last: err.at(-1) }, { code: 1, last: /might have been deleted and then recreated/ }, line)
    t.ok((await names('root')).includes('shops'))
    await run('ws delete root:shops')
  }
})

t.test('what takes consent or credentials away asks too', async t => {
  await run('kubestellar ensure location florin --imw root:imw1 env=prod ring=1')
  await run('kubestellar ensure team shops --imw root:imw1 --members shops')
  for (const [line, question] of [
    ['ungrant --imw root:imw1 root:wmw1', /takes back what root:wmw1 was granted on root:imw1/],
    ['remove location florin --imw root:imw1', /leaves what was placed there as it is\. Go on/],
    ['remove location florin --imw root:imw1 --workload delete', /deletes what was placed there\. Go on/],
    ['remove wmw wmw1', /deletes the workspace "root:wmw1"/],
    ['remove team shops', /deletes team "shops": the workspace root:shops with all that is in it/],
    ['syncer revoke florin --imw root:imw1', /ends every credential of the syncer of florin/],
    ['syncer remove florin --imw root:imw1', /ends every credential of the syncer of florin/],
  ] as const) {
    const { code, asked, err } = await run(`kubestellar ${line}`, 'no')
    t.match({ code, asked, err }, { code: 1, asked: [question], err: ['Error: nothing was changed'] }, line)
  }
  t.match(await run('kubestellar remove team shops'), { code: 0, asked: [] }, 'a script is not asked')
  t.match(await run('kubestellar remove location nowhere --imw root:imw1', 'no'), {
    code: 1,
    asked: [],
    err: ['Error: there is no SyncTarget and no Location "nowhere"'],
  })
})

t.test('labels of a location are taken away as kubectl takes them', async t => {
  t.match(await run('kubestellar ensure location florin --imw root:imw1 ring-'), {
    code: 0,
    out: ['synctarget.edge.kubestellar.io/florin unlabeled', 'location.edge.kubestellar.io/florin unlabeled'],
  })
  const target = await client.in('root:imw1').get(SYNC_TARGETS, { name: 'florin' })
  t.strictSame(target.metadata.labels, { id: 'florin', env: 'prod' })
  t.match(await run('kubestellar ensure location florin --imw root:imw1 ring-'), { code: 0, out: [] })
})

t.test('slips are understood', async t => {
  t.match(await run('ws root:wmw'), {
    code: 1,
    err: ['Error: workspace "root:wmw" not found; the nearest workspace that exists is "root"; did you mean "wmw1"?'],
  })
  t.match(await run('ws creat x'), { code: 1, err: [/^Error: unknown command "creat"; did you mean "create"/] })
  t.match(await run('ws root:a root:b'), {
    code: 1,
    err: [/^Error: one path at a time, and there is "root:b" after "root:a"/],
  })
  t.match(await run('ws tre'), {
    code: 1,
    err: [/workspace "root:tre" not found.*; did you mean the command "tree"\?$/],
  })
  t.match(await run('ws rot'), { code: 1, err: [/workspace "root:rot" not found.*; did you mean "root"\?$/] })
  t.match(await run('ws rooot:imw1'), { code: 1, err: [/not found.*; did you mean "root:imw1"\?$/] })
  t.match(await run('ws :rot:imw1'), { code: 1, err: [/workspace "rot:imw1" not found; did you mean ":root:imw1"\?$/] })
  const sought = 'kubestellar prep-for-syncer florim --imw root:imw1'
  t.match(await run(sought), {
    code: 1,
    err: ['Error: synctargets.edge.kubestellar.io "florim" not found in root:imw1; did you mean "florin"?'],
  })
  t.match(await run('kubestellar prep-for-syncer zebra --imw root:imw1'), {
    code: 1,
    err: ['Error: synctargets.edge.kubestellar.io "zebra" not found in root:imw1'],
  })
})

t.test('in the wrong place it says where that is, and where to go', async t => {
  await run('ws root')
  const nothing =
    /^Note: nothing is placed from root: it uses no inventory, .*; yours: root:wmw1\. Name another space with --space/
  t.match(await run('kubestellar status'), { code: 0, err: [nothing] })
  t.match(await run('kubestellar status --space root:wmw1 -n shop'), {
    code: 0,
    err: [/^Note: placements have no namespace/],
  })
  t.match(await run('kubestellar why cm/x --space imw1'), {
    code: 1,
    err: [
      /^Error: root:imw1 is no workload space: it serves no EdgePlacements.*; yours: root:wmw1; name another space/,
    ],
  })
  t.match(await run('kubestellar why dpeloy/x --space root:wmw1'), { code: 1, err: [/did you mean "deploy"/] })
  t.match(await run('ws tree --space root:imw1'), { code: 0, out: ['.', '└── imw1'] })
  t.match(await run('ws create below --space imw1'), { code: 0 })
  t.match(await run('ws list --space root:imw1 -o name'), { out: ['root:imw1:below'] })
  t.match(await run('ws delete below --space imw1'), { code: 0 })
  t.match(await run('ws .'), { out: ["Current workspace is 'root'."] }, 'the current one stays')
  t.match(await run('kubestellar ensure location guilder --space root:imw1 env:prod'), {
    code: 1,
    err: ['Error: "env:prod" is no label: write NAME=VALUE, or NAME- to take one away; did you mean env=prod?'],
  })
})

t.test('where no context is current it says in which file, and what to do', async t => {
  const text = readFileSync(main, 'utf8')
  writeFileSync(main, text.replace(/^current-context: .*$/m, ''))
  t.match(await run('ws tree'), {
    code: 1,
    err: [
      /^Error: no context is current in \S+\/main; run "kubectl config use-context \S+" or name one with --context; there is: /,
    ],
  })
  writeFileSync(main, 'apiVersion: v1\nkind: Config\n')
  t.match(await run('ws tree'), {
    code: 1,
    err: [/no context is current in \S+\/main, and none is there; "orrery kubeconfig"/],
  })
  writeFileSync(main, text)
})

t.test('names alone, for scripts', async t => {
  await run('ws root')
  const { out } = await run('ws tree -o name')
  t.match(out.slice(0, 2), ['root', /^root:\w+$/])
  t.match(
    (await run('ws list -o name')).out,
    out.filter(path => path.split(':').length === 2),
  )
})

t.test('without a path it says from where it goes home', async t => {
  await run('ws root:imw1')
  const { err, out } = await run('ws')
  t.match(err, [
    "Note: 'kubectl ws' without a path goes home, away from 'root:imw1'. 'kubectl ws -' goes back, 'kubectl ws .' prints where you are.",
  ])
  t.match(out, ["Current workspace is 'root' (type root)."])
})

t.test('home it does not say that it leaves home, and an empty path is none', async t => {
  await run('ws root')
  t.strictSame((await run('ws')).err, ['Note: there are no home workspaces; ~ is root.'])
  await run('ws root:imw1')
  const unset = await run('ws ')
  t.match(unset, { code: 0, out: ["Current workspace is 'root' (type root)."] })
  t.match(unset.err[0], /^Note: 'kubectl ws' without a path goes home, away from 'root:imw1'/)
})

t.test('a kubeconfig that is old, or of another server, is named as the reason', async t => {
  const text = readFileSync(server.kubeconfigPath, 'utf8')
  const { issueCa, issueClient } = await import('../../../src/apiserver/pki/issue.ts')
  const other = await issueCa({ commonName: 'another', nowMs: Date.now(), days: 1 })
  const person = { commonName: 'somebody', organizations: ['system:masters'], days: 1 }
  const foreign = await issueClient({ ca: other, ...person, nowMs: Date.now() })
  const ended = await issueClient({ ca: other, ...person, nowMs: Date.UTC(2020, 0, 1) })
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64')
  const given = (field: string, pem: string) => (from: string) =>
    from.replace(new RegExp(`${field}-data: *\\S+`), `${field}-data: ${base64(pem)}`)
  const credential = ({ certPem, keyPem }: { certPem: string; keyPem: string }): string =>
    given('client-key', keyPem)(given('client-certificate', certPem)(text))
  const failing = async (kubeconfig: string): Promise<string> => {
    const path = join(t.testdir({ kubeconfig }), 'kubeconfig')
    const err: string[] = []
    const code = await kubectlWs(['tree', '--kubeconfig', path], { out: t.fail, err: line => void err.push(line) })
    t.equal(code, 1)
    return err.join()
  }
  t.equal(
    await failing(credential(foreign)),
    `Error: ${base}: Unauthorized: the credential of context "root" does not count there (any more); get its kubeconfig anew`,
  )
  t.match(await failing(credential(ended)), /Unauthorized: the client certificate of context "root" ended at 2020-01-0/)
  t.match(
    await failing(given('certificate-authority', other.certPem)(text)),
    /certificate.*: what answers there is not certified by the authority of context "root"; get its kubeconfig anew/,
  )
})

t.test('what is printed for people is there for programs', async t => {
  t.match(await document('ws list'), { kind: 'List', items: [{ kind: 'Workspace' }] })
  t.match(await document('ws tree'), {
    apiVersion: 'cli.edge.kubestellar.io/v1',
    kind: 'SpaceTree',
    path: 'root',
    children: [{ path: 'root:compute' }, { path: 'root:espw' }],
  })
  t.match(await document('ws current'), { kind: 'CurrentSpace', path: 'root', server: `${base}/clusters/root` })
  t.match(await document('ws root:imw1'), { path: 'root:imw1', type: 'root:inventory' })
  t.match(await document('ws budget'), { kind: 'SpaceBudget' })
  t.match(await document('ws create below --context root'), { kind: 'Workspace', status: { phase: 'Ready' } })
  t.match(await document('kubestellar grants'), { kind: 'List', items: [{ kind: 'PlacementGrant' }] })
  t.match(await document('kubestellar syncer list'), {
    kind: 'SyncerList',
    items: [{ syncTarget: 'florin', ready: 'Unknown', credentials: [] }],
  })
  const { out } = await run('ws list --context root -o yaml')
  t.match(parse(out.join('\n')), { kind: 'List' })
  t.match(parse(readFileSync(main, 'utf8')), { 'current-context': 'workspace.kcp.io/current' })
})
