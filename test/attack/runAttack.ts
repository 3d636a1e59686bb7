/** One attack on a server of its own, and what became of the server, of the other tenant and of the attacker meanwhile. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Measured } from '../support/neighbour.ts'
import { NeighbourProcess } from '../support/neighbourProcess.ts'
import type { Attack } from './attack.ts'
import { Ground, type LoopTimes } from './ground.ts'
import type { Memory, Turns } from './inspector.ts'
import { claimProcessors } from './yielding.ts'

export interface Result {
  name: string
  does: string
  codes: Readonly<Record<number, number>>
  /** Before the attack, while it ran, and after the start that followed. */
  quiet?: Measured
  during?: Measured
  afterwards?: Measured
  seconds: number
  /** Turns of the server's loop, while the attack ran. */
  turns?: Turns
  loop?: LoopTimes | undefined
  before?: Memory
  after?: Memory
  peakBytes: number
  readyMs?: number
  /** Why the attack succeeded; empty: it was withstood. */
  faults: string[]
}

export interface RunOptions {
  /** How long rounds are repeated. */
  seconds: number
  /** Folder for profiles of the server's processor time, if they are wanted. */
  profiles?: string | undefined
}

const QUIET_MS = 3000
const AFTERWARDS_MS = 4000
/** A round that takes longer never ends. */
const ROUND_LIMIT_MS = 60_000
const MEMORY_LIMIT_MS = 30_000
const READY_LIMIT_MS = 15_000
/** Refusals that are listed one by one. */
const SAID = 3
const MB = 2 ** 20
/** Growth by caches, pools of threads and the other tenant's own objects. */
const USED_SLACK = 48 * MB
/** And what the allocator keeps besides. */
const RSS_SLACK = 160 * MB
const P99_LIMIT_MS = 100
const QUIET_FACTOR = 2

export async function runAttack(attack: Attack, options: RunOptions): Promise<Result> {
  const dir = mkdtempSync(join(tmpdir(), 'orrery-attack-'))
  const ground = new Ground(dir, 'long')
  const { name, does } = attack
  const result: Result = { name, does, codes: {}, seconds: 0, peakBytes: 0, faults: [] }
  let neighbour: NeighbourProcess | undefined
  try {
    await ground.start()
    const { prefix } = await ground.settle()
    await ground.enter()
    neighbour = await NeighbourProcess.start({ url: ground.url, token: 'token-of-bob', prefix })
    claimProcessors(neighbour.pid)
    await withstand({ attack, ground, neighbour, result, options })
  } catch (error) {
    result.faults.push(ground.ended ?? (error instanceof Error ? (error.stack ?? error.message) : String(error)))
  } finally {
    await neighbour?.stop()
    await ground.kill()
    ground.leave()
    rmSync(dir, { recursive: true, force: true })
  }
  return result
}

interface Scene {
  attack: Attack
  ground: Ground
  neighbour: NeighbourProcess
  result: Result
  options: RunOptions
}

async function withstand(scene: Scene): Promise<void> {
  const { attack, ground, neighbour, result, options } = scene
  await attack.prepare?.(ground)
  await neighbour.begin()
  await pause(QUIET_MS)
  result.quiet = await neighbour.end()
  result.before = await ground.inspector.memory()
  ground.forgetPeak()

  if (options.profiles !== undefined) await ground.inspector.startProfile()
  await ground.inspector.startTurns()
  await neighbour.begin()
  const loopBefore = ground.loopTimes()
  const begun = performance.now()
  do result.faults.push(...(await round(attack.run(ground))))
  while (performance.now() - begun < options.seconds * 1000 && ground.ended === undefined && result.faults.length === 0)
  result.seconds = (performance.now() - begun) / 1000
  result.loop = timesSince(loopBefore, ground.loopTimes())
  result.during = await neighbour.end()
  if (ground.ended !== undefined) throw new Error(ground.ended)
  result.turns = await ground.inspector.stopTurns()
  if (options.profiles !== undefined) {
    const profile = await ground.inspector.stopProfile()
    writeFileSync(join(options.profiles, `${attack.name}.cpuprofile`), JSON.stringify(profile))
  }
  result.codes = ground.alice.codes
  ground.alice.close()
  result.peakBytes = ground.peakBytes()
  result.faults.push(...hearingFaults(attack, ground), ...delayFaults(result.quiet, result.during))
  result.faults.push(...(await memoryFaults(scene)))

  await ground.kill()
  result.readyMs = await ground.start()
  if (result.readyMs > READY_LIMIT_MS)
    result.faults.push(`ready only ${Math.round(result.readyMs)} ms after the next start`)
  await neighbour.begin()
  await pause(AFTERWARDS_MS)
  result.afterwards = await neighbour.end()
  if (ground.ended !== undefined) throw new Error(`after the next start ${ground.ended}`)
  result.faults.push(...result.afterwards.refused.map(why => `after the next start: ${why}`))
}

