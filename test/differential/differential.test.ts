/**
 * The same requests to Orrery and to a real kube-apiserver: a space should look like a cluster's API. Without a kube-apiserver
 * (KUBEBUILDER_ASSETS) Orrery is held to what was recorded. After a change that is meant: `RECORD=1 node
 * test/differential/differential.test.ts` writes the recordings anew; the diff is what has changed for users. An answer that is new or has
 * changed needs a peer that judges it, or a reason why none can.
 */
import t, { type Test } from 'tap'
import { ask, prepareBadCases, seen, wanted } from '../apiserver/badInput/badCase.ts'
import { bodyCases } from '../apiserver/badInput/bodies.ts'
import { patchCases } from '../apiserver/badInput/patches.ts'
import { queryCases } from '../apiserver/badInput/queries.ts'
import type { Api } from '../support/api.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { startTestServer } from '../support/server.ts'
import { judge120, judgeToday, report } from './compare.ts'
import { countsOf } from './counts.ts'
import { judgeName, type Opinion, withoutVersion } from './judges.ts'
import { noPeer, startPeer, versionOf } from './peer.ts'
import { type Outcome, type PlayOptions, play } from './play.ts'
import { judged, lineOf, linesOf, type Recorded, readRecording, writeRecording } from './recording.ts'
import type { Peer } from './script.ts'
import { scripts } from './scripts/index.ts'
import { stepIds } from './stepIds.ts'
import { noToday, startToday } from './today.ts'

t.setTimeout(FILE_LIMIT_MS)
const only = process.env.SCRIPT
const chosen = scripts.filter(script => only === undefined || only.split(',').includes(script.name))
const { api, faults } = await startTestServer(t)
const played = new Map<string, Outcome[]>()
for (const script of chosen) played.set(script.name, await play(api, script))
/** Answers of the present peers, by script. */
const opinions = new Map<string, Opinion[]>(chosen.map(({ name }) => [name, []]))

t.test('kube-apiserver answers the same', { skip: noPeer }, async t => {
  const peer = await startPeer(t)
  await compare(t, 'kube-apiserver', peer, { is120: true })
  await prepareBadCases(peer)
  for (const row of [...bodyCases, ...patchCases, ...queryCases]) {
    if (row.unlikeKube120) continue
    t.strictSame(seen(await ask(peer, row), row), wanted(row), `wrong request: ${row.method} ${row.name}`)
  }
})

t.test("today's apiextensions-apiserver answers the same", { skip: noToday }, async t => {
  const core = await startPeer(t)
  await compare(t, 'apiextensions', await startToday(t, core), { core })
})

async function compare(t: Test, peer: Peer, api: Api, options: PlayOptions): Promise<void> {
  const judge = judgeName(peer, await versionOf(api))
  for (const script of chosen) {
    const { peers = ['kube-apiserver'] } = script
    if (!peers.includes(peer)) continue
    const ours = played.get(script.name)!
    const theirs = await play(api, script, options)
    const verdicts = script.steps.map((step, i) => {
      if (peer === 'apiextensions') return judgeToday(step, ours[i]!, theirs[i]!)
      return step.since === undefined ? judge120(step, ours[i]!, theirs[i]!) : undefined
    })
    opinions.get(script.name)!.push({ judge, verdicts })
    const ids = stepIds(script.steps)
    const lines = script.steps.flatMap((step, i) => (verdicts[i] ? report(step, ids[i]!, verdicts[i]) : []))
    t.equal(lines.length, 0, `${script.name}: ${lines.length} unexplained\n  ${lines.join('\n  ')}`)
  }
}

t.test('Orrery answers as recorded', async t => {
  for (const script of chosen) {
    const ours = played.get(script.name)!
    const { recorded, refused } = judged(script, ours, opinions.get(script.name)!, readRecording(script))
    if (process.env.RECORD) {
      const why = `${script.name}: nobody judged these; have peers in KUBEBUILDER_ASSETS, or say in the script why none can`
      t.strictSame(refused, [], why)
      if (refused.length === 0) writeRecording(script, recorded)
    }
    t.strictSame(linesOf(script, ours), readRecording(script).map(lineOf), script.name)
  }
})

t.test('each recorded answer has a judge, or a reason why there is none', async t => {
  const recordings = new Map(chosen.map(script => [script.name, readRecording(script)]))
  for (const script of chosen) {
    const before = recordings.get(script.name)!
    const { recorded, refused } = judged(script, played.get(script.name)!, opinions.get(script.name)!, before)
    t.strictSame(refused, [], `${script.name}: nobody judged these`)
    const judgesOf = ({ id, judges = {}, unjudged }: Recorded): object =>
      unjudged === undefined ? { id, judges: Object.keys(judges).map(withoutVersion) } : { id, unjudged }
    t.strictSame(before.map(judgesOf), recorded.map(judgesOf), `${script.name}: else record it anew`)
  }
  for (const line of countsOf(recordings)) t.comment(line)
})

t.test('nothing of it was a fault of the server', async t => {
  t.strictSame(faults, [])
})
