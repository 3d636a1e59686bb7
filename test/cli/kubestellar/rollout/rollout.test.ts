/** `rollout …`: what people read of rollouts and write to them. The controllers' part is played by the test. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { embeddedClient } from '../../../../src/apiserver/embedded/embeddedClient.ts'
import { kubectlKubestellar } from '../../../../src/cli/kubestellar/program.ts'
import { FIRST_OBJECTS } from '../../../../src/cli/orrery/server/placementOptions.ts'
import type { RevisionsRequest } from '../../../../src/placement/desks/placementPreview.ts'
import {
  EDGE_PLACEMENTS,
  PLACEMENT_LABEL,
  PLACEMENT_REVISIONS,
  PLACEMENT_ROLLOUTS,
} from '../../../../src/placement/words/placement.ts'
import { ON_MAIN_THREAD, startTestServer, temporaryDir } from '../../../support/server.ts'

const { server } = await startTestServer(t, { more: { ...ON_MAIN_THREAD.more, firstObjects: FIRST_OBJECTS } })
const { services, store, tree } = server
const space = tree.idAt('root:wmw1')!
const center = embeddedClient({ services, store, tree, component: 'placement-translator' }).in(space)
const admin = join(temporaryDir(t), 'admin')
copyFileSync(server.kubeconfigPath, admin)

const ks = (line: string, heard?: (text: string) => void) => typed(`rollout ${line}`, heard)
async function typed(line: string, heard: (text: string) => void = () => {}) {
  const [out, err]: [string[], string[]] = [[], []]
  const said = (to: string[]) => (text: string) => {
    to.push(text)
    heard(text)
  }
  const terminal = { out: said(out), err: said(err) }
  const args = [...line.split(' '), '--space', 'root:wmw1', '--kubeconfig', admin]
  return { code: await kubectlKubestellar(args, terminal), out, err }
}

const V1ALPHA1 = 'edge.kubestellar.io/v1alpha1'
const AT = '2026-11-30T12:00:00Z'
const decisionGroups = ['canary', 'prod'].map(groupName => ({
  groupName,
  locationSelector: { matchLabels: { env: groupName } },
  approval: groupName === 'prod',
}))
const rolloutStrategy = { type: 'Progressive', progressive: { maxConcurrency: 1 }, decisionGroups }
const metadata = (placement: string, n: number) => ({
  name: `${placement}.${n}`,
  labels: { [PLACEMENT_LABEL]: placement },
})

async function revise(placement: string, revision: number, run = revision): Promise<void> {
  const about = { placement, placementUID: 'u', revision, by: `editor-${revision}`, at: AT }
  const changed = ['deployments.apps shop/web', 'configmaps shop/web']
  await center.create(PLACEMENT_REVISIONS, {
    apiVersion: V1ALPHA1,
    kind: 'PlacementRevision',
    metadata: metadata(placement, revision),
    spec: { ...about, objects: 7, changed, changedCount: 9, resourceVersion: String(revision) },
  })
  await center.create(PLACEMENT_ROLLOUTS, {
    apiVersion: V1ALPHA1,
    kind: 'PlacementRollout',
    metadata: metadata(placement, revision),
    spec: { ...about, run, from: revision - 1, strategy: rolloutStrategy },
  })
}

const cluster = (name: string, state: string, more: object = {}) => ({
  key: `mb-${name}`,
  cluster: name,
  inventory: 'i',
  state,
  ...more,
})
async function report(placement: string, n: number, state: string, more: object = {}): Promise<void> {
  const status = { state, reason: state, message: `it is ${state}`, total: 2, done: 1, ...more }
  await center.patch(PLACEMENT_ROLLOUTS, { name: `${placement}.${n}` }, 'merge', { status }, { subresource: 'status' })
}
const specOf = async (resource: typeof PLACEMENT_ROLLOUTS, name: string) =>
  (await center.get(resource, { name })).spec as Record<string, unknown>

for (const name of ['web', 'api', 'plain']) {
  await center.create(EDGE_PLACEMENTS, {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'EdgePlacement',
    metadata: { name },
    spec: name === 'plain' ? {} : { rolloutStrategy },
  })
}

t.test('before there is a rollout, the answer says why', async t => {
  t.match(await ks('status web'), { code: 2, err: [/"web" has no rollout yet/] })
  t.match(await ks('status plain'), {
    code: 2,
    err: [/"plain" has no rollouts: its edits reach all clusters at once; set spec/],
  })
  t.match(await ks('status wbe'), { code: 2, err: [/no EdgePlacement "wbe"|edgeplacements.* "wbe" not found/] })
  t.match(await ks('pause plain'), { code: 1, err: [/has no rollouts/] })
  t.match(await ks('status'), { code: 0, out: ['no placement here has a rollout'] })
  t.match(await ks('pin plain --revision 1'), { code: 1, err: [/has no rollouts/] })
})

t.test('status shows the newest rollout cluster by cluster, and its exit code says how far it is', async t => {
  for (const n of [1, 2]) await revise('web', n)
  await report('web', 1, 'Done')
  await report('web', 2, 'Waiting', {
    message: 'group "prod" waits for an approval',
    clusters: [
      cluster('paris', 'Planned', {
        group: 'prod',
        reason: 'ApprovalRequired',
        message: 'group "prod" waits for an approval',
        revision: 1,
      }),
      cluster('rome', 'Planned', {
        group: 'prod',
        reason: 'ApprovalRequired',
        message: 'group "prod" waits for an approval',
        revision: 1,
        away: true,
      }),
      cluster('oslo', 'Done', { group: 'canary', revision: 2, began: AT }),
      cluster('bern', 'Failed', { group: 'canary', revision: 2, message: 'refused there' }),
    ],
  })
  const { code, out } = await ks('status web')
  t.equal(code, 3)
  t.match(out, [
    /^placement web: revision 2 after 1 by editor-2, .* ago$/,
    'Waiting: group "prod" waits for an approval',
    '',
    /^LOCATION +GROUP +STATE +REVISION +SINCE +MESSAGE$/,
    /^bern +canary +Failed +2 +refused there$/,
    /^paris +prod +Planned +1 +/,
    /^rome +prod +Planned +1 +away; group/,
    /^oslo +canary +Done +2 +\w+$/,
  ])
  for (const [state, expected] of [
    ['Running', 3],
    ['Paused', 3],
    ['Stuck', 3],
    ['Failed', 1],
    ['RolledBack', 1],
    ['Superseded', 1],
    ['Done', 0],
  ] as const) {
    await report('web', 2, state)
    t.equal((await ks('status web')).code, expected, state)
  }
  await report('web', 2, 'Superseded', { reason: 'NewerRevision' })
  t.equal((await ks('status web')).code, 3, 'the newer one is about to begin')
  t.equal((await ks('status web --revision 2')).code, 1)
  await report('web', 2, 'Superseded', { reason: 'NotStaged' })
  t.equal((await ks('status web')).code, 0, 'without stages all clusters get the newest content')
  await report('web', 2, 'Done', { reason: 'Done' })
  const conditions = [{ type: 'RolledOut', status: 'False', reason: 'RolledBack', message: 'revision 3: it failed' }]
  const set = (status: object) =>
    center.patch(EDGE_PLACEMENTS, { name: 'web' }, 'merge', { status }, { subresource: 'status' })
  await set({ conditions })
  t.equal((await ks('status web')).code, 1, 'the way back is done, and the edit is not')
  t.equal((await ks('status web --revision 2')).code, 0)
  await set({ conditions: null })
  t.match(await ks('status web --revision 1'), { code: 0, out: [/revision 1/, 'Done: it is Done'] })
  t.match(await ks('status web --revision 7'), { code: 2, err: [/no rollout of revision 7; there are those of 2, 1/] })
  t.match(await ks('status web -o name'), { out: ['web.2'] })
  const document = JSON.parse((await ks('status web -o json')).out.join('\n'))
  t.match(document, {
    kind: 'RolloutStatus',
    rollouts: [{ placement: 'web', revision: 2, state: 'Done', clusters: [{ location: 'paris' }] }],
  })
})

t.test('without a name, one line for each placement', async t => {
  await revise('api', 1)
  await report('api', 1, 'Running')
  const { code, out } = await ks('status')
  t.equal(code, 3)
  t.match(out, [/^PLACEMENT +REVISION +STATE +DONE/, /^api +1 +Running +1\/2 +editor-1/, /^web +2 +Done/])
  t.match(await ks('status --watch'), { code: 2, err: [/name the placement/] })
  t.match(await ks('status web --timeout 5s'), { code: 2, err: [/--timeout is about --watch/] })
})

t.test('a watch ends with the rollout', async t => {
  await report('api', 1, 'Running')
  const steps: Promise<void>[] = []
  const { code, out } = await ks('status api --watch', text => {
    if (text.startsWith('Running')) steps.push(report('api', 1, 'Failed', { message: 'bern failed' }))
  })
  await Promise.all(steps)
  t.equal(code, 1)
  t.match(
    out.filter(line => /^[A-Z]\w+:/.test(line)),
    ['Running: it is Running', 'Failed: bern failed'],
  )
  await report('api', 1, 'Running')
  t.match(await ks('status api --watch --timeout 0'), { code: 3, err: [/has not come to its end/] })
})

t.test('a pause is taken back; what has ended is not paused', async t => {
  t.match(await ks('pause web'), { code: 1, err: [/the rollout of revision 2 has come to its end: it is Done/] })
  t.match(await ks('pause api'), { code: 0, out: ['placementrollout.edge.kubestellar.io/api.1 paused'] })
  t.match(await specOf(PLACEMENT_ROLLOUTS, 'api.1'), { paused: true, pausedBy: { by: /\w/ } })
  t.match(await ks('pause api'), { code: 0, out: [/already paused/] })
  await report('api', 1, 'Done')
  const status = await ks('status api')
  t.equal(status.code, 0)
  t.match(
    status.out.join('\n'),
    /newer edits wait, too: kubectl kubestellar rollout resume ends that/,
    'also when it is over',
  )
  await report('api', 1, 'Running')
  t.match(await ks('resume api'), { code: 0, out: [/resumed/] })
  t.notHas(await specOf(PLACEMENT_ROLLOUTS, 'api.1'), { paused: true })
  t.match(await ks('resume api'), { code: 0, out: [/is not paused/] })
})

t.test('an approval is for the group that waits, or the one that is named', async t => {
  t.match(await ks('approve api'), { code: 1, err: [/no group .* waits for an approval; name one with --group: prod/] })
  t.match(await ks('approve api --group canary'), {
    code: 1,
    err: [/Unsupported value: "canary": supported values: "prod"/],
  })
  await report('api', 1, 'Waiting', {
    clusters: [cluster('rome', 'Planned', { group: 'prod', reason: 'ApprovalRequired' })],
  })
  t.match(await ks('approve api'), { code: 0, out: [/api\.1 approved for group prod/] })
  t.match(await specOf(PLACEMENT_ROLLOUTS, 'api.1'), { approvals: [{ group: 'prod', by: /\w/ }] })
  t.match(await ks('approve api --group prod'), { code: 0, out: [/already approved for group prod by/] })
  t.match(await ks('approve api'), { code: 1, err: [/none of its groups takes one/] })
})

t.test('hurrying is confirmed', async t => {
  const asked: string[] = []
  const terminal = {
    out: () => {},
    err: () => {},
    ask: async (question: string) => (asked.push(question) > 1 ? 'y' : 'n'),
  }
  const args = ['rollout', 'expedite', 'api', '--space', 'root:wmw1', '--kubeconfig', admin]
  t.equal(await kubectlKubestellar(args, terminal), 1)
  t.match(asked, [/This gives revision 1 to 1 more clusters at once, past all stages\. Go on\?/])
  t.notHas(await specOf(PLACEMENT_ROLLOUTS, 'api.1'), { urgent: true })
  const late = async () => {
    await report('api', 1, 'Superseded')
    return 'y'
  }
  t.equal(await kubectlKubestellar(args, { ...terminal, ask: late }), 1, 'it ends amid the question')
  t.notHas(await specOf(PLACEMENT_ROLLOUTS, 'api.1'), { urgent: true })
  await report('api', 1, 'Running')
  t.match(await ks('expedite api'), { code: 0, out: [/api\.1 expedited/] })
  t.match(await specOf(PLACEMENT_ROLLOUTS, 'api.1'), { urgent: true, urgentBy: { by: /\w/ } })
})

t.test('undo pins the last finished revision before this one, and unpin lifts it', async t => {
  await revise('web', 3)
  await report('web', 3, 'Failed')
  t.match(await ks('undo web'), { code: 0, out: ['placementrevision.edge.kubestellar.io/web.2 pinned'] })
  t.match(await specOf(PLACEMENT_REVISIONS, 'web.2'), { pinned: true, pinnedBy: { by: /\w/ } })
  t.match(await ks('pin web --revision 1'), { code: 0, out: [/web\.1 pinned/, /web\.2 unpinned/] })
  t.match(await ks('pin web --revision 1'), { code: 0, out: [/web\.1 already pinned/] })
  t.match(await ks('pin web --revision 9'), { code: 1, err: [/has no revision 9; it keeps 3, 2, 1/] })
  t.match(await ks('history web'), {
    code: 0,
    out: [
      /^REVISION +BY +AGE +ROLLOUT +OBJECTS +CHANGED$/,
      /^3 +editor-3 +\w+ +Failed +7 +deployments\.apps shop\/web, configmaps shop\/web and 7 more$/,
      /^2 +editor-2 +\w+ +Done +7/,
      /^1 +editor-1 +\w+ +Done \(pinned\) +7/,
    ],
  })
  t.match(await ks('unpin web'), { code: 0, out: [/web\.1 unpinned/] })
  t.match(await ks('unpin web'), { code: 0, out: ['EdgePlacement "web" is pinned at no revision'] })
  t.match(await ks('undo api'), { code: 1, err: [/no revision before 1 was finished/] })
})

t.test('what a revision changed, what differs from it now, and who made an object as it was', async t => {
  const asked: RevisionsRequest[] = []
  const map = (page: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' }, data: { page } })
  server.desks.previews.deliverTo({
    preview: async () => ({ objects: [], rollouts: [] }),
    consequence: async () => undefined,
    locationFaults: async () => [],
    compare: async request => {
      asked.push(request)
      const { objects, placement } = request
      if (placement === 'api' && objects) return { objects: [], rollouts: [] }
      const content = { before: map('one'), after: map('two') }
      const groups = [{ action: 'Update' as const, count: 0, locations: [], ...content }]
      const about = { group: '', resource: 'configmaps', kind: 'ConfigMap', namespace: 'shop', name: 'web' }
      const found = { ...about, operation: 'unchanged' as const, placements: [placement], groups, revision: 1 }
      return { objects: [found], rollouts: [], ...(!objects && { hidden: 2 }) }
    },
  })
  await revise('api', 2)
  t.match(await ks('history web --revision 3'), {
    code: 0,
    out: [
      /^revision 3 of placement web, by editor-3, \w+ ago$/,
      'Failed: it is Failed',
      'configmaps "shop/web" differs',
      '--- revision 2',
      '+++ revision 3',
      /^@@/,
      /apiVersion/,
      /data:/,
      '-  page: one',
      '+  page: two',
    ],
  })
  t.match(asked.splice(0), [{ placement: 'web', from: 2, to: 3, objects: undefined }])
  const whole = await typed('diff edgeplacement/web --revision 2')
  t.equal(whole.code, 1)
  t.match(whole.out, [
    /^revision 2 of placement web, by editor-2, .* ago, and now$/,
    /differs/,
    '--- revision 2',
    '+++ now',
  ])
  t.equal(whole.out.at(-1), '2 objects that you may not get may differ, too')
  t.match(asked.splice(0), [{ placement: 'web', from: 2, to: undefined, objects: undefined }])
  const one = await typed('diff configmap/web -n shop --revision 2')
  t.match(one, { code: 1, out: [/^revision 2 of placement web/, 'configmaps "shop/web" differs'] })
  const objects = [{ group: '', resource: 'configmaps', namespace: 'shop', name: 'web' }]
  const both = ['api', 'web'].map(placement => ({ placement, from: 2, to: undefined, objects }))
  t.match(asked.splice(0), both, 'a number is that of each placement')
  t.match(await typed('diff configmap/web -n shop --revision web.2 -o name'), { code: 1, out: ['configmaps/web'] })
  t.match(asked.splice(0), [{ placement: 'web', from: 2 }])
  t.match(await typed('diff configmap/web -n shop --revision api.2'), { code: 2, err: [/is in no revision api\.2/] })
  for (const [line, code, message] of [
    ['diff configmap/web --revision 9', 2, /no placement here has a revision 9/],
    ['diff edgeplacement/web --revision 9', 2, /"web" has no revision 9; it keeps 3, 2, 1/],
    ['diff configmap/web --revision last', 2, /"last" is no revision: give its number, or PLACEMENT\.NUMBER/],
    ['diff configmap/web --revision web.7', 2, /"web\.7" not found/],
    ['diff configmap/web --revision 2 --cluster oslo', 2, /leave out --cluster/],
    ['why configmap/web --at 9', 1, /no placement here has a revision 9/],
    ['why configmap/web --at 2 --watch', 1, /leave out --watch/],
    ['why configmap/web --at web.2 --cluster atlantis', 1, /no location called "atlantis"/],
    ['rollout history web --revision 9', 1, /has no revision 9; it keeps 3, 2, 1/],
  ] as const)
    t.match(await typed(line), { code, err: [message] }, line)
  asked.splice(0)
  const { code, out } = await typed('why configmap/web -n shop --at web.2')
  t.equal(code, 0)
  t.match(out, [
    /^configmaps "shop\/web" is in revision 2 of placement web by editor-2, \w+ ago, as revision 1 made it by editor-1, \w+ ago$/,
    'it is otherwise now: kubectl kubestellar diff configmaps/web -n shop --revision web.2 shows how',
    '',
    /^placement web: revision 2 after 1 by editor-2/,
    'Done: it is Done',
  ])
  await revise('both', 2)
  const changed = ['locations.acme.io shop/here', 'locations.edge.kubestellar.io 1x/florin']
  await center.patch(PLACEMENT_REVISIONS, { name: 'both.2' }, 'merge', { spec: { changed } })
  t.equal((await ks('history both --revision 2')).out.at(-1), 'parameters of locations changed: florin')
  t.match(
    await typed('why configmap/web -n shop --at 2 --cluster oslo -o name'),
    { code: 0, out: ['web.2'] },
    'another placement does not lead there',
  )
  t.match(JSON.parse((await typed('why configmap/web -n shop --at web.2 -o json')).out.join('')), {
    kind: 'WhyAt',
    revisions: [
      { placement: 'web', revision: 2, by: 'editor-2', since: { revision: 1, by: 'editor-1', at: AT }, now: 'other' },
    ],
  })
})
