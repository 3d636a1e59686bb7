/** Unverified claims of a token: only to find its authenticator. */
import { isRecord } from '../../apimachinery/object.ts'

/** The claims of something that looks like a JWT, not verified. */
export function unverifiedClaims(token: string): Record<string, unknown> | undefined {
  return part(token, 1)
}

/** Its header, likewise. */
export function unverifiedHeader(token: string): Record<string, unknown> | undefined {
  return part(token, 0)
}

function part(token: string, index: 0 | 1): Record<string, unknown> | undefined {
  const parts = token.split('.', 4)
  if (parts.length !== 3) return undefined
  try {
    const claims: unknown = JSON.parse(Buffer.from(parts[index]!, 'base64url').toString())
    return isRecord(claims) ? claims : undefined
  } catch {
    return undefined
  }
}