function timesSince(before: LoopTimes | undefined, now: LoopTimes | undefined): LoopTimes | undefined {
  return before && now && { runMs: now.runMs - before.runMs, readyMs: now.readyMs - before.readyMs }
}

/** Faults in the attacker's answers. */
export function hearingFaults(attack: Attack, { alice }: Ground): string[] {
  const faults = alice.faults.slice(0, 5)
  const { hears } = attack
  if (hears && !hears.some(code => alice.codes[code]))
    faults.push(`none of the codes ${hears.join(', ')} was heard: ${JSON.stringify(alice.codes)}`)
  return faults
}

/** Bound on the other tenant's wait at the 99th percentile: see the header of the table. */
export function allowedMs(quiet: Measured, during: Measured, what: 'get' | 'post' | 'event' | 'livez'): number {
  return Math.max(P99_LIMIT_MS, QUIET_FACTOR * quiet[what].p99) + during.machine.p99
}

function delayFaults(quiet: Measured, during: Measured): string[] {
  const refused = during.refused.map(why => `refused: ${why.trim()}`)
  const faults =
    refused.length > SAID ? [...refused.slice(0, SAID), `and ${refused.length - SAID} more like these`] : refused
  for (const what of ['get', 'post', 'event', 'livez'] as const) {
    const { p99, count } = during[what]
    const allowed = allowedMs(quiet, during, what)
    if (count === 0) faults.push(`no ${what} was measured`)
    if (p99 > allowed) faults.push(`p99 of ${what} ${Math.round(p99)} ms, allowed ${Math.round(allowed)}`)
  }
  return faults
}

async function memoryFaults({ attack, ground, result }: Scene): Promise<string[]> {
  const kept = (attack.keepsMb ?? 0) * MB
  const { before } = result
  const until = performance.now() + MEMORY_LIMIT_MS
  for (;;) {
    const after = await ground.inspector.memory()
    result.after = after
    const used = after.used - before!.used - kept - USED_SLACK
    const rss = after.rss - before!.rss - kept - RSS_SLACK
    if (used <= 0 && rss <= 0) return []
    if (performance.now() > until) {
      const grown = (what: keyof Memory): string => `${inMb(before![what])} -> ${inMb(after[what])} MB`
      return [`memory stays: ${grown('used')} used, ${grown('rss')} resident`]
    }
    await pause(1000)
  }
}

/** Why a round did not come to its end. */
async function round(work: Promise<void>): Promise<string[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string[]>(resolve => {
    timer = setTimeout(() => resolve([`a round did not end within ${ROUND_LIMIT_MS / 1000} s`]), ROUND_LIMIT_MS)
  })
  const failed = (error: unknown): string[] => [error instanceof Error ? (error.stack ?? error.message) : String(error)]
  try {
    return await Promise.race([work.then(() => [], failed), late])
  } finally {
    clearTimeout(timer)
  }
}

export function inMb(bytes: number): number {
  return Math.round(bytes / MB)
}
