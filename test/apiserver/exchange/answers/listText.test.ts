/** A list that is written entry by entry is, to the byte, what writing its whole value makes. */
import t from 'tap'
import { yamlText } from '../../../../src/apimachinery/yamlWriter.ts'
import { listText, type TextForm, yamlValuePieces } from '../../../../src/apiserver/exchange/answers/listText.ts'
import * as fc from '../../../support/fastCheck.ts'

const WHOLE: Record<TextForm, (value: unknown) => string> = {
  json: value => `${JSON.stringify(value)}\n`,
  pretty: value => `${JSON.stringify(value, undefined, 2)}\n`,
  yaml: yamlText,
}
const HEADS = [
  {
    member: 'items',
    head: { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '5', continue: 'x' } },
  },
  { member: 'rows', head: { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: {}, columnDefinitions: null } },
]
const entry = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })

for (const form of ['json', 'pretty', 'yaml'] as const) {
  t.test(form, async t => {
    for (const { member, head } of HEADS) {
      fc.assert(
        fc.property(fc.array(entry, { maxLength: 4 }), entries => {
          const pieces = [...listText({ head, member, entries }, form)]
          return pieces.join('') === WHOLE[form]({ ...head, [member]: entries })
        }),
        { numRuns: 200 },
      )
      t.equal([...listText({ head, member, entries: [] }, form)].join(''), WHOLE[form]({ ...head, [member]: [] }))
    }
  })
}

t.test('no entry is made before it is asked for, and a large one comes in parts', async t => {
  let made = 0
  const entries = function* () {
    for (;;) {
      made++
      yield { text: Array.from({ length: 10_000 }, (_, i) => `line ${i}`) }
    }
  }
  for (const form of ['json', 'pretty', 'yaml'] as const) {
    made = 0
    const pieces = listText({ ...HEADS[0]!, entries: entries() }, form)[Symbol.iterator]()
    pieces.next()
    t.equal(made, 1, form)
    if (form !== 'yaml') continue
    for (let i = 0; i < 8; i++) pieces.next()
    t.equal(made, 1, 'nine pieces, one entry')
  }
  const value = { a: 'b'.repeat(100_000), c: [1, 2] }
  t.equal([...yamlValuePieces(value)].join(''), yamlText(value))
})
