/** Namespaces that came along with objects: when one that is not empty yet is looked at again. */
import t from 'tap'
import { statusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { DOWNSYNCED, IMPLIED_ANNOTATION } from '../../../src/placement/words/placement.ts'
import { EmptiedNamespaces } from '../../../src/syncer/down/emptiedNamespaces.ts'
import { ClusterAllowance } from '../../../src/syncer/mailbox/clusterAllowance.ts'
import { keyOf } from '../../../src/syncer/mailbox/mirror.ts'
import { ownMark } from '../../../src/syncer/objects/marks.ts'
import { configMap, MAPS, NAMESPACES, namespace } from '../support/kinds.ts'
import { PROJECTED } from '../support/pair.ts'
import { recordingLogger } from '../support/recordingLogger.ts'

const KEY = keyOf(NAMESPACES, namespace('app'))

/** Looks at the Namespace `app`, in which these objects are; `conflicts`: so many deletions meet another write. */
function emptied(objects: readonly KubeObject[], conflicts = 0): EmptiedNamespaces {
  const app = namespace('app', { ...PROJECTED })
  app.metadata = { ...app.metadata, uid: 'u', annotations: { [IMPLIED_ANNOTATION]: ownMark(app) } }
  let left = conflicts
  const cluster = {
    get: async () => app,
    list: async () => ({ items: objects }),
    delete: async () => {
      if (left-- > 0) throw statusError.conflict(NAMESPACES, 'app', 'it was changed')
    },
  }
  return new EmptiedNamespaces({
    cluster: cluster as never,
    served: { all: () => [{ ...MAPS, kind: 'ConfigMap', namespaced: true, verbs: ['list', 'delete'] }] } as never,
    mirror: { get: () => undefined } as never,
    mirrorComplete: () => true,
    allowance: new ClusterAllowance({}),
    logger: recordingLogger().logger,
  })
}

t.test('while objects of the center are going the waits double, up to five minutes', async t => {
  const a = configMap('a', {}, { labels: PROJECTED })
  a.metadata.annotations = { [DOWNSYNCED]: ownMark(a) }
  const spaces = emptied([a])
  const waits: (number | undefined)[] = []
  for (let look = 0; look < 12; look++) waits.push(await spaces.remove(KEY))
  const doubled = [1, 2, 4, 8, 16, 32, 64, 128, 256].map(seconds => seconds * 1000)
  t.same(waits, [...doubled, 300_000, 300_000, 300_000])
})

t.test('a write that comes between leaves the deletion for a moment later', async t => {
  const spaces = emptied([], 1)
  t.same([await spaces.remove(KEY), await spaces.remove(KEY)], [1000, undefined])
})
