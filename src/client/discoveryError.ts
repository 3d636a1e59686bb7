/**
 * Discovery that did not see everything. A caller that needs all lets it pass as any other error. One that can use a part takes
 * `resources`, and finds the unknown groups in `failed`, which never means "not served".
 */
import { StatusError } from '../apimachinery/errors.ts'
import { messageOf } from '../apimachinery/messageOf.ts'
import type { DiscoveredResource } from './client.ts'

export interface DiscoveryFailure {
  group: string
  /** `''` when no version of the group could be learnt. */
  version: string
  error: unknown
}

export class DiscoveryError extends StatusError {
  /** Resources of the groups that answered. */
  readonly resources: readonly DiscoveredResource[]
  readonly failed: readonly DiscoveryFailure[]

  constructor(resources: readonly DiscoveredResource[], failed: readonly DiscoveryFailure[]) {
    const list = failed.map(f => `${f.version ? `${f.group}/${f.version}` : f.group}: ${messageOf(f.error)}`).join(', ')
    super('ServiceUnavailable', `unable to retrieve the complete list of server APIs: ${list}`, undefined, {
      cause: failed[0]?.error,
    })
    this.name = 'DiscoveryError'
    this.resources = resources
    this.failed = failed
  }
}
