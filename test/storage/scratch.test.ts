/** Texts that are joined into one memory read as those that have memory of their own. */
import t from 'tap'
import { Body, declaredOf } from '../../src/storage/body.ts'
import { JoinedTexts } from '../../src/storage/joinedTexts.ts'
import { Scratch } from '../../src/storage/scratch.ts'
import { SharedStored } from '../../src/storage/sharedStored.ts'
import { versionOf } from '../../src/storage/texts.ts'

const KEY = { space: 's', group: '', resource: 'configmaps', namespace: 'n', name: 'x' }
const uidOf = (i: number): string => `11111111-2222-4333-8444-${String(i).padStart(12, '0')}`

function shared(i: number, data: string): SharedStored {
  const head = `{"uid":"${uidOf(i)}","resourceVersion":"`
  const { own, ...parts } = declaredOf(KEY, {
    head,
    tail: `","data":"${data}"}`,
    gaps: [{ at: 8, length: 36, kind: 'uid' }],
  })!
  const body = new Body({ ...parts, note: undefined, name: KEY.name })
  return new SharedStored({ key: KEY, revision: 40 + i }, body, own, new JoinedTexts())
}

t.test('one after the other, of any length', async t => {
  const scratch = new Scratch()
  const texts = ['a', 'longer', 'ö', '', 'x'.repeat(100_000)].map((data, i) => shared(i, data))
  for (const stored of texts) t.equal(scratch.textOf(stored).toString(), stored.join().toString())
  const plain = versionOf(KEY, 7, { head: '{"resourceVersion":"', tail: '"}' })
  t.equal(scratch.textOf(plain), plain.bytes, 'a text that is there is read where it is')
})
