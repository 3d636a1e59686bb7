/** Durations as Kubernetes' tools write them: `1h30m`, `90s`, `1.5h`, `300ms`. @see https://pkg.go.dev/time#ParseDuration */

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Milliseconds; `undefined` for what is no duration. */
export function durationMs(text: string): number | undefined {
  if (text === '0') return 0
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined
  let sum = 0
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) sum += Number(number) * UNITS[unit!]!
  return sum
}

/** Whole seconds, as `1h30m`. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const
  return parts.map(([count, unit]) => (count > 0 ? `${count}${unit}` : '')).join('') || '0s'
}
