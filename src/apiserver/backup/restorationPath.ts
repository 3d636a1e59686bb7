/**
 * `GET /restoration`: the restore that the server's store began with, until `DELETE /restoration` settles it. Until then each syncer keeps in its
 * cluster what the store does not know. About the server as a whole: a right in root.
 */
import { CACHE_CONTROL } from '../http/answer.ts'
import type { PathEntry } from '../http/paths.ts'
import type { StoreEpochs } from '../registry/storeEpochs.ts'

export const RESTORATION_PATH = '/restoration'

export function restorationPath(epochs: Pick<StoreEpochs, 'restored' | 'settle'>): PathEntry {
  return {
    path: RESTORATION_PATH,
    methods: ['GET', 'DELETE'],
    isServerWide: true,
    isUnlisted: true,
    async handle({ method }, answer) {
      const { takenAt, restoredAt } = epochs.restored ?? {}
      if (method === 'DELETE') await epochs.settle()
      const restored = takenAt === undefined ? null : { takenAt, restoredAt, settled: method === 'DELETE' }
      answer.header('cache-control', CACHE_CONTROL).type('application/json').send(JSON.stringify({ restored }))
    },
  }
}
