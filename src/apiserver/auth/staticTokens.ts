/**
 * Tokens from a file: lines of `token,user,uid[,"group1,group2"]`, read once at start.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file
 */
import { createHash } from 'node:crypto'
import type { Authentication, Authenticator, Credentials } from './types.ts'
import { authenticated } from './users.ts'

/** Tokens are kept as hashes only: neither a heap dump nor the time of a lookup tells one. */
export class StaticTokenAuthenticator implements Authenticator {
  readonly #users: ReadonlyMap<string, Authentication>
  readonly #audiences: readonly string[]

  /**
   * `audiences`: what the tokens are good for, the API server's own. `path`: where the text comes from, for what is thrown.
   * @throws Error for a line without its three columns
   */
  constructor(csv: string, options: { path?: string; audiences?: readonly string[] } = {}) {
    this.#users = parseTokens(csv, options.path ?? 'tokens')
    this.#audiences = options.audiences ?? []
  }

  async authenticate(credentials: Credentials): Promise<Authentication | undefined> {
    if (credentials.token === undefined) return undefined
    const found = this.#users.get(hash(credentials.token))
    if (found === undefined || credentials.audiences === undefined) return found
    const audiences = credentials.audiences.filter(a => this.#audiences.includes(a))
    return audiences.length > 0 ? { ...found, audiences } : undefined
  }
}

function parseTokens(csv: string, path: string): Map<string, Authentication> {
  const users = new Map<string, Authentication>()
  for (const fields of parseCsv(csv)) {
    const [token, name, uid, groups] = fields
    if (token === undefined || name === undefined || uid === undefined) {
      throw new Error(
        `token file '${path}' must have at least 3 columns (token, user name, user uid), found ${fields.length}`,
      )
    }
    if (token === '') continue
    const list = (groups ?? '').split(',').filter(group => group !== '')
    users.set(hash(token), { user: authenticated({ name, ...(uid && { uid }), groups: list }) })
  }
  return users
}

/** RFC 4180 records; blank lines are skipped, blanks before a field are dropped. */
function parseCsv(text: string): string[][] {
  const records: string[][] = []
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue
    const fields: string[] = []
    for (const match of line.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,]*))(,|$)/g)) {
      fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
      if (match[3] === '') break
    }
    records.push(fields)
  }
  return records
}

function hash(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}
