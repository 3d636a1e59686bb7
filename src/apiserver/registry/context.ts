/** What every registry call knows about its caller. */
import type { UserInfo } from '../auth/types.ts'

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

export interface WriteContext {
  /** Logical-cluster id. */
  readonly space: string
  readonly user: UserInfo
  /** Everything but the write itself. */
  readonly dryRun: boolean
  /** Who owns the fields that this write sets (managedFields). */
  readonly fieldManager: string
  readonly fieldValidation: FieldValidation
  /** Takes a text for a `Warning` header. */
  warn(text: string): void
}

/** The server itself, acting for no user. */
export function systemContext(space: string, component: string): WriteContext {
  return {
    space,
    user: { name: `system:orrery:${component}`, groups: ['system:masters', 'system:authenticated'] },
    dryRun: false,
    fieldManager: component,
    fieldValidation: 'Ignore',
    warn: () => {},
  }
}
