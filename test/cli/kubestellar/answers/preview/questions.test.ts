/** Many objects are previewed by several questions: what they share is in each, and counts once. */
import t from 'tap'
import type { KubeObject } from '../../../../../src/apimachinery/object.ts'
import { batches, oneOfMany, questionsOf } from '../../../../../src/cli/kubestellar/answers/preview/questions.ts'

const map = (name: string, bytes = 0) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { v: 'x'.repeat(bytes) },
})
const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
const names = (found: readonly (readonly KubeObject[])[]) =>
  found.map(batch => batch.map(({ metadata }) => metadata.name).join(''))
const maps = ['a', 'b', 'c', 'd', 'e'].map(name => map(name))

t.test('one PlacementPreview asks about no more than it may', async t => {
  t.same(names(batches(maps, { most: 2, bytes: 10_000 })), ['ab', 'cd', 'e'])
  t.same(names(batches([map('a', 600), map('b', 600), map('c')], { most: 9, bytes: 1000 })), ['a', 'bc'])
  t.same(batches([], { most: 2, bytes: 1 }), [])
})

t.test('Namespaces, definitions and placements are part of each question', async t => {
  const bounds = { most: 4, bytes: 10_000 }
  const asked = (all: readonly KubeObject[], bound = bounds) => {
    const { questions, shared } = questionsOf(all, bound)
    return [names(questions), shared]
  }
  t.same(asked([...maps.slice(0, 3), namespace('N')]), [['abcN'], 0])
  t.same(asked([...maps, namespace('N')]), [['Nabc', 'Nde'], 1])
  t.same(asked([...maps, namespace('N'), namespace('M')]), [['NMab', 'NMcd', 'NMe'], 2])
  t.same(asked([...maps, ...['N', 'M', 'O'].map(namespace)]), [['abcd', 'eNMO'], 0], 'too many of them')
  const large = { ...namespace('N'), data: 'x'.repeat(6000) }
  t.same(asked([...maps, large]), [['abcd', 'eN'], 0], 'too large')
})

t.test('answers about what is shared count once, and of what it moves none twice', async t => {
  const answers = ['N', 'a', 'b', 'moved'].map((name, i) => ({ name, operation: i === 1 ? 'create' : 'update' }))
  const place = { isFirst: true, requested: 3, shared: 1 }
  t.same(oneOfMany(answers, place), answers)
  t.same(oneOfMany(answers, { ...place, isFirst: false }), [
    { name: 'a', operation: 'create' },
    { name: 'b', operation: 'update', isMoved: true },
  ])
  t.same(oneOfMany(answers, { isFirst: false, requested: 3, shared: 0 }), answers)
})
