/** Runs the attacks in turn until the time is over, and collects what they found. */
import fc from 'fast-check'
import type { Target } from './target.ts'
import type { World } from './world.ts'

export interface Finding {
  target: string
  seed: number
  /** fast-check's path to the shrunken case: `seed` and `path` replay it. */
  path: string
  text: string
}

export interface RunOptions {
  seed: number
  ms: number
  /** Cases of each target in a round, as a share of its `runs`. */
  share?: number
  /** Whether another tenant must not feel the attacks: for a machine that does little else. */
  feelsDelays?: boolean
  onRound?: (round: number, target: string, cases: number) => Promise<void> | void
  onFinding?: (finding: Finding) => void
}

/** Bound on another tenant's wait for an answer, beside the machine's own delays. */
const DELAY_LIMIT_MS = 250
const SHRINK_LIMIT_MS = 20_000
/** A case that takes longer waits for something that does not come. */
const CASE_LIMIT_MS = 120_000

/** An attack that takes longer has lost an answer: that is a finding of its own, and the others go on. */
const ATTACK_LIMIT_MS = SHRINK_LIMIT_MS + 2 * CASE_LIMIT_MS

/** At least one round of each target, however short the time; a round that has begun ends in time. */
export async function runTargets(world: World, targets: readonly Target[], options: RunOptions): Promise<Finding[]> {
  const findings: Finding[] = []
  const until = performance.now() + options.ms
  for (const target of targets) await target.prepare?.(world)
  for (let round = 0; round === 0 || performance.now() < until; round++) {
    for (const target of targets) {
      const left = until - performance.now()
      if (round > 0 && left <= 0) return findings
      const seed = options.seed + round
      const check = () =>
        toItsEnd(target.property(world), property =>
          fc.check(property, {
            seed,
            numRuns: Math.max(1, Math.round(target.runs * (options.share ?? 1))),
            interruptAfterTimeLimit: Math.max(500, Math.min(left, SHRINK_LIMIT_MS)),
            markInterruptAsFailure: false,
            timeout: CASE_LIMIT_MS,
          }),
        )
      const found = (path: string, text: string): void => {
        const finding = { target: target.name, seed, path, text }
        findings.push(finding)
        options.onFinding?.(finding)
      }
      const feel = options.feelsDelays === true && target.disturbs !== true
      const { result, delay } = await felt(world, feel, () => within(ATTACK_LIMIT_MS, check()))
      if (result === undefined) {
        found('', `the attack did not end in ${ATTACK_LIMIT_MS / 1000} s`)
        continue
      }
      await options.onRound?.(round, target.name, result.numRuns)
      if (delay !== undefined && !result.failed) {
        // a machine that was busy for a moment is not so again in the same place
        const again = await felt(world, feel, () => within(ATTACK_LIMIT_MS, check()))
        if (again.delay !== undefined) found('', `twice: ${delay}; ${again.delay}`)
      }
      const error = result.errorInstance
      // A round whose time was over before its first case was: that says something about the machine.
      if (!result.failed || (result.interrupted && error === null)) continue
      const text = `${error instanceof Error ? error.stack : String(error)}\n${fc.stringify(result.counterexample)}`
      found(result.counterexamplePath ?? '', text)
    }
  }
  return findings
}

/** An interrupted check leaves its case running: the next one would meet what that one still makes and deletes. */
async function toItsEnd<T>(
  property: fc.IAsyncProperty<[unknown]>,
  check: (property: fc.IAsyncProperty<[unknown]>) => Promise<T> | T,
): Promise<T> {
  const run = property.run.bind(property)
  let last: Promise<unknown> = Promise.resolve()
  property.run = value => {
    const running = run(value)
    last = running
    return running
  }
  const result = await check(property)
  await last
  return result
}

/** Runs an attack while another tenant goes on, and says what kept them waiting or was refused. */
async function felt<T>(
  world: World,
  feel: boolean,
  run: () => Promise<T>,
): Promise<{ result: T; delay?: string | undefined }> {
  if (!feel) return { result: await run() }
  await world.neighbour.begin()
  const result = await run()
  const measured = await world.neighbour.end()
  const { refused, machine } = measured
  if (refused.length > 0) return { result, delay: `another tenant was refused: ${refused.join('; ')}` }
  const slow = (['get', 'post', 'event', 'livez'] as const).filter(
    what => measured[what].max > DELAY_LIMIT_MS + machine.max,
  )
  if (slow.length === 0) return { result }
  const figures = slow.map(what => `${what} ${Math.round(measured[what].max)} ms`)
  const own = `a timer of 10 ms was at most ${Math.round(machine.max)} ms late there`
  return { result, delay: `another tenant waited: ${figures.join(', ')}; ${own}` }
}

/** Result of `work`, or nothing when it takes longer. */
async function within<T>(ms: number, work: Promise<T> | T): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
