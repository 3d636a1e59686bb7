/** What a token says before anybody believes it. */
import { isRecord } from '../../apimachinery/object.ts'

/** The claims of something that looks like a JWT, not verified: only to tell whose it is. */
export function unverifiedClaims(token: string): Record<string, unknown> | undefined {
  const parts = token.split('.')
  if (parts.length !== 3) return undefined
  try {
    const claims: unknown = JSON.parse(Buffer.from(parts[1]!, 'base64url').toString())
    return isRecord(claims) ? claims : undefined
  } catch {
    return undefined
  }
}
