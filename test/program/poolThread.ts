/** Jobs for the tests of the pool. */
import { serveJobs } from '../../src/program/serveJobs.ts'

serveJobs({
  double: async () => (n: number) => n * 2,
  /** Begins, and ends when the memory says so. */
  held: async () => (memory: Int32Array) => {
    Atomics.store(memory, 0, 1)
    Atomics.notify(memory, 0)
    Atomics.wait(memory, 1, 0)
    return 'let go'
  },
  endless: async () => () => {
    for (;;);
  },
  greedy: async () => () => {
    const all: object[] = []
    for (;;) all.push({ all: [...all.slice(0, 100)] })
  },
  /** Leaves its heap larger than it found it. */
  large: async () => (megabytes: number) =>
    Array.from({ length: megabytes }, () => new Array(131_072).fill(1.5)).length,
  broken: async () => () => {
    throw new Error('a fault of ours')
  },
  exits: async () => () => process.exit(3),
})
