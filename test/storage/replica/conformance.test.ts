/** A replica keeps every promise of a store, over a writer in the same thread. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { openReplica } from '../../../src/storage/replica/replicaStore.ts'
import { SharedLog } from '../../../src/storage/replica/sharedLog.ts'
import type { Store } from '../../../src/storage/store.ts'
import { storeConformance } from '../conformance.ts'
import type { OpenOptions } from '../support.ts'

const root = await mkdtemp(join(tmpdir(), 'orrery-replica-'))
let dirs = 0
const writers = new Set<Store>()
t.teardown(async () => {
  for (const writer of writers) await writer.close()
  await rm(root, { recursive: true })
})
const logger = { error: (_: object, message: string) => process.emitWarning(message) }

async function open(path: string, options: OpenOptions = {}): Promise<{ writer: Store; replica: Store }> {
  // so small that each test meets ends of segments, and long texts more than one
  const log = new SharedLog({ segmentBytes: 4096, maxSegments: 4096 })
  const writer = await openLevelStore({ path, ...options, log })
  writers.add(writer)
  const replica = await openReplica(log.follow().link, { ...options, logger })
  return { writer, replica }
}

storeConformance(t, {
  async open(options) {
    const path = join(root, String(dirs++))
    let { writer, replica } = await open(path, options)
    return {
      store: replica,
      async reopen(options) {
        await replica.close()
        await writer.close()
        ;({ writer, replica } = await open(path, options))
        return replica
      },
    }
  },
})
