import type { Soon } from '../../apimachinery/soon.ts'
import type { Answer } from './answer.ts'
import type { AuthorizedRequest } from './pipeline.ts'
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
