/** Paths that name no resource, as features contribute them: one list says who answers, to which methods, and what `/` lists. */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import type { AuthorizedRequest } from '../access/accessControl.ts'
import { FORMS } from '../registry/forms.ts'
import { ROOT } from '../spaces/tree.ts'
import type { Answer } from './answer.ts'
import type { Request } from './request.ts'

/** A path that names no resource, as a feature contributes it. */
export interface PathEntry {
  /** Without a slash at its end. */
  readonly path: string
  /** Default: GET and HEAD. */
  readonly methods?: readonly string[]
  /** About the server as a whole: served in root, where rights to it count, whatever space a credential belongs to. */
  readonly isServerWide?: true
  /** `/` does not list it. */
  readonly isUnlisted?: true
  /** Paths below it are its own, too: those of a space, as `/` lists them, or unlisted ones. */
  readonly below?: 'unlisted' | ((space: string) => readonly string[])
  /** `path` has no slash at its end. A promise of `false`: there is no such path. @throws StatusError */
  handle(request: Request, answer: Answer, authorized: AuthorizedRequest, path: string): Soon<unknown>
}

const READS: readonly string[] = ['GET', 'HEAD']

export class Paths {
  readonly #entries: readonly PathEntry[]
  readonly #byPath: ReadonlyMap<string, PathEntry>
  /** Entries with paths below them. */
  readonly #above: readonly PathEntry[]
  readonly #serverWide: ReadonlySet<string>

  constructor(entries: readonly PathEntry[]) {
    this.#entries = entries
    this.#byPath = new Map(entries.map(entry => [entry.path, entry]))
    this.#above = entries.filter(({ below }) => below !== undefined)
    this.#serverWide = new Set(entries.filter(entry => entry.isServerWide).map(({ path }) => path))
  }

  isServerWide(path: string): boolean {
    return this.#serverWide.has(withoutSlash(path))
  }

  /** The paths of a space, sorted. */
  listed(space: string): string[] {
    const listed: string[] = []
    for (const { path, isUnlisted, isServerWide, below } of this.#entries) {
      if (isUnlisted || (isServerWide && space !== ROOT)) continue
      listed.push(path)
      if (typeof below === 'function') listed.push(...below(space))
    }
    return listed.sort()
  }

  /** @throws StatusError NotFound, MethodNotAllowed, and as the entry */
  async serve(request: Request, answer: Answer, authorized: AuthorizedRequest): Promise<void> {
    const { info, space } = authorized
    const path = withoutSlash(info.path)
    const entry = this.#byPath.get(path) ?? this.#above.find(above => path.startsWith(`${above.path}/`))
    if (entry === undefined) throw pageNotFound()
    if (entry.isServerWide && space !== ROOT) throw notInSpaces(path)
    const { methods = READS, below } = entry
    if (!methods.includes(request.method)) {
      if (path !== entry.path && typeof below === 'function' && !below(space).includes(path)) throw pageNotFound()
      answer.header('allow', methods.join(', '))
      throw methodNotAllowed()
    }
    if ((await entry.handle(request, answer, authorized, path)) === false) throw pageNotFound()
  }
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** Administrators of other spaces have no say about the server. */
function notInSpaces(path: string): StatusError {
  return new StatusError(
    'NotFound',
    `a space has no ${path} of its own: the server has one, at ${path}, for users with the right to get it in root`,
    {},
  )
}

export function pageNotFound(): StatusError {
  return new StatusError('NotFound', 'the server could not find the requested resource', {})
}

/** In upstream's words, which differ between built-in and custom resources. */
export function methodNotAllowed(type?: ResourceType, verb = ''): StatusError {
  if (type !== undefined && FORMS[type.form].unstructured) return statusError.methodNotAllowed(type, verb)
  return new StatusError('MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
}
