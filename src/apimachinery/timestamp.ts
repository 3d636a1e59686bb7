/** A time as objects have it: RFC 3339, in whole seconds, UTC. */
export function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`
}
