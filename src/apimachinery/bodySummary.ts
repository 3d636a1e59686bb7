const SUMMARY_BYTES = 30

/** The beginning of a body that cannot be read, for messages: as it is where it looks like JSON, else its bytes. */
export function bodySummary(body: Buffer): string {
  if (body.length === 0) return '<empty>'
  const start = body.subarray(0, SUMMARY_BYTES).toString(body[0] === 0x7b ? 'utf8' : 'hex')
  return body.length > SUMMARY_BYTES ? `${start} ...` : start
}
