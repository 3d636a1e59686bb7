/** The first deletion of an object that every space shows: the space gets a copy to delete, if the store has room for it. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { deleteObject } from '../../../src/apiserver/operations/remove.ts'
import { ParsedCache } from '../../../src/apiserver/registry/codec.ts'
import { systemContext } from '../../../src/apiserver/registry/context.ts'
import { SharedObjects, sharedConstants } from '../../../src/apiserver/registry/sharedObjects.ts'
import { strategyFor } from '../../../src/kinds/strategyFor.ts'
import { openJournaledStore } from '../../../src/storage/journaledStore.ts'
import { MemoryJournal } from '../../../src/storage/memory/memoryJournal.ts'

const type = loadCatalog().types.find(({ resource }) => resource === 'priorityclasses')!
const shown: KubeObject = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'shown' },
  value: 1,
}

t.test('without room it is refused as any write', async t => {
  const message = 'there is no room: delete something'
  const store = await openJournaledStore(new MemoryJournal(), {
    budget: {
      refusal: ({ key }) => ({ reason: 'Shortage', message, key, causes: [] }),
      count: () => {},
      loaded: () => {},
    },
  })
  t.teardown(() => store.close())
  const layers = sharedConstants(type, [shown], { changeable: true })
  const shared = new SharedObjects(
    new Map([...layers].map(([resource, layer]) => [resource, { ...layer, comeBack: async () => {} }])),
  )
  const deps = {
    store,
    shared,
    parsed: new ParsedCache(),
    strategyFor,
    storageType: () => type,
    typeAt: () => type,
    admission: [],
    clock: () => new Date(0),
    uuid: randomUUID,
    random: Math.random,
    annotateSpace: false,
  }
  const deleted = deleteObject(deps, systemContext('root', 'me'), type, { namespace: '', name: 'shown' })
  await t.rejects(deleted, { reason: 'InsufficientStorage', code: 507, message })
  t.equal(store.revision, 0)
})
