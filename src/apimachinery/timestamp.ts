/** The latest formatted second: many writes share one. */
let last = { second: Number.NaN, text: '' }

/** A time as objects have it: RFC 3339, in whole seconds, UTC. */
export function timestamp(date: Date): string {
  const second = Math.floor(date.getTime() / 1000)
  if (second !== last.second) last = { second, text: `${date.toISOString().slice(0, 19)}Z` }
  return last.text
}
