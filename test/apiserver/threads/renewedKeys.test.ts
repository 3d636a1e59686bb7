/** Renewed certificates in servers with API threads: all threads show them, and who has an older one stays who they are. */
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import t from 'tap'
import type { Access } from '../../support/api.ts'
import { renewalClock } from '../../support/renewalClock.ts'
import { accessOf, CONFIGMAPS, startTestServer } from '../../support/server.ts'

const DAY_MS = 86_400_000
/** Connections enough that none of the threads has none: the kernel deals them out. */
const CONNECTIONS = 12

interface Seen {
  /** Of the server. */
  certificate: string
  answer: string
  /** Not of each that was resumed. */
  session: Buffer | undefined
  isReused: boolean
}

/** Asks over a connection of its own, with a session of before if one is given. */
async function ask({ url, ca, cert, key }: Access, session?: Buffer): Promise<Seen> {
  const { hostname, port } = new URL(url)
  const keys = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }), ...(session && { session }) }
  const socket = connect({ host: hostname, port: Number(port), ...keys })
  let next: Buffer | undefined
  socket.on('session', given => {
    next = given
  })
  await once(socket, 'secureConnect')
  const certificate = socket.getPeerX509Certificate()?.fingerprint256 ?? ''
  const isReused = socket.isSessionReused()
  socket.write(`GET ${CONFIGMAPS}?limit=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  const answer = await textOf(socket)
  return { certificate, answer: answer.slice(0, 'HTTP/1.1 200'.length), session: next, isReused }
}

async function textOf(socket: TLSSocket): Promise<string> {
  let text = ''
  for await (const part of socket) text += part
  return text
}

const many = <T>(run: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: CONNECTIONS }, (_, i) => run(i)))

t.test(
  'all threads show the new one; sessions of before are resumed by whom they belong to, or not at all',
  async t => {
    const clock = renewalClock(Date.now() - 340 * DAY_MS)
    const { server, faults } = await startTestServer(t, { more: { apiThreads: 2, certificateClock: clock } })
    const before = accessOf(server.kubeconfigPath)
    const first = await many(() => ask(before))
    t.same(new Set(first.map(({ answer }) => answer)), new Set(['HTTP/1.1 200']))
    const [{ certificate: old }] = first as [Seen]

    const renewed = new Promise<void>(resolve => server.onKubeconfig(resolve))
    clock.leapTo(Date.now() - DAY_MS)
    await renewed
    const after = accessOf(server.kubeconfigPath)
    t.not(after.cert, before.cert)
    // threads are told by messages
    while ((await many(() => ask(after))).some(({ certificate }) => certificate === old));
    for (const [who, access, answer] of [
      ['the new administrator', after, 'HTTP/1.1 200'],
      ['the old one, whose certificate is valid', before, 'HTTP/1.1 200'],
      ['nobody', { url: before.url, ca: before.ca! }, 'HTTP/1.1 401'],
    ] as const) {
      const fresh = await many(() => ask(access))
      t.same(new Set(fresh.map(seen => seen.answer)), new Set([answer]), who)
      const resumed = await many(i => ask(access, fresh[i]!.session))
      t.same(new Set(resumed.map(seen => seen.answer)), new Set([answer]), `${who}, again`)
      t.notOk([...fresh, ...resumed].some(({ certificate }) => certificate === old))
    }
    const late = await many(i => ask(before, first[i]!.session))
    t.same(new Set(late.map(({ answer }) => answer)), new Set(['HTTP/1.1 200']))
    t.notOk(
      late.some(({ isReused }) => isReused),
      'sessions end with the certificate that they began with',
    )
    t.same(faults, [])
  },
)
