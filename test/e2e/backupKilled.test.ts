/**
 * `kill -9` of a server, or of `orrery backup`, while an archive is written and a client writes. An archive that is there restores to a state
 * that existed. BACKUP_ROUNDS sets the number of backups (default 2).
 */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openLevelStore } from '../../src/storage/level/openLevelStore.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { orreryHere as run } from '../support/runHere.ts'
import { SEED, Seeded } from '../support/seeded.ts'
import { temporaryDir } from '../support/server.ts'
import { Program } from '../syncer/support/processes.ts'
import { isCutOff, ServerProcess } from './support/serverProcess.ts'

const rounds = Number(process.env.BACKUP_ROUNDS ?? 2)
/** Objects that are written in turn; every other one lies in another space. */
const SLOTS = 40
/** Objects that make an archive last for a while. */
const BULK = 2000
const BULK_BYTES = 5000
/** Writes until the kill, from the first word of the archive on and from the start of the program on. */
const [MOST_WRITES, MOST_WRITES_FROM_START] = [40, 400]

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
          configMap(`bulk-${i}`, { text: randomBytes(BULK_BYTES).toString('hex') }),
        )
    }),
  )
  await writer.write(SLOTS)
  let whole = 0

  const round = async (t: Test, number: number): Promise<void> => {
    const killed = (['server', 'backup'] as const)[number % 2]!
    const archive = join(archives, 'one.orrery')
    const before = writer.acknowledged
    const kubeconfig = join(dataDir, 'admin.kubeconfig')
    const backup = Program.orrery(t, ['backup', archive, '--kubeconfig', kubeconfig])
    // some at the first word of the archive, some at any moment
    const isBegun = number % 4 < 2
    if (isBegun) await Promise.race([backup.said('objects as of revision'), backup.exited()])
    await writer.write(1 + random.number(isBegun ? MOST_WRITES : MOST_WRITES_FROM_START))
    if (killed === 'server') await writer.server.kill()
    if (killed === 'backup') await backup.end('SIGKILL')
    const code = await backup.exited()
    const after = writer.sent
    t.ok(code !== 0 || existsSync(archive), 'an archive that was reported is there')
    if (killed === 'server') writer.server = await start()
    if (killed !== 'backup')
      t.strictSame(readdirSync(archives), existsSync(archive) ? ['one.orrery'] : [], 'and no part of one')
    if (existsSync(archive)) {
      whole++
      t.match(await run('backup', 'verify', archive), { code: 0 })
      t.match(await run('restore', archive, '--data-dir', restored, '--without-keys'), { code: 0 })
      const slots = await slotsIn(restored)
      const last = Math.max(...slots.values())
      t.ok(last >= before && last <= after, `${before} <= ${last} <= ${after}`)
      t.strictSame(sorted(slots), sorted(slotsAt(last)), 'a state between two writes')
    }
    for (const folder of [archives, restored]) rmSync(folder, { recursive: true, force: true })
    mkdirSync(archives)
  }
  for (let number = 0; number < rounds; number++) await t.test(`backup ${number + 1}`, t => round(t, number))
  t.comment(`${whole} of ${rounds} archives were whole`)
})
