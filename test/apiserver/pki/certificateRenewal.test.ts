/** A server that is never restarted: its certificates are replaced in time, and nobody who is connected notices. */
import type { X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:tls'
import t from 'tap'
import { CertificateRenewal } from '../../../src/apiserver/pki/certificateRenewal.ts'
import { ensurePki, type Pki } from '../../../src/apiserver/pki/ensurePki.ts'
import type { Clock } from '../../../src/client/clock.ts'
import { type Access, Api } from '../../support/api.ts'
import { accessOf, CONFIGMAPS, configMap, startTestServer } from '../../support/server.ts'

const DAY_MS = 86_400_000

/** Time that passes when the test says so. */
class TestClock implements Clock {
  nowMs: number
  #alarms: { atMs: number; run: () => void }[] = []

  constructor(nowMs: number) {
    this.nowMs = nowMs
  }

  now = (): number => this.nowMs
  after = (delayMs: number, run: () => void): (() => void) => {
    const alarm = { atMs: this.nowMs + delayMs, run }
    this.#alarms.push(alarm)
    return () => {
      this.#alarms = this.#alarms.filter(other => other !== alarm)
    }
  }

  get waiting(): number {
    return this.#alarms.length
  }

  /** Rings what is due up to then, each at its own time. */
  advanceTo(nowMs: number): void {
    for (;;) {
      const next = this.#alarms.toSorted((a, b) => a.atMs - b.atMs)[0]
      if (next === undefined || next.atMs > nowMs) break
      this.#alarms = this.#alarms.filter(other => other !== next)
      this.nowMs = next.atMs
      next.run()
    }
    this.nowMs = nowMs
  }
}

/** The serving certificate that a new connection is shown. */
function shown({ url, ca }: Access): Promise<X509Certificate> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), ...(ca && { ca }) }, () => {
      const certificate = socket.getPeerX509Certificate()
      socket.destroy()
      if (certificate) resolve(certificate)
      else reject(new Error('no certificate'))
    })
    socket.on('error', reject)
  })
}

t.test('a running server renews what it shows and the kubeconfig; open connections go on', async t => {
  // Made 340 days ago, so that old and new certificates are valid for the test's own clients.
  const clock = new TestClock(Date.now() - 340 * DAY_MS)
  const { api, server, faults } = await startTestServer(t, { more: { certificateClock: clock } })
  const before = accessOf(server.kubeconfigPath)
  const first = await shown(before)
  const watch = await api.watch(`${CONFIGMAPS}?watch=1`)
  t.teardown(() => watch.close())

  clock.advanceTo(Date.now() - DAY_MS)
  // The file is written last, in one step: once it is another one, all is done.
  const done = new Promise<void>(resolve => {
    const look = (): void => {
      if (accessOf(server.kubeconfigPath).cert !== before.cert) resolve()
      else setImmediate(look)
    }
    look()
  })
  await done
  const after = accessOf(server.kubeconfigPath)
  t.equal(after.ca, before.ca, 'the authority lasts longer')
  t.equal(statSync(server.kubeconfigPath).mode & 0o777, 0o600)
  const second = await shown(before)
  t.ok(second.validToDate.getTime() - first.validToDate.getTime() > 300 * DAY_MS, 'new connections see the new one')

  await api.ok(api.post(CONFIGMAPS, configMap('kept')))
  t.ok(await watch.until(event => event.object.metadata.name === 'kept'), 'the watch was not cut off')
  const renewed = new Api(after)
  t.teardown(() => renewed.close())
  t.equal((await renewed.get(`${CONFIGMAPS}/kept`)).code, 200, 'the new credential works')
  const old = new Api(before)
  t.teardown(() => old.close())
  t.equal((await old.get(`${CONFIGMAPS}/kept`)).code, 200, 'and the old one until it ends')
  t.strictSame(faults, [])
  await server.close()
  t.equal(clock.waiting, 0, 'a closed server waits for nothing')
})

t.test('what failed is tried again, and all of it', async t => {
  const dir = t.testdir()
  const clock = new TestClock(Date.now())
  const ensure = (): Promise<Pki> => ensurePki(dir, { hostnames: [], ips: [], clock: clock.now })
  const pki = await ensure()
  const used: Pki[] = []
  const said: string[] = []
  const log = (_fields: object, text: string): void => void said.push(text)
  let settle = (): void => {}
  let broken = true
  const renewal = new CertificateRenewal({
    pki,
    ensure,
    async use(renewed) {
      used.push(renewed)
      if (broken) throw new Error('disk full')
    },
    clock: {
      now: clock.now,
      after(delayMs, run) {
        settle()
        return clock.after(delayMs, run)
      },
    },
    log: { info: log, warn: log, error: log },
  })
  const settled = (): Promise<void> =>
    new Promise(resolve => {
      settle = resolve
    })
  renewal.start()
  const start = clock.nowMs
  clock.advanceTo(start + 334 * DAY_MS)
  t.equal(used.length, 0, 'nothing is done before it is due')
  let next = settled()
  clock.advanceTo(start + 336 * DAY_MS)
  await next
  t.equal(used.length, 1)
  t.match(said[0], /could not be renewed/)
  broken = false
  next = settled()
  clock.advanceTo(clock.nowMs + 600_000)
  await next
  t.equal(used.length, 2)
  t.equal(used[1]!.serving.certPem, used[0]!.serving.certPem, 'what was made already is taken')
  t.not(used[1]!.serving.certPem, pki.serving.certPem)
  t.equal(readFileSync(`${dir}/apiserver.crt`, 'utf8'), used[1]!.serving.certPem)
  t.notMatch(readdirSync(dir).join(), /tmp/)
  await renewal.stop()
  t.equal(clock.waiting, 0)
})
