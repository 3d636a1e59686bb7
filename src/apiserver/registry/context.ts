/** Facts about its caller for every registry call. */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Work } from '../../program/workTurns.ts'
import type { UserInfo } from '../auth/types.ts'

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

/** A request that can do without its seat for a while. */
export interface Pausable {
  /** Gives the seat back. @throws StatusError TooManyRequests when too many of its space wait already */
  pause(): void
  /** Takes it again. Once for each `pause`. */
  resume(): void
}

export interface WriteContext {
  /** Logical-cluster id. */
  readonly space: string
  readonly user: UserInfo
  /** Everything but the write itself. */
  readonly dryRun: boolean
  /** Owner of the fields that this write sets (managedFields). */
  readonly fieldManager: string
  readonly fieldValidation: FieldValidation
  /** Findings to report about unknown fields (their paths) and repeated keys of the request. Absent: none are. */
  readonly findings?: (unknown: readonly string[]) => readonly string[]
  /** Absent where none holds a seat. */
  readonly request?: Pausable | undefined
  /** Rests between the steps of the write when others are due. Absent where what was sent is small. */
  readonly work?: Work | undefined
  /** Whether nobody waits for the answer any more. Absent: somebody always does. */
  isAbandoned?(): boolean
  /** Objects that are imagined beside this one, where a preview writes it. They are counted in where one of their kind lets this one be. */
  readonly beside?: readonly Readonly<KubeObject>[] | undefined
  /** Takes a text for a `Warning` header. */
  warn(text: string): void
  /**
   * Takes an annotation for the audit event of the request; the first value for a key counts. `Request`: only for events that
   * show what was sent. Absent where nobody audits.
   */
  annotate?(key: string, value: string, level?: 'Request'): void
}

/** The server itself, acting for no user. */
export function systemContext(space: string, component: string): WriteContext {
  return {
    space,
    user: { name: systemUser(component), groups: ['system:masters', 'system:authenticated'] },
    dryRun: false,
    fieldManager: component,
    fieldValidation: 'Ignore',
    warn: () => {},
  }
}

/** The name under which a component of the server, or a controller in its process, acts. */
export function systemUser(component: string): string {
  return `system:orrery:${component}`
}

/** Whether it is the server itself, or a controller in its process. */
export function isServer(user: UserInfo): boolean {
  return trustedName(user).startsWith(systemUser(''))
}

/**
 * The name of a user who is the server itself or one of its administrators; `''` for all others. A name alone proves nothing:
 * impersonation and certificates give anybody one. The group they cannot give.
 */
export function trustedName({ name, groups }: UserInfo): string {
  return groups.includes('system:masters') ? name : ''
}
