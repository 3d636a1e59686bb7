/**
 * Users' regular expressions (RE2 syntax, as Go's), matched in time linear in the text for each instruction of the pattern. A large pattern
 * on a long text is still much work, known only on the way: it is reported step by step.
 * @see https://github.com/google/re2/wiki/Syntax
 */
import { RE2JS } from 're2js'

/** Called with the work of a match: instructions looked at. An error that it throws ends the match. */
export type Steps = (count: number) => void

export interface LinearRegExp {
  /** Instructions of the compiled program: matching takes at most the text's length times this. */
  readonly size: number
  /** Whether the pattern matches somewhere in `text`. */
  test(text: string, steps?: Steps): boolean
  /** The first match; `undefined` when there is none. */
  find(text: string, steps?: Steps): string | undefined
  /** All matches that do not overlap, at most `limit`. */
  findAll(text: string, limit?: number, steps?: Steps): string[]
}

/** Bytes of states that a pattern keeps to match faster the next time. */
const KEPT_STATES = 64 * 1024
/** The library looks for matches of small programs in short texts with one bit for each pair of instruction and character. */
const MAX_BITS = 262_144
const MAX_BIT_PROGRAM = 500
/** Pairs that take as long as a step. */
const PAIRS = 8
/** Steps for each of all matches: beginning anew, and a text of its own. */
const FOUND = 10
/** Steps for each instruction of a new state. */
const STATE = 5

/** @throws Error when the pattern is not valid RE2 */
export function compileLinearRegExp(pattern: string): LinearRegExp {
  const compiled = RE2JS.compile(pattern)
  const size = compiled.programSize()
  let counter: Steps = free
  watch(compiled.re2() as unknown as Engine, count => counter(count))
  const watched = <T>(steps: Steps, run: () => T): T => {
    const before = counter
    counter = steps
    try {
      return run()
    } finally {
      counter = before
    }
  }
  const findAll = (text: string, limit = Number.POSITIVE_INFINITY, steps: Steps = free): string[] =>
    watched(steps, () => {
      const matcher = compiled.matcher(text)
      const pairs = size <= MAX_BIT_PROGRAM && size * text.length <= MAX_BITS ? size * text.length : 0
      const found: string[] = []
      while (found.length < limit) {
        steps(FOUND + pairs / PAIRS)
        if (!matcher.find()) break
        found.push(matcher.group() ?? '')
      }
      return found
    })
  return {
    size,
    test: (text, steps = free) => watched(steps, () => compiled.test(text)),
    find: (text, steps) => findAll(text, 1, steps)[0],
    findAll,
  }
}

const free: Steps = () => {}

/** The observed part of the library's engines: each reports its work where a character can cause much. */
interface Engine {
  readonly dfa: Automaton
  doExecuteNFA(input: unknown, at: number, anchor: number, captures: number, behind?: unknown): unknown
  get(): Machine | null
  put(machine: Machine): void
}
interface Automaton {
  stateBudget: number
  memBudget: number
  closure(instructions: Iterable<number>, flag: number): { pcs: readonly number[] }
}
interface Machine {
  step(running: { readonly size: number }, ...rest: unknown[]): void
}

function watch(engine: Engine, steps: Steps): void {
  watchAutomaton(engine, steps)
  const execute = engine.doExecuteNFA.bind(engine)
  engine.doExecuteNFA = (...args) => {
    let machine = engine.get()
    if (machine === null) {
      // the engine makes one when it has none, and keeps it behind the match: here, of no text
      execute(NO_TEXT, 0, 0, 0)
      machine = engine.get()
      if (machine === null) throw new Error('the regular expression library no longer keeps its machines')
      watchMachine(machine, steps)
    }
    engine.put(machine)
    return execute(...args)
  }
}

const END_OF_TEXT = -8
const NO_TEXT = {
  step: () => END_OF_TEXT,
  context: () => 0,
  endPos: () => 0,
  index: () => -1,
  canCheckPrefix: () => false,
}

function watchMachine(machine: Machine, steps: Steps): void {
  const step = machine.step.bind(machine)
  machine.step = (running, ...rest) => {
    steps(running.size)
    step(running, ...rest)
  }
}

/** It is made at its first use, and large for most patterns that are only ever compiled. */
function watchAutomaton(engine: Engine, steps: Steps): void {
  const lazy = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(engine), 'dfa')?.get
  if (lazy === undefined) throw new Error('the regular expression library no longer shows its automata')
  let known: Automaton | undefined
  Object.defineProperty(engine, 'dfa', {
    get: () => {
      if (known !== undefined) return known
      const made = lazy.call(engine) as Automaton
      made.stateBudget = KEPT_STATES
      made.memBudget = KEPT_STATES
      const closure = made.closure.bind(made)
      made.closure = (instructions, flag) => {
        const found = closure(instructions, flag)
        steps(found.pcs.length * STATE)
        return found
      }
      known = made
      return made
    },
  })
}
