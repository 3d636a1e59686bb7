/** Names in headers: clients write UTF-8, and Node reads one character of each byte. */
export function utf8(value: string): string {
  return Buffer.from(value, 'latin1').toString()
}
