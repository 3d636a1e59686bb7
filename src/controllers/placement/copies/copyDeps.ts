/** Dependencies shared by the classes that keep copies correct. Each picks the ones that it needs. */
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { Client } from '../../../client/client.ts'
import type { ObjectCache } from '../join/objectCache.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Source } from '../join/placementProduct.ts'
import type { OwnershipRules } from '../mailboxes/copyOwnership.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import type { Remarks } from '../mailboxes/remarks.ts'
import type { Brake } from '../retention/brake.ts'
import type { Signals } from '../signals/signals.ts'
import type { DecisionFacts } from './decide.ts'
import type { SourceReader } from './sourceReader.ts'

export interface CopyDeps {
  client: Client
  join: PlacementJoin
  cache: ObjectCache
  sources: SourceReader
  facts: DecisionFacts
  /** The mailbox, when it is ready and all that it should hold is known. */
  mailbox: (name: string) => Mailbox | undefined
  rules: OwnershipRules
  /** Judges the copies that may go. */
  brake: Pick<Brake, 'submit' | 'isPreserved' | 'paused' | 'settled'>
  /** Queues the copy: other work has written it, or wants it reconciled, and no old content may stay. */
  again: (mailbox: string, key: string) => void
  /** Whether a source may say how Pods of its Namespace are secured there; `undefined`: nobody knows. */
  maySecure: (source: Source) => boolean | undefined
  /** A write into a mailbox is over, whatever became of it. */
  written: (mailbox: Mailbox, key: string) => void
  /** An object was written, or found right. The stream's event of it is no news any more. */
  wrote: (mailbox: Mailbox, key: string, object: Readonly<KubeObject>, claims?: readonly Source[]) => void
  /** Reasons of the center why an object is not in a mailbox as it should be. */
  remarks: Remarks
  copyChanged: Signals['copyChanged']
}
