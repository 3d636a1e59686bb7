/**
 * Memory of a syncer over a restart, in a database of its own. It holds the last known mailbox with its cursor, and the last writes into
 * the cluster. A syncer that starts while the center is away knows its cluster's desired content. It resumes instead of reading
 * everything again, and repeats no write.
 *
 * Only what changed is written. Nothing is flushed: what a power cut takes is the newest part, and an older state is a state, too.
 */
import { mkdir, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Level } from 'level'
import { isRecord } from '../../apimachinery/object.ts'
import type { Logger } from '../../client/logger.ts'
import { keepAddonIn } from '../../program/addon.ts'
import { type Echo, Echoes } from './echoes.ts'
import { isMirrored, keyOf, keyText, MailboxMirror, type Mirrored, type MirrorState, type SyncKey } from './mirror.ts'

const FORMAT = 2
const STATE_ROW = 'state'
const OBJECT_ROWS = 'object|'
const ECHO_ROWS = 'echo|'
/** Behind all keys of rows that begin with the same text. */
const END = '\uffff'
/** In the state dir. */
const DATABASE = 'mailbox'
/** Where a damaged one is put aside, for people; the newest alone. */
const DAMAGED = `${DATABASE}.damaged`
/** Rows that are written at once; more are written in parts, between which the database holds no state. */
const BATCH_ROWS = 500
/** Little is enough: everything is read once, at the start. */
const MEMORY_BYTES = 256 * 1024

/** Code of the engine. */
const DAMAGE = 'LEVEL_CORRUPTION'

type Database = Level<string, string>
type Row = { type: 'put'; key: string; value: string } | { type: 'del'; key: string }

export class SyncerState {
  readonly mirror = new MailboxMirror()
  /** Records of writes into the cluster. */
  readonly echoes = new Echoes()
  readonly #dir: string | undefined
  readonly #logger: Logger
  #database: Database | undefined
  /** Whether the database holds what the mirror held when it was written last. */
  #isCurrent = false

  /** @param dir nothing is kept without one */
  constructor(dir: string | undefined, logger: Logger) {
    this.#dir = dir
    this.#logger = logger
  }

  get isKept(): boolean {
    return this.#dir !== undefined
  }

  /**
   * Brings back what was saved of a mailbox. `undefined` when nothing was, or only of another one; all stays as it is then.
   * @throws Error when something is there and cannot be used
   */
  async load(mailbox: string): Promise<MirrorState | undefined> {
    if (this.#dir === undefined) return undefined
    const database = await this.#open(this.#dir)
    const text = await database.get(STATE_ROW)
    if (text === undefined) return undefined
    const state = stateIn(parsed(text))
    if (state.mailbox !== mailbox) return undefined
    const objects: Mirrored[] = []
    for await (const value of database.values(rangeOf(OBJECT_ROWS))) {
      const object = parsed(value)
      if (!isMirrored(object)) throw new Error('it is not a state of this release')
      objects.push(object)
    }
    const echoes: [string, Echo][] = []
    for await (const [key, value] of database.iterator(rangeOf(ECHO_ROWS)))
      echoes.push([key.slice(ECHO_ROWS.length), parsed(value) as Echo])
    this.mirror.restore(objects)
    this.echoes.restore(echoes)
    this.#isCurrent = true
    return state
  }

  /** Writes what changed since the last time. @throws Error when it cannot be written; the next time writes it all */
  async save(state: MirrorState): Promise<void> {
    if (this.#dir === undefined) return
    const database = await this.#open(this.#dir)
    try {
      await this.#write(database, state)
    } catch (error) {
      // The engine writes on behind what it could not write whole, and at the next start finds nothing that stands there.
      await this.close()
      if (causeOf(error).code === DAMAGE) await this.#putAside(this.#dir, error)
      throw error
    }
  }

  async #write(database: Database, state: MirrorState): Promise<void> {
    const current = this.#isCurrent
    this.#isCurrent = false
    const rows = current ? this.#changedRows() : await this.#allRows(database)
    const last: Row = { type: 'put', key: STATE_ROW, value: JSON.stringify({ format: FORMAT, ...state }) }
    if (rows.length >= BATCH_ROWS) {
      await database.del(STATE_ROW)
      while (rows.length >= BATCH_ROWS) await database.batch(rows.splice(-BATCH_ROWS))
    }
    await database.batch([...rows, last])
    this.#isCurrent = true
  }

  async close(): Promise<void> {
    const database = this.#database
    this.#database = undefined
    this.#isCurrent = false
    await database?.close()
  }

  #changedRows(): Row[] {
    const rows: Row[] = []
    for (const key of this.mirror.takeChanged()) rows.push(rowOf(OBJECT_ROWS + key, this.mirror.at(key)))
    for (const key of this.echoes.takeChanged()) rows.push(rowOf(ECHO_ROWS + key, this.echoes.get(key)))
    return rows
  }

