/** Objects of the mailbox beside what the cluster holds of them: judged, and nothing written. */

import { apiVersionOf, type KubeObject } from '../../apimachinery/object.ts'
import { refOf } from '../../client/refOf.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import { leftFieldsOf, withoutFields } from '../../placement/content/leftFields.ts'
import { endOf } from '../../placement/outcome/finished.ts'
import type { HealthVerdict } from '../../placement/outcome/health.ts'
import { keyText, type Mirrored, type SyncKey } from '../mailbox/mirror.ts'
import { alteredFields } from '../objects/alteredFields.ts'
import { downsyncCopy } from '../objects/copies.ts'
import { isCreateOnly, isImplied, isMade, isStrangers, mayOverwrite, ownerOf } from '../objects/marks.ts'
import type { Compared } from '../tells/liveAnswers.ts'
import type { ClusterOwners } from './clusterOwners.ts'
import type { DownsyncContext } from './context.ts'
import { keepsClusters } from './definitions.ts'

interface ComparisonDeps extends DownsyncContext {
  owners: Pick<ClusterOwners, 'complete'>
}

export class Comparison {
  readonly #deps: ComparisonDeps

  constructor(deps: ComparisonDeps) {
    this.#deps = deps
  }

  /** The object in the cluster, read anew, beside the copy that would be written. */
  async compare(key: SyncKey, mirrored: Mirrored): Promise<Compared> {
    const {
      resource: { version },
      object,
    } = mirrored
    const { served, cluster, as, owners, echoes } = this.#deps
    const resource = served.at(key, version)
    if (resource === undefined || isImplied(object)) return { state: 'notCarried' }
    const live = await unlessGone(cluster.get(resource, refOf(key)))
    if (live === undefined) return { state: this.endOf(key, mirrored) ? 'finished' : 'missing' }
    const seen = echoes.recognized(keyText(key), live)
    if (!mayOverwrite(object) || isCreateOnly(object) || keepsClusters(object, seen) || isStrangers(seen))
      return { state: 'notOurs' }
    const owner = as && ownerOf(object)
    const alone = sentCopy(object, { apiVersion: apiVersionOf(resource), mark: isMade(object, seen), owner })
    const wanted = await owners.complete(key, object, alone, { fresh: false })
    const isAsWritten = echoes.compare(keyText(key), wanted, live) === 'same'
    const isSame = isAsWritten && alteredFields(key, wanted, live) === undefined
    return { state: isSame ? 'same' : 'differs', wanted, live }
  }

  /** Whether the cluster has it, with exactly this content; objects of an unknown run count as they are. */
  isThere(key: SyncKey, mirrored: Mirrored): boolean {
    const {
      resource: { version },
      object,
    } = mirrored
    const { watches, served, echoes, as } = this.#deps
    const live = watches.get(key, key)
    const resource = served.at(key, version)
    if (live === undefined && this.endOf(key, mirrored)) return true
    if (live === undefined || resource === undefined) return false
    if (echoes.get(keyText(key)) === undefined) return true
    const owner = as && ownerOf(object)
    const mark = isMade(object, echoes.recognized(keyText(key), live))
    return echoes.wasSent(keyText(key), sentCopy(object, { apiVersion: apiVersionOf(resource), mark, owner }))
  }

  /** How it ended, where it has run to its end and is not to run again. A syncer without its state goes by what was reported of this spec. */
  endOf(key: SyncKey, { object, isStatusOld }: Mirrored): HealthVerdict | undefined {
    const text = keyText(key)
    if (this.#deps.echoes.get(text)) return this.#deps.echoes.endOf(text, object)
    return isStatusOld ? undefined : endOf(key, object)
  }
}

/** The copy as an apply sends it: without the fields that are left to the cluster. */
export function sentCopy(object: Readonly<KubeObject>, options: Parameters<typeof downsyncCopy>[1]): KubeObject {
  return withoutFields(downsyncCopy(object, options), leftFieldsOf(object))
}
