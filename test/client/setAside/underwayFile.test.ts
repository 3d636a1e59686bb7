/** Running keys at the end of a process, read by the next one. A process that ends is a file that nobody closes. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { shortId } from '../../../src/client/setAside/shortId.ts'
import { UnderwayFile } from '../../../src/client/setAside/underwayFile.ts'

const none = (error: unknown): void => {
  throw error
}
/** A new process, which accuses nobody any more. */
function life(path: string): UnderwayFile {
  const file = new UnderwayFile(path, none)
  file.forget()
  return file
}
const entry = (id: string, tried = false) => ({ queue: 'q', id, tried })

t.test('what runs is found, and what has ended is not once all has', async t => {
  const path = join(t.testdir(), 'underway')
  const first = life(path)
  t.strictSame(first.found, [])
  const long = first.begin(entry('a'))
  first.end(first.begin(entry('gone')))
  first.begin(entry('b', true))
  const second = new UnderwayFile(path, none)
  t.strictSame(second.found, [entry('a'), entry('b', true)], 'the slot of what has ended was used again')
  second.forget()
  t.strictSame(new UnderwayFile(path, none).found, [])

  first.end(long)
  const third = life(path)
  third.end(third.begin(entry('c')))
  t.strictSame(new UnderwayFile(path, none).found, [], 'nothing ran any more')
  third.begin(entry('d'))
  third.close()
  t.strictSame(new UnderwayFile(path, none).found, [], 'an orderly end')
  third.begin(entry('e'))
})

t.test('whatever the file holds, it is read', async t => {
  const path = join(t.testdir(), 'underway')
  for (const text of [
    '',
    'garbage',
    '-1\n',
    '\n'.repeat(5000),
    `7\n${' '.repeat(1022)}[7,"q",5,true]\n`,
    `7\n${'{'.repeat(9000)}`,
  ]) {
    writeFileSync(path, text)
    t.strictSame(new UnderwayFile(path, none).found, [])
  }
  writeFileSync(path, `7\n${' '.repeat(1022)}[7,"q","a",true]\n${' '.repeat(900)}`)
  t.strictSame(new UnderwayFile(path, none).found, [entry('a', true)])
})

t.test('the longest of keys has a slot', async t => {
  const path = join(t.testdir(), 'underway')
  const first = life(path)
  const ids = ['x'.repeat(5000), `${'x'.repeat(5000)}y`, '\u0001'.repeat(500), 'ü'.repeat(600)].map(shortId)
  for (const id of ids) first.begin({ queue: 'certificatesigningrequest-signing-controller', id, tried: true })
  t.strictSame(
    new UnderwayFile(path, none).found.map(({ id }) => id),
    ids,
  )
  t.equal(new Set(ids).size, 4)
  t.equal(shortId('x'.repeat(700)), 'x'.repeat(700))
})

t.test('a file that cannot be written is told of once, and stops nothing', async t => {
  const told: unknown[] = []
  const file = new UnderwayFile('/dev/full', error => told.push(error))
  for (let i = 0; i < 3; i++) file.end(file.begin(entry('a')))
  file.close()
  t.match(told, [{ code: 'ENOSPC' }])
  t.equal(told.length, 1)
})

t.test(
  'many that begin at once are found like each that begins alone, in few slots, wherever there is room',
  async t => {
    const path = join(t.testdir(), 'underway')
    const file = life(path)
    const names = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => `${from + i} ${'ü'.repeat(i)}`)
    const running = new Map<string, number>()
    const begun = new Set<string>(['first'])
    const begin = (ids: readonly string[]) => {
      const slots = file.beginMany('q', ids)
      t.ok(new Set(slots).size < ids.length / 4, 'several in a slot')
      for (const [i, id] of ids.entries()) {
        t.not(slots[i], running.get('first'))
        running.set(id, slots[i]!)
        begun.add(id)
      }
    }
    running.set('first', file.begin(entry('first')))
    begin(names(0, 70))
    // holes, and slots that are used again in another order
    for (const id of [...running.keys()].filter((_, i) => i % 3 === 1 || (i > 20 && i < 60))) {
      file.end(running.get(id)!)
      running.delete(id)
    }
    begin(names(100, 40))
    const found = new UnderwayFile(path, none).found.map(({ id }) => id)
    t.strictSame(
      [...running.keys()].filter(id => !found.includes(id)),
      [],
      'whatever runs is found',
    )
    t.strictSame(
      found.filter(id => !begun.has(id)),
      [],
    )
    t.equal(new Set(found).size, found.length)
    for (const slot of running.values()) file.end(slot)
    t.strictSame(new UnderwayFile(path, none).found, [], 'and nothing when nothing runs')
    t.strictSame(file.beginMany('q', []), [])
  },
)
