/** Differences as people know them from `diff -u`. */
import t from 'tap'
import { unifiedDiff } from '../../../src/apimachinery/go/unifiedDiff.ts'
import * as fc from '../../support/fastCheck.ts'

const lines = (...all: string[]): string => all.join('\n')

t.test('a change is shown with three lines around it', async t => {
  const before = lines('1', '2', '3', '4', '5', '6', '7', '8', '9')
  t.equal(
    unifiedDiff(before, lines('1', '2', '3', '4', 'five', '6', '7', '8', '9')),
    '@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n',
  )
  t.equal(unifiedDiff(before, before), '')
})

t.test('changes far apart have hunks of their own, near ones share one', async t => {
  const before = Array.from({ length: 20 }, (_, i) => `${i}`)
  const far = before.map((line, i) => (i === 1 || i === 18 ? 'x' : line))
  t.same(
    unifiedDiff(before.join('\n'), far.join('\n'))
      .split('\n')
      .filter(line => line.startsWith('@@')),
    ['@@ -1,5 +1,5 @@', '@@ -16,5 +16,5 @@'],
  )
  const near = before.map((line, i) => (i === 5 || i === 9 ? 'x' : line))
  t.equal(unifiedDiff(before.join('\n'), near.join('\n')).match(/@@ -/g)?.length, 1)
})

t.test('one line is told without a count, none by the line before it', async t => {
  t.equal(unifiedDiff('a', 'b'), '@@ -1 +1 @@\n-a\n+b\n')
  t.equal(unifiedDiff(lines('a', 'b'), lines('a', 'x', 'b'), 0), '@@ -1,0 +2 @@\n+x\n')
})

t.test('what is removed from one text and added makes the other', async () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(text, text, (before, after) => {
      const steps = unifiedDiff(before.join('\n'), after.join('\n'), 100).split('\n').slice(1, -1)
      const side = (other: string) => steps.filter(step => !step.startsWith(other)).map(step => step.slice(1))
      if (before.join() === after.join()) return steps.length === 0
      return side('+').join() === before.join() && side('-').join() === after.join()
    }),
  )
})

t.test('texts that have little in common are shown as replaced', async t => {
  const many = (word: string): string[] => Array.from({ length: 3000 }, (_, i) => `${word}${i}`)
  const [head, ...steps] = unifiedDiff(lines('same', ...many('a')), lines('same', ...many('b'))).split('\n')
  t.equal(head, '@@ -1,3001 +1,3001 @@')
  t.same(steps, ['-same', ...many('-a'), '+same', ...many('+b'), ''])
})
