/**
 * A cluster behind a gateway that breaks off, loses answers, answers nonsense or will not stop. The syncer's process lives, keeps its
 * memory within bounds, and touches nothing of the cluster's own. Once the answers are right again all is as it should be.
 */
import { readFileSync } from 'node:fs'
import http2 from 'node:http2'
import { join } from 'node:path'
import t from 'tap'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { Gateway, type Mischief } from '../syncer/support/gateway.ts'
import { at, Center, clientOf, gone, is, map, register } from '../syncer/support/installation.ts'
import { MAPS, NAMESPACES } from '../syncer/support/kinds.ts'
import { Command, Program, until } from '../syncer/support/processes.ts'
import { assetsDir, startRealCluster } from '../syncer/support/realCluster.ts'

t.setTimeout(FILE_LIMIT_MS)

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_INTERNAL_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants
const JSON_TYPE = { 'content-type': 'application/json' }
const answering = (status: number, body: string, headers: object = JSON_TYPE): Mischief => ({
  before(stream) {
    stream.respond({ ':status': status, ...headers })
    stream.end(body)
  },
})
const breaking = (code: number): Mischief => ({ before: stream => stream.close(code) })

/** A body that never ends. */
const endless = (status: number): Mischief => ({
  before(stream) {
    stream.respond({ ':status': status, ...JSON_TYPE })
    const chunk = Buffer.alloc(256 * 1024, 'x')
    const more = (): void => {
      while (!stream.destroyed && stream.write(chunk));
    }
    stream.on('drain', more)
    more()
  },
})

const MISCHIEF: readonly (readonly [what: string, mischief: Mischief])[] = [
  ['nonsense for an answer', answering(200, '<html>sign in</html>')],
  ['a list for an answer', answering(200, '{"kind":"List","metadata":{},"items":[null,7,{}]}')],
  ['an object without metadata', answering(200, '{"kind":"ConfigMap","metadata":{"name":7}}')],
  ['a Status of wrong types', answering(422, '{"kind":"Status","code":"x","reason":7,"details":[],"message":{}}')],
  ['busy without a wait', answering(429, 'too many', { 'retry-after': '0' })],
  ['away', answering(503, 'no server is available')],
  ['a stream that is cancelled', breaking(NGHTTP2_CANCEL)],
  ['a stream that is refused', breaking(NGHTTP2_REFUSED_STREAM)],
  ['a connection that is too much', { before: stream => stream.session?.goaway(NGHTTP2_ENHANCE_YOUR_CALM, 0) }],
  ['a connection that breaks', { before: stream => stream.session?.destroy() }],
  ['done, and the answer is lost', { after: stream => stream.close(NGHTTP2_INTERNAL_ERROR) }],
  ['done, and called refused', { after: stream => stream.close(NGHTTP2_REFUSED_STREAM) }],
  ['done, and the connection breaks', { after: stream => stream.session?.destroy() }],
  [
    'done, and half of the answer comes',
    {
      after(stream, answer) {
        stream.respond({ ':status': 200, ...JSON_TYPE })
        stream.end(answer.subarray(0, answer.length / 2))
      },
    },
  ],
  ['an answer without end', endless(200)],
  ['a refusal without end', endless(500)],
]

const CLUSTERS = [
  { name: 'a stand-in', skip: false as const },
  { name: 'a real kube-apiserver', skip: assetsDir() === undefined && 'KUBEBUILDER_ASSETS is not set' },
]
for (const { name, skip } of CLUSTERS)
  t.test(name, { skip }, async t => {
    const dir = temporaryDir(t)
    const center = new Center(t, join(dir, 'center'))
    const wec = join(dir, 'wec')
    const cluster = async (): Promise<string> => {
      if (name !== 'a stand-in') return await startRealCluster(t, wec)
      await new Command(t, ['simulate-wec', '--name', 'florin', '--data-dir', wec, '--secure-port', '0']).said('ready')
      return join(wec, 'admin.kubeconfig')
    }
    const [direct] = await Promise.all([cluster(), center.start()])
    const api = await clientOf(t, direct)
    await api.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    const theirs = await api.create(MAPS, map('theirs', { whose: 'the cluster' }))
    const fromCenter = join(dir, 'from.kubeconfig')
    await center.syncerKubeconfig(fromCenter, await register(center))
    const toCluster = join(dir, 'to.kubeconfig')
    const gateway = await Gateway.before(t, direct, toCluster)
    const flags = ['--from-kubeconfig', fromCenter, '--to-kubeconfig', toCluster, '--state-dir', join(dir, 'state')]
    const syncer = Program.orrery(t, ['syncer', ...flags])
    const wds = center.in('root:wmw1')
    await wds.create(MAPS, map('edited', { x: '0' }))
    await wds.create(MAPS, map('theirs', { whose: 'the space' }))
    await until(api, MAPS, at('edited'), is('data', { x: '0' }))

    let turn = 0
    for (const [what, mischief] of MISCHIEF) {
      await t.test(what, async t => {
        const x = `${++turn}`
        await wds.create(MAPS, map(`deleted-${x}`, { x }))
        await until(api, MAPS, at(`deleted-${x}`), is('data', { x }))
        gateway.turn(mischief)
        await wds.create(MAPS, map(`made-${x}`, { x }))
        await wds.patch(MAPS, at('edited'), 'merge', { data: { x } })
        await wds.delete(MAPS, at(`deleted-${x}`))
        await gateway.hasMet(4)
        gateway.turn(undefined)
        await until(api, MAPS, at(`made-${x}`), is('data', { x }))
        await until(api, MAPS, at('edited'), is('data', { x }))
        await until(api, MAPS, at(`deleted-${x}`), gone)
        const { metadata, data } = await api.get(MAPS, at('theirs'))
        t.same([metadata.uid, data], [theirs.metadata.uid, { whose: 'the cluster' }], 'nothing foreign was touched')
        t.ok(peakMiB(syncer.pid) < 256, `${peakMiB(syncer.pid)} MiB at most`)
        t.equal(
          syncer.lines.filter(line => line.includes('"msg":"syncer started"')).length,
          1,
          'it serves without a break',
        )
      })
    }
    t.equal(await syncer.end('SIGTERM'), 0, 'it lived all along')
  })

/** The most memory that a process ever had. */
function peakMiB(pid: number | undefined): number {
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024)
}
