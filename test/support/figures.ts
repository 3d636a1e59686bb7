/** Figures of a row of measurements. */
export interface Figures {
  count: number
  p50: number
  p99: number
  max: number
}

export function figuresOf(samples: readonly number[]): Figures {
  const sorted = samples.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 }
}
