/**
 * Meaning of the argument of `kubectl ws`: the words of `cd`, with `:` between names. Pure; no request to a server.
 * @see https://docs.kcp.io/kcp/main/concepts/workspaces/ for the grammar of paths
 */
import { CommandError } from '../commandError.ts'

export const ROOT_SPACE = 'root'

const SEGMENT = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

export type Target =
  /** `.` */
  | { readonly kind: 'here' }
  /** `-` */
  | { readonly kind: 'previous' }
  /** `:`: the first name of the current path. */
  | { readonly kind: 'top' }
  /** `home`: the user wants a home directory, and there is none. May still hold `.` and `..`. */
  | { readonly kind: 'absolute'; readonly path: string; readonly home: boolean }
  | { readonly kind: 'relative'; readonly path: string }

/**
 * @param homeDir the user's home directory: shells replace `~` by it before we see it
 */
export function parseTarget(argument: string | undefined, homeDir: string): Target {
  let text = argument ?? '~'
  if (homeDir !== '' && (text === homeDir || text.startsWith(`${homeDir}/`))) text = `~${text.slice(homeDir.length)}`
  text = text.replaceAll('/', ':')
  if (text === '' || text === '~') return { kind: 'absolute', path: ROOT_SPACE, home: true }
  if (text.startsWith('~:')) return { kind: 'absolute', path: ROOT_SPACE + text.slice(1), home: true }
  if (text === '.') return { kind: 'here' }
  if (text === '-') return { kind: 'previous' }
  if (text === ':') return { kind: 'top' }
  if (text.startsWith(':')) return { kind: 'absolute', path: text.slice(1), home: false }
  if (text === ROOT_SPACE || text.startsWith(`${ROOT_SPACE}:`)) return { kind: 'absolute', path: text, home: false }
  return { kind: 'relative', path: text }
}

/** The path without `.` and `..`. @throws CommandError when it leads above the top or holds something that is no name */
export function resolveDots(path: string): string {
  const names: string[] = []
  for (const part of path.split(':')) {
    if (part === '.') continue
    if (part === '..') {
      if (names.length <= 1) throw new CommandError('cannot go up from root')
      names.pop()
    } else if (SEGMENT.test(part)) names.push(part)
    else throw new CommandError(`invalid workspace path: ${path}`)
  }
  if (names.length === 0) throw new CommandError(`invalid workspace path: ${path}`)
  return names.join(':')
}

/** Parent path and own name; no parent for the first name of a path. */
export function splitPath(path: string): { parent: string | undefined; name: string } {
  const end = path.lastIndexOf(':')
  return end < 0 ? { parent: undefined, name: path } : { parent: path.slice(0, end), name: path.slice(end + 1) }
}
