/**
 * fast-check as all tests use it. In `npm test` each property has few cases, the same each time, so that no run depends on luck.
 * Commands like `npm run fuzz` play CASES times as many, from another SEED.
 */
import fc from 'fast-check'

export * from 'fast-check'

export const CASES = Number(process.env.CASES ?? 1)
fc.configureGlobal({ seed: Number(process.env.SEED ?? 1) })

/** `numRuns` (100) is for `npm test`, where a property takes a third of a second of a processor at most. */
export const assert = (<T>(property: fc.IRawProperty<T>, params: fc.Parameters<T> = {}) =>
  fc.assert(property, { ...params, numRuns: (params.numRuns ?? 100) * CASES })) as typeof fc.assert
