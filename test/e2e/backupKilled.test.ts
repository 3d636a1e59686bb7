/**
 * `kill -9` of a server or of `orrery backup` amid an archive, and at its end, while a client writes. An archive that is there restores to a
 * state that existed. BACKUP_ROUNDS sets the number of backups (default 3: each kill once).
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openLevelStore } from '../../src/storage/level/openLevelStore.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { orreryHere as run } from '../support/runHere.ts'
import { SEED, Seeded } from '../support/seeded.ts'
import { temporaryDir } from '../support/server.ts'
import { Program } from '../syncer/support/processes.ts'
import { isCutOff, ServerProcess } from './support/serverProcess.ts'

const rounds = Number(process.env.BACKUP_ROUNDS ?? 3)
/** Objects that are written in turn; every other one lies in another space. */
const SLOTS = 40
/** More objects than the server reads from its store at a time. */
const BULK = 600
/** One of so many is large: the archive is longer than what sockets take, so that the server, too, is amid it. */
const [LARGE_ONE_OF, LARGE_BYTES] = [49, 500_000]
/** Bytes of the answer that pass before the gate holds it: more than its header has. */
const [LEAST_PASSED, MOST_PASSED] = [100_000, 600_000]
/** Writes from the start of the backup on, and as many until the kill. */
const MOST_WRITES = 40

const collection = (slot: number): string =>
  `${slot % 2 === 0 ? '' : '/clusters/root:wmw1'}/api/v1/namespaces/default/configmaps`
const configMap = (name: string, data: Record<string, string>): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})

const random = new Seeded(SEED)

/** Writes 1, 2, 3, … into slots, one after the other. */
class Writer {
  server: ServerProcess
  /** The last number that was acknowledged, and the last that was sent. */
  acknowledged = 0
  sent = 0

  constructor(server: ServerProcess) {
    this.server = server
  }

  /** Until so many are acknowledged, or the server has gone. */
  async write(count: number): Promise<void> {
    const until = this.acknowledged + count
    try {
      while (this.acknowledged < until) {
        this.sent = this.acknowledged + 1
        const slot = this.sent % SLOTS
        const [path, name] = [collection(slot), `slot-${slot}`]
        const object = configMap(name, { number: `${this.sent}` })
        const put = await this.server.ask('PUT', `${path}/${name}`, object)
        const { code, body } = put.code === 404 ? await this.server.ask('POST', path, object) : put
        if (code !== 200 && code !== 201) throw new Error(`${code} ${JSON.stringify(body)}`)
        this.acknowledged = this.sent
      }
    } catch (error) {
      if (!isCutOff(error)) throw error
    }
  }
}

