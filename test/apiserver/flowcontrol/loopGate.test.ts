/** Work that begins in a turn of the loop, its order, and its completeness. */
import t from 'tap'
import { type Entry, LoopGate } from '../../../src/apiserver/flowcontrol/loopGate.ts'
import { WaitingLine } from '../../../src/apiserver/flowcontrol/waitingLine.ts'

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

t.test('so many in a turn; whoever is alone does not wait', async t => {
  const gate = new LoopGate({ most: 2, clock: () => 0 })
  const begun: string[] = []
  gate.enter(['a'], () => begun.push('alone'))
  t.strictSame(begun, ['alone'])
  await turn()
  for (let n = 0; n < 7; n++) gate.enter(['a'], () => begun.push(`${n}`))
  const counts: number[] = []
  for (let n = 0; n < 4; n++) {
    counts.push(begun.length - 1)
    await turn()
  }
  t.strictSame(counts, [2, 4, 6, 7])
  t.strictSame(begun.slice(1), ['0', '1', '2', '3', '4', '5', '6'])
  t.equal(gate.waiting, 0)
})

t.test('a turn that has taken long enough begins one thing more at most', async t => {
  let now = 0
  const gate = new LoopGate({ limitMs: 4, clock: () => now })
  const begun: number[] = []
  for (let n = 0; n < 6; n++) {
    gate.enter(['a'], () => {
      begun.push(n)
      now += 3
    })
  }
  t.strictSame(begun, [0, 1])
  await turn()
  t.strictSame(begun, [0, 1, 2, 3])
  await turn()
  t.equal(begun.length, 6)
})

t.test('what follows at once from what was begun counts in its turn', async t => {
  let now = 0
  const gate = new LoopGate({ limitMs: 4, clock: () => now })
  const begun: number[] = []
  for (let n = 0; n < 4; n++) {
    gate.enter(['a'], () => {
      begun.push(n)
      const takes = (): void => {
        now += 5
      }
      if (n > 0) queueMicrotask(takes)
      else takes()
    })
  }
  await turn()
  t.strictSame(begun, [0, 1])
})

t.test('a crowd has its turns, and whoever comes beside it has every other', async t => {
  const gate = new LoopGate({ most: 1, clock: () => 0 })
  const begun: string[] = []
  for (let n = 0; n < 100; n++) gate.enter(['crowd', `${n % 3}`], () => begun.push('crowd'))
  gate.enter(['other', '0'], () => begun.push('other'))
  await turn()
  await turn()
  t.strictSame(begun, ['crowd', 'crowd', 'other'])
})

t.test('the latest first, address by address', async t => {
  const gate = new LoopGate({ clock: () => 0, most: 1, line: new WaitingLine<Entry>(() => true) })
  const begun: string[] = []
  for (const who of ['a1', 'a2', 'b1', 'a3', 'b2']) gate.enter([who[0]!], () => begun.push(who))
  while (gate.waiting > 0) await turn()
  t.strictSame(begun, ['a1', 'a3', 'b2', 'a2', 'b1'])
})

t.test('what fails does not keep the others from their turns', async t => {
  const gate = new LoopGate({ most: 1, clock: () => 0 })
  const failed: unknown[] = []
  const listener = (error: unknown): void => void failed.push(error)
  const others = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.once('uncaughtException', listener)
  t.teardown(() => {
    for (const other of others) process.on('uncaughtException', other)
  })
  const begun: number[] = []
  gate.enter(['a'], () => begun.push(0))
  gate.enter(['a'], () => {
    throw new Error('of the test')
  })
  gate.enter(['a'], () => begun.push(2))
  while (gate.waiting > 0) await turn()
  t.strictSame(begun, [0, 2])
  t.equal(failed.length, 1)
})
