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
