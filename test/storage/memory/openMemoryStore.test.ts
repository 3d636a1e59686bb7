import t from 'tap'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import { storeConformance } from '../conformance.ts'

storeConformance(t, { open: async options => ({ store: await openMemoryStore(options) }) })
