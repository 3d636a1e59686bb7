/**
 * The same requests, asked of Orrery and of a real kube-apiserver: nobody should be able to tell a space from a cluster's API.
 * Without a kube-apiserver (KUBEBUILDER_ASSETS) Orrery is held to what was recorded. After a change that is meant:
 * `RECORD=1 node test/differential/differential.test.ts` writes the recordings anew; the diff is what has changed for users.
 */
import t, { type Test } from 'tap'
import { ask, prepareBadCases, seen, wanted } from '../apiserver/badInput/badCase.ts'
import { bodyCases } from '../apiserver/badInput/bodies.ts'
import { patchCases } from '../apiserver/badInput/patches.ts'
import { queryCases } from '../apiserver/badInput/queries.ts'
import { startTestServer } from '../support/server.ts'
import { judge, judgeToday, report, type Verdict } from './compare.ts'
import { noPeer, startPeer } from './peer.ts'
import { type Outcome, play } from './play.ts'
import { readRecording, recordedForm, writeRecording } from './recording.ts'
import type { Peer, Script, Step } from './script.ts'
import { scripts } from './scripts/index.ts'
import { noToday, startToday } from './today.ts'

t.setTimeout(120_000)
const only = process.env.SCRIPT
const chosen = scripts.filter(script => only === undefined || only.split(',').includes(script.name))
const askedOf = (peer: Peer): Script[] => chosen.filter(({ peers = ['kube-apiserver'] }) => peers.includes(peer))
const { api, faults } = await startTestServer(t)
const played = new Map<string, Outcome[]>()
for (const script of chosen) played.set(script.name, await play(api, script))

t.test('Orrery answers as recorded', async t => {
  for (const script of chosen) {
    const ours = played.get(script.name)!
    if (process.env.RECORD) writeRecording(script, ours)
    t.strictSame(recordedForm(script, ours), readRecording(script), script.name)
  }
})

t.test('kube-apiserver answers the same', { skip: noPeer }, async t => {
  const peer = await startPeer(t)
  for (const script of askedOf('kube-apiserver')) compare(t, script, await play(peer, script, { is120: true }), judge)
  await prepareBadCases(peer)
  for (const row of [...bodyCases, ...patchCases, ...queryCases]) {
    if (row.unlikeKube120) continue
    t.strictSame(seen(await ask(peer, row), row), wanted(row), `wrong request: ${row.method} ${row.name}`)
  }
})

t.test("today's apiextensions-apiserver answers the same", { skip: noToday }, async t => {
  const core = await startPeer(t)
  const peer = await startToday(t, core)
  for (const script of askedOf('apiextensions')) compare(t, script, await play(peer, script, { core }), judgeToday)
})

function compare(
  t: Test,
  script: Script,
  theirs: readonly Outcome[],
  judge: (step: Step, ours: Outcome, theirs: Outcome) => Verdict,
): void {
  const ours = played.get(script.name)!
  const lines = script.steps.flatMap((step, i) => report(step, i, judge(step, ours[i]!, theirs[i]!)))
  t.equal(lines.length, 0, `${script.name}: ${lines.length} unexplained\n  ${lines.join('\n  ')}`)
}

t.test('nothing of it was a fault of the server', async t => {
  t.strictSame(faults, [])
})
