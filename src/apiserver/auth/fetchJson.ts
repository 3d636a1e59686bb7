/** A small JSON document over HTTPS: bounded in time and size, redirects not followed, other authorities possible. */
import { request } from 'node:https'
import { messageOf } from '../../apimachinery/messageOf.ts'

export interface FetchJsonOptions {
  /** From the first try to the last byte. */
  timeoutMs: number
  /** Authorities to trust instead of the system's, PEM. */
  caPem?: string
}

export const LIMIT_BYTES = 1024 * 1024

/** @throws Error naming the URL */
export async function fetchJson(url: string, options: FetchJsonOptions): Promise<unknown> {
  try {
    return JSON.parse(await fetchText(url, options)) as unknown
  } catch (cause) {
    throw new Error(`cannot read ${url}: ${messageOf(cause)}`, { cause })
  }
}

function fetchText(url: string, { timeoutMs, caPem }: FetchJsonOptions): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs)
  const headers = { accept: 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { headers, signal, agent: false, ...(caPem !== undefined && { ca: caPem }) },
      response => {
        const parts: Buffer[] = []
        let length = 0
        response.on('data', (part: Buffer) => {
          parts.push(part)
          length += part.length
          if (length > LIMIT_BYTES) response.destroy(new Error(`the answer is longer than ${LIMIT_BYTES} bytes`))
        })
        response.on('error', reject)
        response.on('end', () => {
          if (response.statusCode === 200) resolve(Buffer.concat(parts).toString())
          else reject(new Error(`the answer is ${response.statusCode}`))
        })
      },
    )
    sent.on('error', reject)
    sent.end()
  })
}
