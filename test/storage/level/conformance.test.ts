import { join } from 'node:path'
import t from 'tap'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { temporaryDir } from '../../support/temporaryDir.ts'
import { storeConformance } from '../conformance.ts'

const root = temporaryDir(t)
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
