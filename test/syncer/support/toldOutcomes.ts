/** A center that receives a syncer's reports about its mailbox. */
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import type { Client } from '../../../src/client/client.ts'
import { ClusterOutcomes } from '../../../src/controllers/placement/status/clusterOutcomes.ts'
import type { ClusterOutcome } from '../../../src/placement/outcome/clusterOutcome.ts'
import { OUTCOME_SUBRESOURCE, readOutcomeReport } from '../../../src/placement/outcome/outcome.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import type { Pair } from './pair.ts'

export interface ToldOutcomes {
  /** For the syncer. */
  readonly center: Client
  /** Resolves when the report satisfies it. */
  until(isSo: (outcome: ClusterOutcome) => boolean): Promise<ClusterOutcome>
}

export function toldOutcomes({ center: { client }, toCenter, mailboxId }: Pair): ToldOutcomes {
  const waiting = new Set<() => void>()
  const outcomes = new ClusterOutcomes({
    clock: new FakeClock(),
    changed: () => {
      for (const look of waiting) look()
    },
    // streams in this process tell of none
    epoch: '',
  })
  const hears = toCenter.center(client)
  const take = (space: string, { spec, ...rest }: KubeObject): KubeObject => ({
    ...rest,
    status: outcomes.take(space, readOutcomeReport(spec)),
  })
  return {
    center: {
      ...hears,
      in: space => {
        const api = hears.in(space)
        return {
          ...api,
          update: async (resource, object, options) =>
            isRecord(options) && options.subresource === OUTCOME_SUBRESOURCE
              ? take(space, object)
              : await api.update(resource, object, options),
        }
      },
    },
    until: isSo =>
      new Promise(resolve => {
        const look = (): void => {
          const outcome = outcomes.of(mailboxId)
          if (!isSo(outcome)) return
          waiting.delete(look)
          resolve(outcome)
        }
        waiting.add(look)
        look()
      }),
  }
}