  async #allRows(database: Database): Promise<Row[]> {
    this.mirror.takeChanged()
    this.echoes.takeChanged()
    const rows: Row[] = []
    for await (const key of database.keys()) if (key !== STATE_ROW && !this.#holds(key)) rows.push({ type: 'del', key })
    for (const entry of this.mirror.values())
      rows.push(rowOf(OBJECT_ROWS + keyText(keyOf(entry.resource, entry.object)), entry))
    for (const [key, echo] of this.echoes.entries()) rows.push(rowOf(ECHO_ROWS + key, echo))
    return rows
  }

  #holds(row: string): boolean {
    return row.startsWith(ECHO_ROWS)
      ? this.echoes.get(row.slice(ECHO_ROWS.length)) !== undefined
      : this.mirror.at(row.slice(OBJECT_ROWS.length)) !== undefined
  }

  /** @throws Error when it cannot be opened now: another process has it, or the disk is full, read-only, failing */
  async #open(dir: string): Promise<Database> {
    if (this.#database) return this.#database
    const path = join(dir, DATABASE)
    await mkdir(path, { recursive: true, mode: 0o700 })
    try {
      return await this.#opened(path)
    } catch (error) {
      if (causeOf(error).code !== DAMAGE) throw error
      await this.#putAside(dir, error)
      return await this.#opened(path)
    }
  }

  async #opened(path: string): Promise<Database> {
    // An engine that cannot be loaded says nothing of the state.
    const database = databaseIn(path)
    try {
      await database.open()
    } catch (error) {
      const { code, message } = causeOf(error)
      if (code === DAMAGE) throw error
      if (code === 'LEVEL_LOCKED')
        throw new Error('another process has it: give each syncer a state dir of its own', { cause: error })
      throw new Error(`it cannot be opened, and is left as it is: ${message}`, { cause: error })
    }
    this.#database = database
    return database
  }

  /** A damaged database stays damaged, and all of its content can be read again. */
  async #putAside(dir: string, error: unknown): Promise<void> {
    const aside = join(dir, DAMAGED)
    this.#logger.warn(
      { stateDir: dir },
      `the saved state is damaged and begun anew; it is in ${aside} now: ${causeOf(error).message}`,
    )
    await rm(aside, { recursive: true, force: true })
    await rename(join(dir, DATABASE), aside)
  }
}

/** Loaded where there is something to keep. */
function databaseIn(path: string): Database {
  keepAddonIn(dirname(path))
  const { Level: Opened } = createRequire(import.meta.url)('level') as typeof import('level')
  return new Opened<string, string>(path, {
    writeBufferSize: MEMORY_BYTES,
    cacheSize: MEMORY_BYTES,
    maxOpenFiles: 20,
  })
}

function causeOf(error: unknown): { code: unknown; message: string } {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error)
  return { code: 'code' in cause ? cause.code : undefined, message: cause.message }
}

function rangeOf(rows: string): { gte: string; lt: string } {
  return { gte: rows, lt: `${rows}${END}` }
}

function rowOf(key: string, value: unknown): Row {
  return value === undefined ? { type: 'del', key } : { type: 'put', key, value: JSON.stringify(value) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    // The parser's words would quote it.
    throw new Error('it is not JSON', { cause: cause instanceof Error ? cause.name : undefined })
  }
}

function isKey(key: unknown): key is SyncKey {
  return isRecord(key) && ['group', 'resource', 'namespace', 'name'].every(part => typeof key[part] === 'string')
}

function stateIn(state: unknown): MirrorState {
  if (
    !isRecord(state) ||
    state.format !== FORMAT ||
    typeof state.mailbox !== 'string' ||
    (state.epoch !== undefined && typeof state.epoch !== 'string') ||
    typeof state.space !== 'string' ||
    !Number.isSafeInteger(state.cursor)
  )
    throw new Error('it is not a state of this release')
  const { mailbox, space, epoch, held } = state
  const isHeld = Array.isArray(held) && held.every(isKey)
  if (held !== undefined && !isHeld) throw new Error('it is not a state of this release')
  return { mailbox, space, cursor: state.cursor as number, epoch, ...(isHeld && { held }) }
}
