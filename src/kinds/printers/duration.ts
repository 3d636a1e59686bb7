/**
 * Ages as `kubectl` shows them: two units at most, the coarser the older.
 * @see https://pkg.go.dev/k8s.io/apimachinery/pkg/util/duration#HumanDuration
 */

/** `5m30s`, `3d4h`, `2y`; `0s` for a clock that is up to a second ahead, `<invalid>` beyond. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (days < 8) return two(days, 'd', hours % 24, 'h')
  if (days < 2 * 365) return `${days}d`
  const years = Math.trunc(days / 365)
  return days < 8 * 365 ? two(years, 'y', days % 365, 'd') : `${years}y`
}

/** The age of an RFC 3339 timestamp; `<unknown>` when there is none, `<invalid>` when it is not one. */
export function age(timestamp: unknown, now: Date): string {
  if (timestamp === undefined || timestamp === null || timestamp === '') return '<unknown>'
  const then = typeof timestamp === 'string' && RFC3339.test(timestamp) ? Date.parse(timestamp) : Number.NaN
  return Number.isNaN(then) ? '<invalid>' : humanDuration(now.getTime() - then)
}

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

function two(big: number, bigUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`
}
