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

  authenticate(credentials: Credentials): Authentication | undefined {
    if (credentials.token === undefined) return undefined
    const found = this.#users.get(hash(credentials.token))
    if (found === undefined || credentials.audiences === undefined) return found
    const audiences = credentials.audiences.filter(a => this.#audiences.includes(a))
    return audiences.length > 0 ? { ...found, audiences } : undefined
  }
}

function parseTokens(csv: string, path: string): Map<string, Authentication> {
  const users = new Map<string, Authentication>()
  for (const [index, line] of csv.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const fields = fieldsOf(line)
    if (typeof fields === 'number') {
      const where = `line ${index + 1}, column ${fields}`
      throw new Error(`token file '${path}', ${where}: a quote that is not closed, or in the middle of a field`)
    }
    const [token, name, uid, groups] = fields
    if (token === undefined || name === undefined || uid === undefined) {
      throw new Error(
        `token file '${path}', line ${index + 1} must have at least 3 columns (token, user name, user uid), found ${fields.length}`,
      )
    }
    if (token === '') continue
    const list = (groups ?? '').split(',').filter(group => group !== '')
    users.set(hash(token), { user: authenticated({ name, ...(uid && { uid }), groups: list }) })
  }
  return users
}

const FIELD = /\s*(?:"((?:[^"]|"")*)"|([^,"]*))(,|$)/y

/** Fields of an RFC 4180 record of one line, without the blanks before each; or the column, from 1, of the error. */
function fieldsOf(line: string): string[] | number {
  const fields: string[] = []
  for (let at = 0; ; ) {
    FIELD.lastIndex = at
    const match = FIELD.exec(line)
    if (match === null) return at + 1
    fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] === '') return fields
    at = FIELD.lastIndex
  }
}

function hash(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}
