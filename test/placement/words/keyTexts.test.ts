// Each label, annotation and finalizer of placement has its meaning in the reference.
import t from 'tap'
import { ANNOTATIONS, FINALIZERS, LABELS } from '../../../src/placement/words/keyTexts.ts'
import { MARKS } from '../../../src/placement/words/marks.ts'
import * as words from '../../../src/placement/words/placement.ts'

t.test('keys of placement and the reference are the same', async t => {
  const explained = new Set([...ANNOTATIONS, ...LABELS, ...FINALIZERS].map(([key]) => key.replace('<location>', '')))
  const ofKubectl = 'kubectl.kubernetes.io/last-applied-configuration'
  const keys = Object.values(words).filter(value => typeof value === 'string')
  const isKey = (word: string): boolean => /^[\w.]*kubestellar\.io\/[\w-]*$/.test(word) && !/\/v\d/.test(word)
  for (const key of [...keys.filter(isKey), ...Object.keys(MARKS)]) if (key !== ofKubectl) t.ok(explained.has(key), key)
})