/** A way to the server that holds back the rest of a long answer until it is opened or cut. */
class Gate {
  /** Resolves when something is held back. */
  readonly held = Promise.withResolvers<void>()
  readonly #server = createServer(near => {
    const far = connect(this.#port, '127.0.0.1')
    const cut = (): void => {
      near.destroy()
      far.destroy()
    }
    for (const end of [near, far]) end.on('error', cut).on('close', cut)
    near.pipe(far)
    let left = this.#passes
    far.on('data', async (piece: Buffer) => {
      near.write(piece.subarray(0, left))
      const rest = piece.subarray(left)
      left -= piece.length - rest.length
      if (rest.length === 0) return
      far.pause()
      this.held.resolve()
      if (!(await this.#ended.promise)) return cut()
      left = Number.POSITIVE_INFINITY
      near.write(rest)
      far.resume()
    })
  })
  readonly #ended = Promise.withResolvers<boolean>()
  readonly #port: number
  readonly #passes: number

  constructor(port: number, passes: number) {
    this.#port = port
    this.#passes = passes
  }

  /** Resolves to its port. */
  async start(t: Test): Promise<number> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    t.teardown(() => void this.#server.close())
    return (this.#server.address() as AddressInfo).port
  }

  open(): void {
    this.#ended.resolve(true)
  }

  /** As the end of the server: the socket that waits here does not notice it. */
  cut(): void {
    this.#ended.resolve(false)
  }
}

/** The numbers in the slots of a store. */
async function slotsIn(dataDir: string): Promise<Map<string, number>> {
  const store = await openLevelStore({ path: join(dataDir, 'store') })
  try {
    const { items } = await store.list({ group: '', resource: 'configmaps' })
    const slots = items.filter(({ key }) => key.name.startsWith('slot-'))
    return new Map(slots.map(({ key, bytes }) => [key.name, Number(JSON.parse(bytes.toString()).data.number)]))
  } finally {
    await store.close()
  }
}

/** The slots once `last` was the newest number. */
function slotsAt(last: number): Map<string, number> {
  const numbers = Array.from({ length: Math.min(last, SLOTS) }, (_, i) => last - i)
  return new Map(numbers.map(number => [`slot-${number % SLOTS}`, number]))
}

const sorted = (slots: ReadonlyMap<string, number>): [string, number][] => [...slots].sort(([, a], [, b]) => a - b)

t.setTimeout(FILE_LIMIT_MS + rounds * 10_000)

t.test('an archive that is there restores to a state that existed', async t => {
  t.setTimeout(FILE_LIMIT_MS + rounds * 10_000)
  const dir = temporaryDir(t)
  const [dataDir, archives, restored] = ['center', 'archives', 'restored'].map(name => join(dir, name)) as [
    string,
    string,
    string,
  ]
  mkdirSync(archives)
  const start = () => ServerProcess.start(t, dataDir, 4)
  const writer = new Writer(await start())
  await Promise.all(
    Array.from({ length: 4 }, async (_, part) => {
      for (let i = part; i < BULK; i += 4)
        await writer.server.ask(
          'POST',
          collection(i),
          configMap(`bulk-${i}`, { text: randomBytes(i % LARGE_ONE_OF === 0 ? LARGE_BYTES : 1).toString('hex') }),
        )
    }),
  )
  await writer.write(SLOTS)
  const kubeconfig = join(dir, 'kubeconfig')

  const round = async (t: Test, killed: 'server' | 'backup', isWhole: boolean): Promise<void> => {
    const archive = join(archives, 'one.orrery')
    const text = readFileSync(join(dataDir, 'admin.kubeconfig'), 'utf8')
    const [, port = ''] = /https:\/\/127\.0\.0\.1:(\d+)/.exec(text)!
    const gate = new Gate(Number(port), LEAST_PASSED + random.number(MOST_PASSED - LEAST_PASSED))
    writeFileSync(kubeconfig, text.replaceAll(`:${port}`, `:${await gate.start(t)}`))
    const before = writer.acknowledged
    const backup = Program.orrery(t, ['backup', archive, '--kubeconfig', kubeconfig])
    const writing = writer.write(1 + random.number(MOST_WRITES))
    await backup.said('objects as of revision')
    const after = writer.sent
    await gate.held.promise
    await writing
    await writer.write(1 + random.number(MOST_WRITES))
    if (isWhole) {
      gate.open()
      await backup.said('wrote ')
    }
    if (killed === 'server') await writer.server.kill()
    else await backup.end('SIGKILL')
    gate.cut()
    const code = await backup.exited()
    if (killed === 'server') writer.server = await start()
    const left = readdirSync(archives)
    if (isWhole) {
      t.strictSame(left, ['one.orrery'])
      t.match(await run('backup', 'verify', archive), { code: 0 })
      t.match(await run('restore', archive, '--data-dir', restored, '--without-keys'), { code: 0 })
      const slots = await slotsIn(restored)
      const last = Math.max(...slots.values())
      t.ok(last >= before && last <= after, `${before} <= ${last} <= ${after}`)
      t.strictSame(sorted(slots), sorted(slotsAt(last)), 'a state between two writes')
    } else if (killed === 'server') t.strictSame([code, left], [1, []], 'no part of one')
    else t.match(left, [/^one\.orrery\.\w+\.partial$/], 'what there is says that it is none')
    for (const folder of [archives, restored]) rmSync(folder, { recursive: true, force: true })
    mkdirSync(archives)
  }
  const kills = [
    ['the server is killed amid an archive', 'server', false],
    ['the backup is killed amid an archive', 'backup', false],
    ['the backup is killed at the end of an archive', 'backup', true],
  ] as const
  for (let number = 0; number < rounds; number++) {
    const [name, killed, isWhole] = kills[number % kills.length]!
    await t.test(`${number + 1}: ${name}`, t => round(t, killed, isWhole))
  }
})
