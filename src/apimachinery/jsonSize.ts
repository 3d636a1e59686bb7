/** How large values are as JSON, without writing that: what is too large is then never made. */

/** Bytes of the JSON text of a plain value. `sizeOfText`: of a string value, without its quotes; default: as it is. */
export function jsonSize(value: unknown, sizeOfText: (text: string) => number = jsonTextSize): number {
  if (typeof value === 'string') return sizeOfText(value) + 2
  if (Array.isArray(value)) {
    let bytes = 2 + Math.max(0, value.length - 1)
    for (const item of value) bytes += item === undefined ? 4 : jsonSize(item, sizeOfText)
    return bytes
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)?.length ?? 0
  let bytes = 1
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) bytes += jsonTextSize(key) + 4 + jsonSize(member, sizeOfText)
  }
  return Math.max(2, bytes)
}

/** Bytes of a string in JSON, without its quotes. */
export function jsonTextSize(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2
}

/** How many lists and maps stand in one another at most. */
export function nestingOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let most = 0
  for (const member of Object.values(value)) most = Math.max(most, nestingOf(member))
  return most + 1
}

/** Whether lists and maps stand in one another more than `levels` deep. Looks no deeper than that. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  return Object.values(value).some(member => isNestedDeeper(member, levels - 1))
}
