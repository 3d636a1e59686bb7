/** Two lists of tolerations in one. A real kube-apiserver judges pairs of them in the script `runtime-classes`. */
import t from 'tap'
import { mergeTolerations } from '../../../src/apiserver/admission/mergeTolerations.ts'

const exact = { key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }
const anyValue = { key: 'k', operator: 'Exists' }
const everything = { operator: 'Exists' }
const short = { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }
const long = { ...short, tolerationSeconds: 9 }
const forEver = { key: 'k', operator: 'Exists', effect: 'NoExecute' }

t.test('what another one covers goes, on whichever side it is', async t => {
  for (const [name, first, second, merged] of [
    ['nothing', [], [], []],
    ['equal', [exact], [exact], [exact]],
    ['any value', [exact], [anyValue], [anyValue]],
    ['any value first', [anyValue], [exact], [anyValue]],
    ['any key', [exact, anyValue], [everything], [everything]],
    ['another value', [exact], [{ ...exact, value: 'w' }], [exact, { ...exact, value: 'w' }]],
    ['another effect', [exact], [forEver], [exact, forEver]],
    ['longer', [short], [long], [long]],
    ['for ever', [forEver], [long, short], [forEver]],
    [
      'no operator',
      [{ key: 'k', value: 'v', effect: 'NoSchedule' }],
      [exact],
      [{ key: 'k', value: 'v', effect: 'NoSchedule' }],
    ],
  ] as const)
    t.strictSame(mergeTolerations(first, second), merged, name)
})

t.test('as many as a request can hold are merged, each looked at a few times', async t => {
  const keys = Array.from({ length: 100_000 }, (_, i) => ({ key: `k${i}`, operator: 'Exists' }))
  t.equal(mergeTolerations(keys, keys.toReversed()).length, keys.length)
  const falling = keys.map((_, i) => ({ ...forEver, tolerationSeconds: -i }))
  t.strictSame(mergeTolerations(falling, [long]), [long])
})

t.test('among several, the one that reaches furthest is looked for', async t => {
  const values = ['v', 'w'].map(value => ({ ...forEver, operator: 'Equal', value, tolerationSeconds: 5 }))
  t.strictSame(mergeTolerations([...values, short], [long]), [long])
  t.strictSame(
    mergeTolerations(
      [short],
      values.map(each => ({ ...each, tolerationSeconds: 9 })),
    ).length,
    3,
  )
})
