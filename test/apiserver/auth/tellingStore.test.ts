/** A store that tells of writes keeps all promises of a store. */

import t from 'tap'
import { tellingStore } from '../../../src/apiserver/auth/acknowledgedWrites.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import { storeConformance } from '../../storage/conformance.ts'

const listener = { concerns: () => true, written: () => {} }
storeConformance(t, { open: async options => ({ store: tellingStore(await openMemoryStore(options), listener) }) })
