/**
 * Warnings of a response as `Warning` headers. Clients bound the size of headers: many or long warnings are cut short.
 * @see https://www.rfc-editor.org/rfc/rfc7234#section-5.5.7
 */

/** Characters of all warnings together, and of each once they are more. As upstream. */
export const LIMIT = 4096
export const CUT = 256

export function warningHeaders(warnings: readonly string[]): string[] {
  const whole = fitting(warnings)
  return (whole.length === warnings.length ? whole : fitting(warnings.map(text => text.slice(0, CUT)))).map(header)
}

function fitting(texts: readonly string[]): readonly string[] {
  let length = 0
  for (const [i, text] of texts.entries()) {
    length += text.length
    if (length > LIMIT) return texts.slice(0, i)
  }
  return texts
}

/** Quotes and controls would break the header's syntax. */
function header(text: string): string {
  return `299 - "${text.replace(/[\\"]/g, '\\$&').replace(/[^\x20-\x7e]/g, '?')}"`
}
