/** Of many copies that are to say the same one goes ahead for each sort of what they said before; the others are written together. */
import t from 'tap'
import type { CopyWriter, SharedCopy } from '../../../src/controllers/placement-translator/copyWriter.ts'
import { SharedCopies, type SharedCopiesDeps } from '../../../src/controllers/placement-translator/sharedCopies.ts'

/** Copies in mailboxes that are called like what they say now. */
function world(mailboxes: readonly string[]) {
  const content = { generation: 1 }
  const copies = mailboxes.map(name => ({ mailbox: { name }, key: 'k', content, source: {} }) as unknown as SharedCopy)
  /** What it is known to become of. */
  const known = new Set<string>()
  const alone: string[] = []
  const together: string[][] = []
  const writeTogether: CopyWriter['writeTogether'] = async all => {
    const names = all.map(({ mailbox }) => mailbox.name)
    together.push(names.filter(name => known.has(name)))
    return names.map(name =>
      known.has(name) ? { uid: '', resourceVersion: '2', like: { metadata: {} } as never } : 'first',
    )
  }
  const deps = {
    writer: { writeTogether },
    notes: { right: () => {} },
    converge: async ({ name }: { name: string }) => {
      alone.push(name)
      if (name === 'broken') throw new Error('refused')
      if (name !== 'odd') known.add(name)
      return {}
    },
  }
  const shared = new SharedCopies(deps as unknown as SharedCopiesDeps)
  return { write: () => shared.write(copies), alone, together }
}

t.test('copies of several sorts', async t => {
  const w = world(['a', 'a', 'b', 'a', 'b', 'c', 'b'])
  t.same(await w.write(), Array(7).fill(true))
  t.same(w.alone, ['a', 'b', 'c'])
  t.same(
    w.together.map(names => names.join('')),
    ['', 'aa', 'bb', ''],
  )
})

t.test('what is never known, and what is refused', async t => {
  const odd = world(Array(6).fill('odd'))
  t.same(await odd.write(), [true, false, false, false, false, false], 'the others go by themselves, at once')
  t.equal(odd.alone.length, 1)
  const broken = world(['broken', 'a', 'a'])
  t.same(await broken.write(), [false, false, false], 'so do those behind one that is refused')
})
