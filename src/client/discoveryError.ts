/**
 * Discovery that did not see everything. Whoever cannot live with a part lets it pass as any other error; whoever can takes
 * `resources`, and knows from `failed` what is unknown, which is never the same as "not served".
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
  /** What the groups that answered serve. */
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
