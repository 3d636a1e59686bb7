/** How long somebody wants to wait for an answer. */
import type { RequestInfo } from './requestInfo.ts'

/** Value of `?timeout=`, in milliseconds. A malformed duration counts as none. */
export function deadlineOf({ query }: Pick<RequestInfo, 'query'>): number | undefined {
  const text = query.get('timeout')
  if (!text || !/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined
  let ms = 0
  for (const [, count, unit] of text.matchAll(/([\d.]+)([a-zµ]+)/g)) ms += Number(count) * UNITS_MS[unit!]!
  return ms > 0 ? ms : undefined
}

const UNITS_MS: Readonly<Record<string, number>> = {
  ...{ ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1 },
  ...{ s: 1000, m: 60_000, h: 3_600_000 },
}
