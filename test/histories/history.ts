/**
 * Plays a history: steps chosen by a seed, and after each of them a check for false claims of the center. Now and then all comes to rest,
 * and has to be reported as it is.
 */
import { Seeded } from '../support/seeded.ts'
import { Stage } from './stage.ts'
import { prepare, refill, STEPS, type Step, settle } from './steps.ts'

export interface HistoryOptions {
  seed: number
  /** As many, or so many at most. */
  steps: number
  /** Whether it ends when each kind of step has happened. They come in a random order then, not by their weights. */
  ofEach?: boolean
  clusters: readonly string[]
  /** Whether steps that take long are among them. */
  isLong: boolean
  /** How long the center may take to tell all as it is. */
  patienceMs: number
  /** Where its programs keep what they keep. */
  dir: string
  /** Called for each step. */
  tell?: (line: string) => void
}

/** Looks at what the center claims, after each step, at most. */
const LOOKS = 4
const REST_PERCENT = 8

/** Its finding, with the steps that led there; `undefined`: none. */
export async function playHistory(options: HistoryOptions): Promise<string | undefined> {
  const { seed, steps, ofEach = false, clusters, isLong, patienceMs, dir, tell = () => {} } = options
  const random = new Seeded(seed)
  const lines: string[] = []
  const say = (line: string): void => {
    lines.push(line)
    tell(line)
  }
  const found = (what: string): string => `seed ${seed}: ${what}\n${lines.map(line => `  ${line}`).join('\n')}`
  const choice = STEPS.filter(step => isLong || !step.isLong)
  const due = ofEach ? shuffled(choice, random) : []
  const stage = await Stage.begin(dir, clusters, patienceMs)
  try {
    await prepare(stage)
    for (let i = 1, isLast = false; !isLast; i++) {
      const step = due.shift() ?? chosen(choice, random)
      const said = await step.run(stage, random)
      if (said !== undefined) say(`${i}. ${said}`)
      else if (ofEach) {
        due.push(step)
        await refill(stage, random)
        say(`${i}. nothing to do for "${step.name}"; all is there and at rest again`)
      }
      isLast = i === steps || (ofEach && due.length === 0)
      for (let look = random.number(LOOKS); look >= 0; look--) {
        const lie = await stage.lie()
        if (lie !== undefined) return found(lie)
      }
      if (!random.chance(REST_PERCENT) && !isLast) continue
      await settle(stage, random)
      say(`${i}. all is at rest`)
    }
    if (due.length > 0) return found(`never happened: ${due.map(({ name }) => name).join(', ')}`)
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

function shuffled(steps: readonly Step[], random: Seeded): Step[] {
  const left = [...steps]
  return steps.map(() => left.splice(random.number(left.length), 1)[0]!)
}
