/** Paths about the server as a whole. They are the root's: rights there count, whatever space a credential belongs to. */
import { StatusError } from '../../apimachinery/errors.ts'
import { ROOT } from '../spaces/tree.ts'

export const METRICS_PATH = '/metrics'
export const STATUSZ_PATH = '/statusz'
export const CONFIGZ_PATH = '/configz'

export const SERVER_WIDE_PATHS: readonly string[] = [CONFIGZ_PATH, METRICS_PATH, STATUSZ_PATH]

export function isServerWide(path: string): boolean {
  return SERVER_WIDE_PATHS.includes(path.endsWith('/') ? path.slice(0, -1) : path)
}

/** @throws StatusError NotFound in other spaces, whose administrators have no say about the server */
export function requireRoot(path: string, space: string): void {
  if (space === ROOT) return
  throw new StatusError(
    'NotFound',
    `a space has no ${path} of its own: it is about the whole server, and at ${path} for who has the right to get it in root`,
    {},
  )
}
