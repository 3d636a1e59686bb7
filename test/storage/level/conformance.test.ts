import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { storeConformance } from '../conformance.ts'

const root = await mkdtemp(join(tmpdir(), 'orrery-store-'))
t.teardown(() => rm(root, { recursive: true }))
let dirs = 0
let reopened = 0

storeConformance(t, {
  async open(options) {
    const path = join(root, String(dirs++))
    let store = await openLevelStore({ path, ...options })
    return {
      store,
      async reopen(options) {
        await store.close()
        // some in threads, as a large one is
        store = await openLevelStore({ path, ...options, ...(reopened++ % 60 === 0 && { threadsFromBytes: 0 }) })
        return store
      },
    }
  },
})
