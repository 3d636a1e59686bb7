/**
 * Plays a history: steps chosen by a seed, and after each of them the question whether the center claims what is not so; now and
 * then all comes to rest, and has to be told as it is.
 */
import { Seeded } from '../support/seeded.ts'
import { Stage } from './stage.ts'
import { prepare, STEPS, type Step, settle } from './steps.ts'

export interface HistoryOptions {
  seed: number
  steps: number
  clusters: readonly string[]
  /** Whether steps that take long are among them. */
  isLong: boolean
  /** How long the center may take to tell all as it is. */
  patienceMs: number
  /** Where its programs keep what they keep. */
  dir: string
  /** Hears of each step. */
  tell?: (line: string) => void
}

/** Looks at what the center claims, after each step, at most. */
const LOOKS = 4
const REST_PERCENT = 8

/** What it found, with the steps that led there; `undefined`: nothing. */
export async function playHistory(options: HistoryOptions): Promise<string | undefined> {
  const { seed, steps, clusters, isLong, patienceMs, dir, tell = () => {} } = options
  const random = new Seeded(seed)
  const lines: string[] = []
  const say = (line: string): void => {
    lines.push(line)
    tell(line)
  }
  const found = (what: string): string => `seed ${seed}: ${what}\n${lines.map(line => `  ${line}`).join('\n')}`
  const choice = STEPS.filter(step => isLong || !step.isLong)
  const stage = await Stage.begin(dir, clusters, patienceMs)
  try {
    await prepare(stage)
    for (let i = 1; i <= steps; i++) {
      const said = await chosen(choice, random).run(stage, random)
      if (said !== undefined) say(`${i}. ${said}`)
      for (let look = random.number(LOOKS); look >= 0; look--) {
        const lie = await stage.lie()
        if (lie !== undefined) return found(lie)
      }
      if (!random.chance(REST_PERCENT) && i < steps) continue
      await settle(stage, random)
      say(`${i}. all is at rest`)
    }
    return stage.faults.length > 0 ? found(stage.faults.join('\n')) : undefined
  } catch (error) {
    return found(error instanceof Error ? `${error.stack}` : String(error))
  } finally {
    await stage.end()
  }
}

function chosen(steps: readonly Step[], random: Seeded): Step {
  let left = random.number(steps.reduce((sum, { weight }) => sum + weight, 0))
  for (const step of steps) {
    left -= step.weight
    if (left < 0) return step
  }
  throw new Error('no steps')
}
