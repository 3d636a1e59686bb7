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
  /** Something beside the copy's own work has written it: that work looks at it again, so that no old content stays. */
  again: (mailbox: string, key: string) => void
  /** Whether a source may say how Pods of its Namespace are secured there; `undefined`: nobody knows. */
  maySecure: (source: Source) => boolean | undefined
  /** A write into a mailbox is over, whatever became of it. */
  written: (mailbox: Mailbox, key: string) => void
  /** What became of a write, or was found right: what follows from that beside its content. It is no news when it is told. */
  wrote: (mailbox: Mailbox, key: string, object: Readonly<KubeObject>, claims?: readonly Source[]) => void
  remarks: Remarks
  /** What those who claim an object are told may have changed: its owner, its content, whether the mailbox takes it. */
  verdictChanged: (mailbox: string, key: string) => void
  /** The state of a copy is about another generation of its owner's object than before. */
  generationsChanged: (space: string, key: string) => void
}
